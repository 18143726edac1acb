import { newId } from '../../src/kernel/id.ts'
import type { ResourceSeen } from '../../src/provisioners/target-inventory.ts'
import type { TestDatabase } from './database.ts'

export type Found = Pick<ResourceSeen, 'resource_type' | 'id' | 'name'> & { description?: string }

/** Writes what the inventory of one more provisioner of the tenant found, as if it had been read. It gives no access. */
export async function findResources(
  { asSuperuser }: Pick<TestDatabase, 'asSuperuser'>,
  tenant_id: string,
  found: readonly Found[],
): Promise<void> {
  const provisioner_id = newId()
  await asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type, enabled)
      values ($1, $2, $3, 'aws-identity-center', false)`,
    [tenant_id, provisioner_id, `AWS ${provisioner_id}`],
  )
  await asSuperuser(
    `insert into inventory_resource
        (tenant_id, provisioner_id, resource_type, id, name, description, tags, facts, run)
      select $1, $2, found.*, '{}', '{}', 1
      from jsonb_to_recordset($3) as found (resource_type text, id text, name text, description text)`,
    [tenant_id, provisioner_id, JSON.stringify(found)],
  )
}
