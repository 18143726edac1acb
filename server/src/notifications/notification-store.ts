import { allOf, sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { PageAsk } from '../kernel/page.ts'
import { scopesHeld } from '../roles/holding-store.ts'
import type { GrantFacts, RequestFacts } from './notice.ts'
import type { NotificationRow } from './notification.ts'

const columns = sql`id, event_type, title, body, resource_type, resource_id, read_at, created_at`

/** One page of what the person was told, newest first; `unread` keeps those that were not read (true) or were (false). */
export function listNotificationsPage(
  tx: Tx,
  user_id: string | null,
  unread: boolean | undefined,
  page: PageAsk,
): Promise<NotificationRow[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id} and user_id = ${user_id}`]
  if (unread !== undefined) conditions.push(unread ? sql`read_at is null` : sql`read_at is not null`)
  if (page.after !== undefined) conditions.push(sql`id < ${page.after[0]}`)
  return tx.read(sql<NotificationRow>`select ${columns} from notification
    where ${allOf(conditions)} order by id desc limit ${page.limit + 1}`)
}

/** Marks one of the person's own as read; the first reading counts. Undefined when they have none of that id. */
export async function readNotification(
  tx: Tx,
  user_id: string | null,
  id: string,
): Promise<NotificationRow | undefined> {
  const [[read]] = await tx.write([
    sql<NotificationRow>`update notification set read_at = coalesce(read_at, clock_timestamp())
      where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and id = ${id} returning ${columns}`,
  ])
  return read
}

/** Marks all of the person's own as read. Answers how many were not. */
export async function readAllNotifications(tx: Tx, user_id: string | null): Promise<number> {
  const [[row]] = await tx.write([
    sql<{ updated: number }>`with changed as (
        update notification set read_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and read_at is null returning id)
      select count(*)::integer as updated from changed`,
  ])
  return row?.updated ?? 0
}

/** What is said to one person of one event. */
export type NewNotification = {
  user_id: string
  event_id: string
  event_type: string
  title: string
  body: string
  resource_type: 'access_request' | 'access_grant'
  resource_id: string
}

/** Tells each person, unless they were told of this event before. */
export async function insertNotifications(tx: Tx, notifications: readonly NewNotification[]): Promise<void> {
  if (notifications.length === 0) return
  const rows = notifications.map((notification) => ({ ...notification, id: newId() }))
  await tx.write([
    sql`insert into notification (tenant_id, id, user_id, event_id, event_type, title, body, resource_type, resource_id)
      select ${tx.tenant_id}::uuid, told.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as told (id uuid, user_id uuid, event_id uuid, event_type text, title text, body text, resource_type text,
          resource_id uuid)
      on conflict (tenant_id, event_id, user_id) do nothing`,
  ])
}

/** A request's facts, and the approvers who may have to look at it. */
export type RequestToTell = RequestFacts & { approver_ids: string[] }

/**
 * The request that an event is about. Its approvers are the active people other than the requester who hold
 * requests:approve, own or by a group, save by what the requester gave them after asking: that does not count.
 */
export async function findRequestToTell(
  tx: Tx,
  id: string,
  actor_id: string | null,
): Promise<RequestToTell | undefined> {
  const requesters = { granted_by: sql`request.requester_id`, after: sql`request.created_at` }
  const [found] = await tx.read(
    sql<RequestToTell>`select request.requester_id, requester.name as requester_name, request.resource_type,
      request.resource_id, request.action, request.reason, request.approval_mode, request.duration_seconds,
      request.decision_reasoning, decider.name as decided_by_name, ${actor_id}::uuid as actor_id,
      (select name from tenant_user where tenant_id = ${tx.tenant_id}::uuid and id = ${actor_id}::uuid) as actor_name,
      array(select person.id from tenant_user person
        where person.tenant_id = ${tx.tenant_id}::uuid and person.active and person.id <> request.requester_id
          and 'requests:approve' in (${scopesHeld(tx, sql`person.id`, requesters)})
        order by person.id) as approver_ids
    from access_request request
    join tenant_user requester on requester.tenant_id = request.tenant_id and requester.id = request.requester_id
    left join tenant_user decider on decider.tenant_id = request.tenant_id and decider.id = request.decided_by
    where request.tenant_id = ${tx.tenant_id}::uuid and request.id = ${id}::uuid`,
  )
  return found
}

/** The grants that events are about. */
export function findGrantsToTell(tx: Tx, ids: readonly string[]): Promise<(GrantFacts & { id: string })[]> {
  return tx.read(
    sql<GrantFacts & { id: string }>`select held.id, held.user_id as holder_id, held.name, held.status, held.expires_at,
      held.ended_by, held.end_reason, ender.name as ended_by_name
    from access_grant held
    left join tenant_user ender on ender.tenant_id = held.tenant_id and ender.id = held.ended_by
    where held.tenant_id = ${tx.tenant_id}::uuid and held.id = any(${[...ids]}::uuid[])`,
  )
}
