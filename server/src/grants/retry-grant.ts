import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { Grant, requireMayChange } from './grant.ts'
import { findGrant, retryFailedGrant } from './grant-store.ts'

export const retryGrant = operation({
  method: 'POST',
  path: '/v1/grants/{id}/retry',
  summary: 'Retry a failed grant within an hour of its approval: your own, or any grant with grants:revoke',
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
    const outcome = await retryFailedGrant(ctx, grant.id)
    if ('retried' in outcome) return outcome.retried
    const { status } = outcome
    const why = {
      not_failed: `it has not failed, it is ${status}`,
      was_active: 'it was active before, so it cannot begin again; make a new request',
      not_extended: 'the access that it extends has ended, or another request extends it',
      deadline_over: 'its deadline to begin has passed; make a new request',
      holder_inactive: 'its holder is deactivated or suspended',
      rehearsed: 'it was approved in the rehearsal, which is over; make a new request',
    }[outcome.refused]
    throw new Problem('grant_not_retryable', `the grant cannot be retried: ${why}`, { details: { status } })
  },
})
