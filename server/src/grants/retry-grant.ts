import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { Grant, requireMayChange } from './grant.ts'
import { findGrant, retryFailedGrant } from './grant-store.ts'

export const retryGrant = operation({
  method: 'POST',
  path: '/v1/grants/{id}/retry',
  summary: 'Try again to give what failed, within an hour of its approval: your own, or anybody’s with grants:revoke',
  credential: 'any',
  scope: null,
  params: IdParams,
  body: Body({}),
  replies: { 200: Grant },
  errors: ['forbidden', 'not_found', 'grant_not_retryable'],
  async run(ctx, { params }) {
    const grant = await findGrant(ctx.tx, params.id)
    if (grant === undefined) throw notFound('grant')
    requireMayChange(ctx.actor, grant, 'retrying')
    const retried = await retryFailedGrant(ctx, grant.id)
    if (retried !== undefined) return retried
    const { status } = (await findGrant(ctx.tx, grant.id)) ?? grant
    const why =
      status === 'failed'
        ? 'its hour to begin is over, or its holder is shut out; make a new request'
        : `it has not failed, it is ${status}`
    throw new Problem('grant_not_retryable', `the grant cannot be tried again: ${why}`, { details: { status } })
  },
})
