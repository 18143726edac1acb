import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { findDecidersOf } from './possible-approvers.flow.ts'
import { Deciders, maySee } from './request.ts'
import { findRequest } from './request-store.ts'

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
    const request = await findRequest(ctx.tx, params.id)
    if (request === undefined || !maySee(ctx.actor, request)) throw notFound('request')
    if (request.status !== 'pending') return { names: [], count: 0, is_complete: true }
    const deciders = await findDecidersOf(ctx.tx, request.id, ctx.now)
    if (deciders === undefined) throw notFound('request')
    return deciders
  },
})
