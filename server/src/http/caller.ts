import type { FastifyRequest } from 'fastify'
import type { Ctx, WorkCtx } from '../kernel/context.ts'

const admitted = new WeakMap<FastifyRequest, Ctx>()
const known = new WeakMap<FastifyRequest, Pick<WorkCtx, 'tx' | 'actor'>>()

/** Keeps who the caller of a request proved to be, once that is known. */
export function keepCaller(request: FastifyRequest, ctx: Ctx): void {
  admitted.set(request, ctx)
  logCaller(request, ctx)
}

/** Keeps who called, for the log. */
export function logCaller(request: FastifyRequest, who: Pick<WorkCtx, 'tx' | 'actor'>): void {
  known.set(request, who)
}

/** @throws Error if no caller was admitted */
export function callerOf(request: FastifyRequest): Ctx {
  const ctx = admitted.get(request)
  if (ctx === undefined) throw new Error('an operation ran without admission')
  return ctx
}

/** What an entry of the log says about the caller: the tenant and the actor, with the names of the audit log. Empty before the admission. */
export function callerFields(request: FastifyRequest): object {
  const ctx = known.get(request)
  if (ctx === undefined) return {}
  const { kind, user_id, api_key_id } = ctx.actor
  // A sign-in has no actor yet.
  const actor = user_id === null ? {} : { actor: { kind, user_id, ...(api_key_id !== null && { api_key_id }) } }
  return { tenant_id: ctx.tx.tenant_id, ...actor }
}
