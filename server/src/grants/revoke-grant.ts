import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, IdParams, Nullable } from '../http/schema.ts'
import type { Statement, WorkCtx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { Grant, requireMayChange } from './grant.ts'
import { findGrant, revokeLiveGrant } from './grant-store.ts'

/** The statement that cancels a pending request to extend the grant, in the transaction that ends the grant. */
export type CancelExtension = (ctx: WorkCtx, grant_id: string) => Statement

export const revokeGrant = (cancelExtension: CancelExtension) =>
  operation({
    method: 'POST',
    path: '/v1/grants/{id}/revoke',
    summary: 'End access early, with its extension: your own, or any user’s with grants:revoke',
    credential: 'any',
    scope: null,
    params: IdParams,
    body: Body({ reason: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))) }),
    replies: { 200: Grant },
    errors: ['forbidden', 'not_found', 'grant_not_live'],
    async run(ctx, { params, body }) {
      const grant = await findGrant(ctx.tx, params.id)
      if (grant === undefined) throw notFound('grant')
      requireMayChange(ctx.actor, grant, 'ending')
      const outcome = await revokeLiveGrant(ctx, grant.id, body.reason ?? null, cancelExtension(ctx, grant.id))
      if ('revoked' in outcome) return outcome.revoked
      const { not_live: status } = outcome
      throw new Problem('grant_not_live', `the grant has already ended: it is ${status}`, { details: { status } })
    },
  })
