import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, IdParams, Nullable } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { type EndAccess, EndedAccess, requireMayEndAccess } from './lifecycle.ts'
import { lockUserAlone, saveAccessEnd } from './lifecycle-store.ts'

/**
 * Ends everything that a user waits for and holds, in one transaction. The user stays active, keeps their sessions and may request
 * again. Where nothing is left to end, it changes nothing and emits no event.
 */
export const endUserAccess = (endAccess: EndAccess) =>
  operation({
    method: 'POST',
    path: '/v1/users/{id}/end-access',
    summary: 'End all access of a user: your own, or any user’s with grants:revoke and requests:cancel',
    credential: 'any',
    scope: null,
    params: IdParams,
    body: Body({ reason: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))) }),
    replies: { 200: EndedAccess },
    errors: ['forbidden', 'not_found'],
    async run(ctx, { params, body }) {
      const { id } = params
      requireMayEndAccess(ctx.actor, id)
      return ctx.tx.interactive(async (tx) => {
        // INVARIANT: the user is locked before their requests, and those before their grants, as everywhere.
        if (!(await lockUserAlone(tx, id))) throw notFound('user')
        const inside = { ...ctx, tx }
        const reasons = { cancelled: 'all access of its requester was ended', revoked: body.reason ?? null }
        const ended = await endAccess(inside, id, reasons)
        await saveAccessEnd(inside, id, ended)
        return ended
      })
    },
  })
