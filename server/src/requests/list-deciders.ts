import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { findWait } from './inbox-store.ts'
import { findDecidersOf } from './possible-approvers.flow.ts'
import { Deciders, maySee } from './request.ts'

/** A requester waits for people, and may ask them. */
export const listDeciders = operation({
  method: 'GET',
  path: '/v1/requests/{id}/deciders',
  summary: 'List who may decide a pending request, by name: of your own, or of any request with requests:read',
  credential: 'any',
  scope: null,
  params: IdParams,
  replies: { 200: Deciders },
  errors: ['not_found'],
  async run(ctx, { params }): Promise<Deciders> {
    const request = await findWait(ctx.tx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    if (!request.waits) return { names: [], count: 0, is_complete: true }
    const deciders = await findDecidersOf(ctx.tx, params.id, { at: ctx.now, caller: ctx.actor.user_id ?? '' })
    if (deciders === undefined) throw notFound('request')
    return deciders
  },
})
