import { newId } from '../../src/kernel/id.ts'
import type { TestDatabase } from './database.ts'

export const orphanPaths = ['/v1/provisioners/{id}/orphans', '/v1/provisioners/{id}/orphans/{orphan_id}']

/** A provisioner whose target holds access that an earlier epoch gave, and what others gave there. */
export async function makeOrphans(db: Pick<TestDatabase, 'asSuperuser'>, tenant_id: string) {
  const [id, orphan_id] = [newId(), newId()]
  const key = `lost ${orphan_id}`
  const insert = (table: string, columns: string, rows: string, ...values: unknown[]) =>
    db.asSuperuser(`insert into ${table} (tenant_id, ${columns}) select $1, ${rows}`, [tenant_id, ...values])
  const provisioner = `$2, 'a server', 'postgresql', false`
  await insert('provisioner', 'id, name, provisioner_type, enabled', provisioner, id)
  await insert(
    'entitlement',
    'id, provisioner, provisioner_id, target_key, target, held_before, observed, drift, drifted_at',
    `$2, 'postgresql', $3, $4, '{}', true, 'present', 'added', clock_timestamp()`,
    orphan_id,
    id,
    key,
  )
  const columns = 'id, provisioner_id, target_key, target, origin, epoch, grant_id, exclusive, first_seen_at, listed_at'
  const seen = 'clock_timestamp(), clock_timestamp()'
  const ours = `$2, $3, $4, '{}', 'ours', 1, $5, false, ${seen}`
  await insert('orphan', columns, ours, orphan_id, id, key, newId())
  for (const exclusive of [false, true]) {
    const foreign = `$2, $3, $4, '{}', 'foreign_set', null, null, $5, ${seen}`
    await insert('orphan', columns, foreign, newId(), id, `of others ${exclusive}`, exclusive)
  }
  return [{ id }, { id, orphan_id }]
}
