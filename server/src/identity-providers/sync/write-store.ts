import { sql } from '../../db/sql.ts'
import type { WorkItem } from '../../jobs/claim.ts'
import type { Tx } from '../../kernel/context.ts'
import type { Resource } from '../../scim/read-resource.ts'
import { held } from './run-lease-store.ts'
import type { PersonChange } from './sync-run.ts'

/** A change of a person that is still to be written. `user_id`: null for who is no user of the directory yet. */
export type DuePerson = { source_id: string; change: PersonChange; user_id: string | null; resource: Resource | null }

/** The next changes of one kind that are to be written, in the order of their ids. */
export function listDuePeople(tx: Tx, item: WorkItem, change: PersonChange, limit: number): Promise<DuePerson[]> {
  return tx.read(sql<DuePerson>`select s.source_id, s.change, s.user_id, s.resource from sync_person s
    where s.tenant_id = ${tx.tenant_id} and s.run_id = ${item.id} and s.change = ${change} and not s.done
      and s.message is null
    order by s.source_id limit ${limit}`)
}

/** What became of a change. `message`: why it could not be done. */
export type Outcome = { source_id: string; change: string; message: string | null }

/** Notes what became of changes of people. Returns whether the run is still ours; otherwise nothing was written. */
export function savePeopleOutcomes(tx: Tx, item: WorkItem, outcomes: readonly Outcome[]): Promise<boolean> {
  return saveOutcomes(tx, item, outcomes, 'people')
}

/** The same, of groups. */
export function saveGroupOutcomes(tx: Tx, item: WorkItem, outcomes: readonly Outcome[]): Promise<boolean> {
  return saveOutcomes(tx, item, outcomes, 'groups')
}

async function saveOutcomes(
  tx: Tx,
  item: WorkItem,
  outcomes: readonly Outcome[],
  of: 'people' | 'groups',
): Promise<boolean> {
  const rows = of === 'people' ? sql`sync_person` : sql`sync_group`
  const [[one]] = await tx.write([
    sql<{ held: boolean }>`with ${held(tx, item)},
      noted as (
        update ${rows} s set done = true, change = o.change, message = o.message
        from held, unnest(${outcomes.map(({ source_id }) => source_id)}::text[],
          ${outcomes.map(({ change }) => change)}::text[],
          ${outcomes.map(({ message }) => message)}::text[]) as o (source_id, change, message)
        where s.tenant_id = ${tx.tenant_id}::uuid and s.run_id = held.id and s.source_id = o.source_id),
      counted as (
        update sync_run r set done = r.done + ${outcomes.length} from held
        where r.tenant_id = ${tx.tenant_id}::uuid and r.id = held.id)
      select exists (select from held) as held`,
  ])
  return one?.held ?? false
}

/** A change of a group that is still to be written. */
export type DueGroup = { source_id: string; name: string; change: 'add' | 'change' | 'empty'; group_id: string | null }

export function listDueGroups(tx: Tx, item: WorkItem, limit: number): Promise<DueGroup[]> {
  return tx.read(sql<DueGroup>`select s.source_id, s.name, s.change, s.group_id from sync_group s
    where s.tenant_id = ${tx.tenant_id} and s.run_id = ${item.id} and s.change <> 'unchanged'
      and not s.done and s.message is null
    order by s.source_id limit ${limit}`)
}

/** The users here who are members of the group with this id in the directory. */
export async function listMembers(tx: Tx, item: WorkItem, source_id: string): Promise<string[]> {
  const rows = await tx.read(sql<{ user_id: string }>`select m.user_id from sync_member m
    where m.tenant_id = ${tx.tenant_id} and m.run_id = ${item.id} and m.group_source_id = ${source_id}
      and m.user_id is not null`)
  return rows.map(({ user_id }) => user_id)
}
