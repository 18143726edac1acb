import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { findProvider } from '../identity-provider-store.ts'
import { SyncRun } from './sync-run.ts'
import { listRunsPage } from './sync-run-store.ts'

/** Lists the sync runs of a provider: the latest hundred, and the next one by the schedule. */
export const listSyncRuns = operation({
  method: 'GET',
  path: '/v1/identity-providers/{id}/sync-runs',
  summary: 'List the sync runs of an identity provider, newest first',
  credential: 'any',
  scope: 'identity_providers:read',
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(SyncRun) },
  errors: ['not_found'],
  async run({ tx }, { params, page }) {
    const rows = await listRunsPage(tx, params.id, page)
    if (rows.length === 0 && (await findProvider(tx, params.id)) === undefined) throw notFound('identity provider')
    return page.of(rows, ({ id }) => [id])
  },
})
