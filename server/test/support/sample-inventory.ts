import { newId } from '../../src/kernel/id.ts'
import type { TestDatabase } from './database.ts'

/** A provisioner of the tenant whose inventory was read; it is not read again. Its directory has none of the tenant's users. */
export async function makeInventory(db: Pick<TestDatabase, 'asSuperuser'>, tenant_id: string): Promise<string> {
  const id = newId()
  const insert = (table: string, columns: string, rows: string, ...more: string[]) =>
    db.asSuperuser(`insert into ${table} (tenant_id, ${columns}) select $1, ${rows}`, [tenant_id, id, ...more])
  const provisioner = `$2, 'an organization', 'aws-identity-center', false`
  await insert('provisioner', 'id, name, provisioner_type, enabled', provisioner)
  const part = `$3, $2, 'people', clock_timestamp(), '2100-01-01Z'`
  await insert('inventory_part', 'id, provisioner_id, part, finished_at, next_look_at', part, newId())
  await insert('inventory_person', 'provisioner_id, id, name, run', `$2, p, p, 1 from unnest(array['a', 'b', 'c']) p`)
  await insert(
    'standing_access',
    'provisioner_id, account_id, permission_set_id, principal_type, principal_id, run',
    `$2, '123456789012', 'Admin', 'person', p, 1 from unnest(array['a', 'b', 'c']) p`,
  )
  return id
}
