import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { OneOf, PageOf, pageQuery } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { personChanges, SyncChange, SyncRunParams } from './sync-run.ts'
import { findRun, listChangesPage } from './sync-run-store.ts'

/** Lists what a run did with people, or would do: of the latest ten runs. Those who stay as they are, are left out. */
export const listSyncChanges = operation({
  method: 'GET',
  path: '/v1/identity-providers/{id}/sync-runs/{run_id}/changes',
  summary: 'List what a reading of a directory did, or would do, with people',
  credential: 'any',
  scope: 'users:read',
  params: SyncRunParams,
  query: Type.Object({ ...pageQuery, change: Type.Optional(OneOf(personChanges)) }, { additionalProperties: false }),
  replies: { 200: PageOf(SyncChange) },
  errors: ['not_found'],
  async run({ tx }, { params, query, page }) {
    const rows = await listChangesPage(tx, { ...params, ...query }, page)
    if (rows.length === 0 && (await findRun(tx, params.id, params.run_id)) === undefined) throw notFound('run')
    return page.of(rows, ({ source_id }) => [source_id])
  },
})
