import { recordTag } from '../../http/if-match.ts'
import { operation } from '../../http/operation.ts'
import { notFound } from '../../kernel/errors.ts'
import { SyncRunDetail, SyncRunParams } from './sync-run.ts'
import { findRun } from './sync-run-store.ts'

/** A sync run: its progress while it is under way, then what it came to, and how fast access ended. */
export const getSyncRun = operation({
  method: 'GET',
  path: '/v1/identity-providers/{id}/sync-runs/{run_id}',
  summary: 'Get a sync run and its progress',
  credential: 'any',
  scope: 'identity_providers:read',
  params: SyncRunParams,
  replies: { 200: SyncRunDetail },
  errors: ['not_found'],
  etag: recordTag,
  async run({ tx }, { params }) {
    const run = await findRun(tx, params.id, params.run_id)
    if (run === undefined) throw notFound('sync run')
    return run
  },
})
