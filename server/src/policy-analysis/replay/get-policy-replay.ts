import { recordTag } from '../../http/if-match.ts'
import { operation } from '../../http/operation.ts'
import { IdParams } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { Replay, requireAuditReader } from './replay.ts'
import { findReplay } from './replay-store.ts'

export const getPolicyReplay = operation({
  method: 'GET',
  path: '/v1/policies/replay/{id}',
  summary: 'Get a replay: its progress and its result',
  credential: 'any',
  scope: 'policies:read',
  params: IdParams,
  replies: { 200: Replay },
  errors: ['not_found'],
  etag: recordTag,
  async run(ctx, { params }) {
    requireAuditReader(ctx.actor)
    const replay = await findReplay(ctx.tx, params.id)
    if (replay === undefined) throw notFound('replay')
    return replay
  },
})
