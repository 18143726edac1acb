import { inIndexOrder, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { ResourceSeen } from '../provisioners/target-inventory.ts'

type FoundType = ResourceSeen['resource_type']
export type FoundPlace = { id: string; isIncluded: boolean }

/**
 * The ids of resources of the type that an inventory found, in order, behind `id` or from it on (`isIncluded`). An id that several
 * inventories found comes as often.
 */
export async function listFoundIds(
  tx: Tx,
  resource_type: FoundType,
  { id, isIncluded }: FoundPlace,
  limit: number,
): Promise<string[]> {
  const behind = isIncluded ? sql`r.id >= ${id}` : sql`r.id > ${id}`
  const rows = await tx.read(
    inIndexOrder(sql<{ id: string }>`select r.id from inventory_resource r
      where r.tenant_id = ${tx.tenant_id} and r.resource_type = ${resource_type} and ${behind}
      order by r.id limit ${limit}`),
  )
  return rows.map((row) => row.id)
}

/** The names of those of these resources that an inventory found, by type and id, as one value to embed in another statement. */
export function foundNamesAsJson(tx: Tx, resources: readonly { type: string; id: string }[]): Statement {
  if (resources.length === 0) return sql`'{}'::jsonb`
  return sql`(select coalesce(jsonb_object_agg(asked.type || ' ' || asked.id, found.name), '{}')
    from jsonb_to_recordset(${JSON.stringify(resources)}::jsonb) as asked (type text, id text)
    cross join lateral (select s.name from inventory_resource s where s.tenant_id = ${tx.tenant_id}::uuid
      and s.resource_type = asked.type and s.id = asked.id order by s.provisioner_id limit 1) found)`
}

/** Names of permission sets that `listSetNames` returns, at most, and rows that it reads: several instances may have one name. */
const [maxSetNames, maxSetRows] = [100, 300]

/** The names of permission sets that an inventory found, the first ones by name, each once. */
export async function listSetNames(tx: Tx): Promise<string[]> {
  const rows = await tx.read(
    inIndexOrder(sql<{ name: string }>`select r.name from inventory_resource r
      where r.tenant_id = ${tx.tenant_id} and r.resource_type = 'cloud_permission_set'
      order by r.name limit ${maxSetRows}`),
  )
  return [...new Set(rows.map(({ name }) => name))].slice(0, maxSetNames)
}
