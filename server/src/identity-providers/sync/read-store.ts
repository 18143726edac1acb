import { sql } from '../../db/sql.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import type { ReadRows } from './read-rows.ts'
import { held } from './run-lease-store.ts'

/** Keeps what a page said. Returns whether the run is still ours; otherwise nothing was written. */
export async function saveRead(tx: Tx, item: WorkItem, rows: ReadRows): Promise<boolean> {
  const { people, groups, members } = rows
  const [[one]] = await tx.write([
    sql<{ held: boolean }>`with ${held(tx, item)} select exists (select from held) as held`,
    ...(people.length > 0 ? [peopleInsert(tx, item, rows)] : []),
    ...(groups.length > 0 ? [groupsInsert(tx, item, rows)] : []),
    ...(members.length > 0 ? [membersInsert(tx, item, rows)] : []),
  ])
  return one?.held ?? false
}

/** A list that changes while it is read may have a person twice: they count once. */
function peopleInsert(tx: Tx, item: WorkItem, { people }: ReadRows): Statement {
  return sql`with ${held(tx, item)},
    made as (
      insert into sync_person (tenant_id, run_id, source_id, user_name, user_name_key, name, email, email_keys,
        mail_domain, active, resource, message)
      select ${tx.tenant_id}::uuid, held.id, p.source_id, p.user_name, p.user_name_key, p.name, p.email, p.email_keys,
        p.mail_domain, p.active, p.resource, p.message
      from held cross join jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as p
        (source_id text, user_name text, user_name_key text, name text, email text, email_keys text[],
          mail_domain text, active boolean, resource jsonb, message text)
      on conflict (tenant_id, run_id, source_id) do nothing returning 1)
    update sync_run r set people_read = r.people_read + (select count(*) from made)
    from held where r.tenant_id = ${tx.tenant_id}::uuid and r.id = held.id`
}

function groupsInsert(tx: Tx, item: WorkItem, { groups }: ReadRows): Statement {
  return sql`with ${held(tx, item)},
    made as (
      insert into sync_group (tenant_id, run_id, source_id, name, message)
      select ${tx.tenant_id}::uuid, held.id, g.source_id, g.name, g.message
      from held cross join jsonb_to_recordset(${JSON.stringify(groups)}::jsonb) as g
        (source_id text, name text, message text)
      on conflict (tenant_id, run_id, source_id) do nothing returning 1)
    update sync_run r set groups_read = r.groups_read + (select count(*) from made)
    from held where r.tenant_id = ${tx.tenant_id}::uuid and r.id = held.id`
}

function membersInsert(tx: Tx, item: WorkItem, { members }: ReadRows): Statement {
  return sql`with ${held(tx, item)}
    insert into sync_member (tenant_id, run_id, group_source_id, person_source_id)
    select ${tx.tenant_id}::uuid, held.id, m.group_source_id, m.person_source_id
    from held cross join unnest(${members.map(({ group_source_id }) => group_source_id)}::text[],
      ${members.map(({ person_source_id }) => person_source_id)}::text[]) as m (group_source_id, person_source_id)
    on conflict (tenant_id, run_id, group_source_id, person_source_id) do nothing`
}
