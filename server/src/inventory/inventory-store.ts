import { discoveredAccounts, lockDiscovery } from '../cloud/discovered-account-store.ts'
import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { InventoryPart } from '../provisioners/target-inventory.ts'
import { listedBy } from './inventory-part.ts'
import { held } from './inventory-part-store.ts'
import type { SeenRows } from './seen-rows.ts'

/** Saves what a page says. Returns whether the lease is still ours; otherwise nothing was written. */
export async function saveSeen(tx: Tx, item: WorkItem, rows: SeenRows): Promise<boolean> {
  const [[one]] = await tx.write([
    sql<{ held: boolean }>`with ${held(tx, item)} select exists (select from held) as held`,
    ...(rows.resources.length > 0 ? [resourcesWrite(tx, item, rows)] : []),
    ...(rows.people.length > 0 ? [peopleWrite(tx, item, rows)] : []),
    ...(rows.groups.length > 0 ? [groupsWrite(tx, item, rows)] : []),
    ...(rows.members.length > 0 ? membersWrites(tx, item, rows) : []),
    ...(rows.assignments.length > 0 ? assignmentsWrites(tx, item, rows) : []),
  ])
  return one?.held ?? false
}

function resourcesWrite(tx: Tx, item: WorkItem, { resources }: SeenRows): Statement {
  return sql`with ${held(tx, item)}
    insert into inventory_resource
      (tenant_id, provisioner_id, resource_type, id, name, description, account_id, tags, facts, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, seen.*, held.run
    from held cross join jsonb_to_recordset(${JSON.stringify(resources)}::jsonb) as seen
      (resource_type text, id text, name text, description text, account_id text, tags jsonb, facts jsonb)
    on conflict (tenant_id, provisioner_id, resource_type, id) do update set name = excluded.name,
      description = excluded.description, account_id = excluded.account_id, tags = excluded.tags,
      facts = excluded.facts, run = excluded.run`
}

function peopleWrite(tx: Tx, item: WorkItem, { people }: SeenRows): Statement {
  return sql`with ${held(tx, item)}
    insert into inventory_person (tenant_id, provisioner_id, id, name, login, login_key, external_id, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, seen.*, held.run
    from held cross join jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as seen
      (id text, name text, login text, login_key text, external_id text)
    on conflict (tenant_id, provisioner_id, id) do update set name = excluded.name, login = excluded.login,
      login_key = excluded.login_key, external_id = excluded.external_id, run = excluded.run`
}

function groupsWrite(tx: Tx, item: WorkItem, { groups }: SeenRows): Statement {
  return sql`with ${held(tx, item)}
    insert into inventory_group (tenant_id, provisioner_id, id, name, known, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, seen.id, seen.name, true, held.run
    from held cross join jsonb_to_recordset(${JSON.stringify(groups)}::jsonb) as seen (id text, name text)
    on conflict (tenant_id, provisioner_id, id) do update set name = excluded.name, known = true, run = excluded.run`
}

/** Whom a group or an assignment names is in the list of people, so that every list of access has a place for them. */
function namedPeople(tx: Tx, item: WorkItem, ids: readonly string[]): Statement {
  return sql`with ${held(tx, item)}
    insert into inventory_person (tenant_id, provisioner_id, id, name, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, id, left(id, 200), 0
    from held cross join unnest(${[...new Set(ids)]}::text[]) id
    on conflict (tenant_id, provisioner_id, id) do nothing`
}

function membersWrites(tx: Tx, item: WorkItem, { members }: SeenRows): Statement[] {
  const write = sql`with ${held(tx, item)}
    insert into inventory_group_member (tenant_id, provisioner_id, group_id, person_id, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, seen.group_id, seen.person_id, held.run
    from held cross join jsonb_to_recordset(${JSON.stringify(members)}::jsonb) as seen (group_id text, person_id text)
    -- The limit of groups may have left one out.
    where exists (select from inventory_group g where g.tenant_id = ${tx.tenant_id}::uuid
      and g.provisioner_id = held.provisioner_id and g.id = seen.group_id)
    on conflict (tenant_id, provisioner_id, group_id, person_id) do update set run = excluded.run`
  return [
    write,
    namedPeople(
      tx,
      item,
      members.map(({ person_id }) => person_id),
    ),
  ]
}

function assignmentsWrites(tx: Tx, item: WorkItem, { assignments }: SeenRows): Statement[] {
  const idsOf = (type: string) =>
    assignments.filter((one) => one.principal_type === type).map(({ principal_id }) => principal_id)
  const write = sql`with ${held(tx, item)}
    insert into standing_access
      (tenant_id, provisioner_id, account_id, permission_set_id, principal_type, principal_id, entitlement_key, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, seen.*, held.run
    from held cross join jsonb_to_recordset(${JSON.stringify(assignments)}::jsonb) as seen
      (account_id text, permission_set_id text, principal_type text, principal_id text, entitlement_key text)
    on conflict (tenant_id, provisioner_id, account_id, permission_set_id, principal_type, principal_id)
      do update set entitlement_key = excluded.entitlement_key, run = excluded.run`
  const groups = sql`with ${held(tx, item)}
    insert into inventory_group (tenant_id, provisioner_id, id, name, known, run)
    select ${tx.tenant_id}::uuid, held.provisioner_id, id, left(id, 200), false, 0
    from held cross join unnest(${[...new Set(idsOf('group'))]}::text[]) id
    on conflict (tenant_id, provisioner_id, id) do nothing`
  return [write, namedPeople(tx, item, idsOf('person')), groups]
}

/** Rows that one statement removes, at most. */
const batchSize = 5_000

/**
 * Removes what the run did not see, after it came to its end. Of people and groups that the target no longer has, those stay that still
 * have access, or a group, but the directory no longer knows them. Returns whether the lease is still ours.
 */
export async function removeUnseen(tx: Tx, item: WorkItem, part: InventoryPart): Promise<boolean> {
  for (const { rows, condition } of removedBy(part)) {
    for (;;) {
      const [[done]] = await tx.write([
        sql<{ held: boolean; removed: number }>`with ${held(tx, item)},
          removed as (delete from ${rows} where ctid = any(array(
              select t.ctid from ${rows} t join held on t.provisioner_id = held.provisioner_id and t.run <> held.run
              where t.tenant_id = ${tx.tenant_id}::uuid and ${condition} limit ${batchSize}))
            and tenant_id = ${tx.tenant_id}::uuid returning 1)
          select exists (select from held) as held, (select count(*)::integer from removed) as removed`,
      ])
      if (done?.held !== true) return false
      if (done.removed < batchSize) break
    }
  }
  if (part === 'people') await tx.write(forgetUnseen(tx, item))
  return true
}

/**
 * A walk through the organization can miss an account that is moved meanwhile, and rules may forbid by its tags: it is gone when two runs
 * have not seen it.
 */
const isGone = sql`(t.resource_type <> 'cloud_account' or t.run < coalesce(held.finished_run, 0))`

function removedBy(part: InventoryPart): { rows: Statement; condition: Statement }[] {
  const all = sql`true`
  if (part === 'assignments') return [{ rows: sql`standing_access`, condition: all }]
  if (part !== 'people') {
    const types = sql`t.resource_type = any(${[...listedBy[part]]}::text[])`
    return [{ rows: sql`inventory_resource`, condition: sql`${types} and ${isGone}` }]
  }
  return [
    { rows: sql`inventory_group_member`, condition: all },
    { rows: sql`inventory_person`, condition: sql`not ${isNamed('person')}` },
    { rows: sql`inventory_group`, condition: sql`not ${isNamed('group')}` },
  ]
}

/** Whether an assignment names the principal `t`, or a group has that member. */
function isNamed(type: 'person' | 'group'): Statement {
  const assigned = sql`exists (select from standing_access s where s.tenant_id = t.tenant_id
    and s.provisioner_id = t.provisioner_id and s.principal_type = ${type} and s.principal_id = t.id)`
  if (type === 'group') return assigned
  return sql`(${assigned} or exists (select from inventory_group_member m where m.tenant_id = t.tenant_id
    and m.provisioner_id = t.provisioner_id and m.person_id = t.id))`
}

function forgetUnseen(tx: Tx, item: WorkItem): Statement[] {
  const ofRun = sql`t.tenant_id = ${tx.tenant_id}::uuid and t.provisioner_id = held.provisioner_id
    and t.run <> held.run`
  return [
    sql`with ${held(tx, item)} update inventory_person t set login = null, login_key = null, external_id = null
      from held where ${ofRun} and t.login is not null`,
    sql`with ${held(tx, item)} update inventory_group t set known = false from held where ${ofRun} and t.known`,
  ]
}

/** Writes the accounts that a run found into the account cache. */
export async function saveAccounts(ctx: WorkCtx, item: WorkItem, provisioner_id: string): Promise<void> {
  const { tx } = ctx
  const found = sql`select a.id, a.name, a.tags || a.facts as metadata from inventory_resource a
    where a.tenant_id = ${tx.tenant_id}::uuid and a.provisioner_id = ${provisioner_id}::uuid
      and a.resource_type = 'cloud_account'`
  await tx.write([
    lockDiscovery(tx, 'discovery'),
    discoveredAccounts(ctx, sql`${provisioner_id}::uuid`, found, {
      held: held(tx, item),
      isHeld: sql`exists (select from held)`,
    }),
  ])
}
