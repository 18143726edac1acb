import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { deleteFactor, listFactors } from './second-factor-store.ts'
import { isMultiFactor, requireStrongSignIn } from './strong-sign-in.ts'

/** Removes one of the caller's own second factors, confirmed or not. The recovery codes go with the last one. */
export const deleteSecondFactor = operation({
  method: 'DELETE',
  path: '/v1/users/me/second-factors/{id}',
  summary: 'Remove one of your second factors',
  credential: 'user',
  scope: null,
  params: IdParams,
  replies: { 204: null },
  errors: ['sign_in_again'],
  changes: 'authority',
  async run(ctx, { params }) {
    const factors = await listFactors(ctx.tx, ctx.actor.user_id)
    requireStrongSignIn(ctx, { hasFactor: factors.length > 0 })
    // Checked again behind the lock: the factor may have been confirmed meanwhile.
    if (!(await deleteFactor(ctx, params.id, { onlyPending: !isMultiFactor(ctx) }))) throw notFound('second factor')
    return undefined
  },
})
