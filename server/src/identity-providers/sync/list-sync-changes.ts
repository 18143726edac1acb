import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { OneOf, PageOf, pageQuery } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { allChanges, changeKinds, outcomes, SyncChange, SyncRunParams } from './sync-run.ts'
import { hasRun, listChangesPage } from './sync-run-store.ts'

/** Lists what a sync run did with people and groups, or would do: of the latest ten runs. Those who stay as they are, are left out. */
export const listSyncChanges = operation({
  method: 'GET',
  path: '/v1/identity-providers/{id}/sync-runs/{run_id}/changes',
  summary: 'List the changes of a sync run',
  credential: 'any',
  scope: 'users:read',
  params: SyncRunParams,
  query: Type.Object(
    {
      ...pageQuery,
      kind: Type.Optional(OneOf(changeKinds)),
      change: Type.Optional(OneOf(allChanges)),
      outcome: Type.Optional(OneOf(outcomes)),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(SyncChange) },
  errors: ['not_found'],
  async run({ tx }, { params, query, page }) {
    const { kind, change, outcome } = query
    const filters = { ...(kind && { kind }), ...(change && { change }), ...(outcome && { outcome }) }
    const rows = await listChangesPage(tx, params, filters, page)
    if (rows.length === 0 && !(await hasRun(tx, params.id, params.run_id))) throw notFound('sync run')
    return page.of(rows, (row) => [row.kind, row.source_id])
  },
})
