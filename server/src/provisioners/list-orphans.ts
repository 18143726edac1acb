import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { Orphan } from './orphan.ts'
import { listOrphansPage } from './orphan-list-store.ts'
import { findProvisioner } from './provisioner-store.ts'

/** Access at the target that the ledger does not know: after a restore or a failover, or by other hands. */
export const listOrphans = operation({
  method: 'GET',
  path: '/v1/provisioners/{id}/orphans',
  summary: 'List access at the target of a provisioner that no grant gave, as the last sweep found it',
  credential: 'any',
  scope: 'provisioners:read',
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Orphan) },
  errors: ['not_found'],
  async run({ tx }, { params: { id }, page }) {
    const rows = await listOrphansPage(tx, id, page)
    if (rows.rows.length === 0 && (await findProvisioner(tx, id)) === undefined) throw notFound('provisioner')
    return page.reply(rows)
  },
})
