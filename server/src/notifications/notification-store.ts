import { byId } from '../db/list-orders.ts'
import { readListPage } from '../db/list-page.ts'
import { oldestOpenHere } from '../db/settled.ts'
import { idDigits, sql, sqlInteger } from '../db/sql.ts'
import type { Notified, Statement, Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { notificationDays } from '../kernel/notification-days.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { Scope } from '../permissions/permission.ts'
import { holdersOf } from '../roles/holding-store.ts'
import { isActive } from '../users/active-store.ts'
import type { NewNotification } from './new-notification.ts'
import type { NotificationRow } from './notification.ts'
import { mailsOf } from './notification-mail-store.ts'

const columns = sql`id, event_type, title, body, resource_type, resource_id, read_at, created_at`

/** One page of the user's notifications, newest first. `unread` true: only unread ones; false: only read ones. */
export function listNotificationsPage(
  tx: Tx,
  user_id: string,
  unread: boolean | undefined,
  page: PageRequest,
): Promise<PageRows<NotificationRow>> {
  const of = { column: sql`r.user_id`, type: sql`uuid`, values: [user_id] }
  const list = {
    table: sql`notification r`,
    columns,
    order: { ...byId, descending: true },
    range: unread === true ? [isUnread] : [],
    filters: [of],
    tested: unread === false ? [sql`r.read_at is not null`] : [],
  }
  return readListPage<NotificationRow>(tx, list, page)
}

/** The unread ones have an index of their own. */
const isUnread = sql`r.read_at is null`

/** How many notifications of a user (a value or a column) are unread, counted up to `max`: a value to embed in another statement. */
export function unreadCount(tx: Tx, user_id: Statement, max: number): Statement {
  return sql`(select count(*)::integer from (select from notification
    where tenant_id = ${tx.tenant_id}::uuid and user_id = ${user_id} and read_at is null limit ${max}) unread)`
}

/**
 * A notification's position in the user's stream. The order is that of the commits, since many processes make ids. The two
 * numbers come from the database, and exceed JavaScript's safe integers.
 */
export type Place = { id: string; xid: string; seq: string }

/** The position before the first notification, for a user who has none yet. */
export const beginning: Place = { id: '00000000-0000-0000-0000-000000000000', xid: '0', seq: '0' }

/**
 * Up to here the order is final: no later commit can come before these rows. `notified_to`: what `findNews` said, which tells of each row
 * once. What it has told of must be found at once, and the measure of now may be less.
 */
function isSettled(notified_to?: string): Statement {
  return sql`xid < greatest(${notified_to ?? null}::xid8, (${oldestOpenHere}))`
}

/** Where a reader goes on, and up to where a signal has told it that all is over, if one came. */
export type Ahead = { place: Place } & Partial<Notified>

/** The user's notifications after `place`, in order, at most `limit`. */
export function listNotificationsBehind(
  tx: Tx,
  user_id: string,
  { place, notified_to }: Ahead,
  limit: number,
): Promise<(NotificationRow & Place)[]> {
  return tx.read(sql<NotificationRow & Place>`select ${columns}, xid::text, seq::text from notification
    where tenant_id = ${tx.tenant_id} and user_id = ${user_id}
      and (xid, seq) > (${place.xid}::xid8, ${place.seq}::bigint) and ${isSettled(notified_to)}
    order by notification.xid, notification.seq limit ${limit}`)
}

/** The position of the user's newest notification after skipping `skip`; undefined when there are not that many. */
export async function findNewestPlace(tx: Tx, user_id: string, skip: number): Promise<Place | undefined> {
  const [place] = await tx.read(sql<Place>`select id, xid::text, seq::text from notification
    where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and ${isSettled()}
    order by notification.xid desc, notification.seq desc offset ${skip} limit 1`)
  return place
}

/**
 * Where a client goes on that has the user's notification with this id; undefined when there is none. What it got from a stream was settled, which
 * the measure of now may not say. Then it is the position of the newest one before that is settled: some come twice, and none is left out that
 * commits later.
 */
export async function findPlace(tx: Tx, user_id: string, id: string): Promise<Place | undefined> {
  const { id: none, xid, seq } = beginning
  const [place] = await tx.read(sql<Place>`select coalesce(reached.id, ${none}::uuid) as id,
      coalesce(reached.xid, ${xid}::xid8)::text as xid, coalesce(reached.seq, ${seq}::bigint)::text as seq
    from notification last left join lateral (
      select id, xid, seq from notification
      where tenant_id = ${tx.tenant_id} and user_id = ${user_id}
        and (xid, seq) <= (last.xid, last.seq) and ${isSettled()}
      order by xid desc, seq desc limit 1) reached on true
    where last.tenant_id = ${tx.tenant_id} and last.user_id = ${user_id} and last.id = ${id}`)
  return place
}

/** Which of these users got notifications of the transactions from `since` on, before `to`: a value to embed in another statement. */
export function notifiedSince(since: string | undefined, to: Statement, user_ids: readonly string[]): Statement {
  return sql`array(select distinct user_id from notification
    where xid >= ${since ?? null}::xid8 and xid < ${to} and user_id = any(${[...user_ids]}::uuid[]))`
}

/** Marks one of the user's notifications as read; the first call sets the time. Undefined when there is none with that id. */
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

/** Marks all of the user's notifications as read. Returns how many were unread. */
export async function readAllNotifications(tx: Tx, user_id: string | null): Promise<number> {
  const [[row]] = await tx.write([
    sql<{ updated: number }>`with changed as (
        update notification set read_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and read_at is null returning id)
      select count(*)::integer as updated from changed`,
  ])
  return row?.updated ?? 0
}

const keptSince = sql`statement_timestamp() - make_interval(days => ${sqlInteger(notificationDays)})`
/** Each insert deletes at most this many. After the first cleanup, far fewer expire than are written. */
const maxRemoved = 1_000

/** The smallest id of that moment, so that older rows are found by the primary key. */
function idOf(moment: Statement): Statement {
  return sql`rpad(${idDigits(moment)}, 32, '0')::uuid`
}

/**
 * Inserts the notifications and their mails, except those of an event that the user was already notified of. Deletes some expired ones.
 */
export async function insertNotifications(tx: Tx, notifications: readonly NewNotification[]): Promise<void> {
  if (notifications.length === 0) return
  const rows = notifications.map((notification) => ({ ...notification, id: newId() }))
  const columns = sql`id, user_id, event_id, event_type, title, body, resource_type, resource_id`
  await tx.write([
    sql`with notified as (
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as notified (id uuid, user_id uuid,
          event_id uuid, event_type text, title text, body text, resource_type text, resource_id uuid, mail_kind text)),
      made as (
        insert into notification (tenant_id, ${columns}) select ${tx.tenant_id}::uuid, ${columns} from notified
        on conflict (tenant_id, event_id, user_id) do nothing returning id),
      ${mailsOf(tx, sql`made join notified using (id)`)}`,
    sql`delete from notification where tenant_id = ${tx.tenant_id} and id in (
      select id from notification where tenant_id = ${tx.tenant_id} and id < ${idOf(keptSince)}
        and created_at < ${keptSince}
      order by id limit ${maxRemoved})`,
  ])
}

/** Users notified in one round trip. */
const batchSize = 500
/** Users notified of one event, at most. */
const maxHolders = 10_000

/** Active users who hold one of these scopes, without `except`, in batches ordered by id. */
export async function* listHolders(tx: Tx, scopes: readonly Scope[], except: string | null): AsyncGenerator<string[]> {
  let after: string | null = null
  for (let count = 0; count < maxHolders; count += batchSize) {
    const holders: { id: string }[] = await tx.read(sql<{ id: string }>`select person.id from tenant_user person
      where person.tenant_id = ${tx.tenant_id}::uuid and ${isActive(sql`person`)}
        and (${except}::uuid is null or person.id <> ${except}::uuid)
        and (${after}::uuid is null or person.id > ${after}::uuid) and person.id in (${holdersOf(tx, scopes)})
      order by person.id limit ${batchSize}`)
    yield holders.map(({ id }) => id)
    after = holders.at(-1)?.id ?? null
    if (holders.length < batchSize) return
  }
}

/** Active owners of the tenant, without `except`. */
export async function listOwners(tx: Tx, except: readonly (string | null)[]): Promise<string[]> {
  const owners = await tx.read(sql<{ id: string }>`select person.id from tenant_user person
    where person.tenant_id = ${tx.tenant_id}::uuid and person.is_owner and ${isActive(sql`person`)}
      and person.id <> all(array_remove(${[...except]}::uuid[], null))
    order by person.id limit ${maxHolders}`)
  return owners.map(({ id }) => id)
}
