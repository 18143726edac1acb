import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { InventoryPart } from '../provisioners/target-inventory.ts'

/**
 * What a part found, counted when a run comes to its end, as one JSON object: counting a large inventory at each look would take long.
 * How many people are administrators depends on three parts, and each of them counts it.
 */
export function countsOf(tx: Tx, provisioner_id: string, part: InventoryPart): Statement {
  const of = sql`t.tenant_id = ${tx.tenant_id}::uuid and t.provisioner_id = ${provisioner_id}::uuid`
  const resources = (type: string) =>
    sql`(select count(*) from inventory_resource t where ${of} and t.resource_type = ${type}::text)`
  const administrators = countAdministrators(tx, provisioner_id)
  switch (part) {
    case 'accounts':
      return sql`jsonb_build_object('accounts', ${resources('cloud_account')},
        'organizational_units', ${resources('cloud_organizational_unit')})`
    case 'databases':
      return sql`jsonb_build_object('databases', ${resources('cloud_db_instance')})`
    case 'permission_sets':
      return sql`jsonb_build_object('permission_sets', ${resources('cloud_permission_set')},
        'administrators', ${administrators})`
    case 'people':
      return sql`jsonb_build_object('administrators', ${administrators},
        'people', (select count(*) from inventory_person t where ${of} and t.login is not null),
        'groups', (select count(*) from inventory_group t where ${of} and t.known))`
    case 'assignments':
      return sql`jsonb_build_object('assignments', (select count(*) from standing_access t where ${of}),
        'administrators', ${administrators})`
  }
}

/** The people who hold, themselves or by a group, a set that makes an administrator, on any account. */
function countAdministrators(tx: Tx, provisioner_id: string): Statement {
  const holders = sql`select distinct a.principal_type, a.principal_id from standing_access a
    join inventory_resource s on s.tenant_id = a.tenant_id and s.provisioner_id = a.provisioner_id
      and s.resource_type = 'cloud_permission_set' and s.id = a.permission_set_id
      and s.facts @> '{"is_administrator": true}'
    where a.tenant_id = ${tx.tenant_id}::uuid and a.provisioner_id = ${provisioner_id}::uuid`
  return sql`(with holder as materialized (${holders})
    select count(*) from (
      select principal_id from holder where principal_type = 'person'
      union
      select m.person_id from holder join inventory_group_member m on m.tenant_id = ${tx.tenant_id}::uuid
        and m.provisioner_id = ${provisioner_id}::uuid and m.group_id = holder.principal_id
        where holder.principal_type = 'group') person)`
}
