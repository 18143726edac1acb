import { sql } from '../db/sql.ts'
import type { DeliveredEvent } from '../events/deliver.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { scopesHeld } from '../roles/holding-store.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import type { Mode } from '../tenants/mode.ts'
import { isActive } from '../users/active-store.ts'
import { isUrgent, kindNames, type MailChoices, type NotificationKind, notificationKinds } from './notification-kind.ts'

/** Mails of one kind to one person in an hour, about: those in flight at the same moment may be a few more. Further ones wait. */
export const maxMailsAnHour = 30
/** Waiting mails of a kind before another are counted up to this. */
const maxAhead = 1_000
/** A mail that waited this long is not sent. */
const keptHours = 24

const urgentKinds = kindNames.filter(isUrgent)
const defaults = JSON.stringify(
  Object.fromEntries(kindNames.map((kind) => [kind, notificationKinds[kind].mailed_by_default])),
)

/**
 * Inserts the mails of new notifications (`notified`: rows with `id`, `user_id` and `mail_kind`), for active people who want mails of the kind
 * and whose address is verified: a mail to another address would reach another person. The tenant's queue is due at once.
 */
export function mailsOf(tx: Tx, notified: Statement): Statement {
  return sql`mails as (
      insert into notification_mail (tenant_id, id, user_id, kind, urgent)
      select ${tx.tenant_id}::uuid, id, notified.user_id, notified.mail_kind,
        notified.mail_kind = any(${urgentKinds}::text[])
      from ${notified} where notified.mail_kind is not null and exists (select from tenant_user u
        where u.tenant_id = ${tx.tenant_id}::uuid and u.id = notified.user_id and u.email_verified
          and ${isActive(sql`u`)}
          and coalesce(u.mail_choices -> notified.mail_kind, ${defaults}::jsonb -> notified.mail_kind) = 'true'::jsonb)
      returning tenant_id)
    insert into notification_mail_queue (tenant_id, next_look_at)
      select tenant_id, clock_timestamp() from mails limit 1
      on conflict (tenant_id) do update
        set next_look_at = least(notification_mail_queue.next_look_at, excluded.next_look_at)`
}

/** INVARIANT: every write of a run has this condition, so a worker that lost the queue writes nothing. It locks until the transaction ends. */
function ours({ tenant_id }: Tx, item: WorkItem): Statement {
  return sql`exists (select from notification_mail_queue q where q.tenant_id = ${tenant_id} and q.id = ${item.id}
    and q.generation = ${item.generation}::bigint for no key update)`
}

/** The condition for the row `m` of a mail, in a run of its tenant's queue. */
export function isHeld(tx: Tx, item: WorkItem, id: string): Statement {
  return sql`m.tenant_id = ${tx.tenant_id} and m.id = ${id} and ${ours(tx, item)}`
}

/** The ids of mails that are due, the urgent ones first, at most `limit`. */
export async function listDueMails(tx: Tx, limit: number): Promise<string[]> {
  const due = (urgent: Statement) => sql`(select id, urgent, next_look_at from notification_mail
    where tenant_id = ${tx.tenant_id} and urgent = ${urgent} and next_look_at <= statement_timestamp()
    order by next_look_at limit ${limit})`
  const rows = await tx.read(sql<{ id: string }>`select id
    from (${due(sql`true`)} union all ${due(sql`false`)}) due
    order by urgent desc, next_look_at limit ${limit}`)
  return rows.map(({ id }) => id)
}

/**
 * Ends a run: the queue is due with its next mail. INVARIANT: a separate first statement locks the queue. The second then sees all mails
 * inserted before, and mails inserted later make the queue due again.
 */
export async function closeQueue(tx: Tx, item: WorkItem): Promise<void> {
  const self = sql`q.tenant_id = ${tx.tenant_id} and q.id = ${item.id} and q.generation = ${item.generation}::bigint`
  const next = (urgent: Statement) => sql`(select min(next_look_at) from notification_mail
    where tenant_id = ${tx.tenant_id} and urgent = ${urgent} and next_look_at is not null)`
  await tx.write([
    sql`select from notification_mail_queue q where ${self} for no key update`,
    sql`update notification_mail_queue q set lease_until = null,
        -- Not before now: other tenants, whose mails are due since, have their turn first.
        next_look_at = (select greatest(mail.next, clock_timestamp())
          from (select least(${next(sql`true`)}, ${next(sql`false`)}) as next) mail where mail.next is not null)
      where ${self}`,
  ])
}

/** A mail that is due, its notification's event, and its reader as they are now. */
export type DueNotification = {
  kind: NotificationKind
  /** With this one. */
  attempts: number
  /** How long it has to wait, since the person got as many mails of the kind; null: the attempt has begun. */
  wait_ms: number | null
  is_over: boolean
  email: string
  may_be_mailed: boolean
  choices: MailChoices
  is_owner: boolean
  scopes: string[]
  zone: string
  tenant: string
  mode: Mode
  event: DeliveredEvent
  /** The request that the mail is about, directly or by its grant; null: it is about another record. */
  request_id: string | null
}

type Row = Omit<DueNotification, 'event' | 'zone'> &
  Omit<DeliveredEvent, 'id'> & { event_id: string; timezone: string | null; stored: Record<string, string> }

/**
 * Records the start of an attempt, unless the mail has to wait, and returns what it needs. Undefined when the row was lost, or has
 * ended. One round trip.
 */
export async function beginMail(tx: Tx, item: WorkItem, id: string): Promise<DueNotification | undefined> {
  const { tenant_id } = tx
  const [[found]] = await tx.write([
    sql<Row>`with due as materialized (
        select m.id, m.user_id, m.kind, m.attempts, m.created_at, ${waitsFor(tx)} as wait_ms
        from notification_mail m where ${isHeld(tx, item, id)} and m.state = 'pending'),
      begun as (
        update notification_mail m set attempts = m.attempts + 1
        from due where m.tenant_id = ${tenant_id} and m.id = due.id and due.wait_ms is null)
      select due.kind, due.attempts + 1 as attempts, due.wait_ms,
        due.created_at < clock_timestamp() - make_interval(hours => ${keptHours}) as is_over,
        u.email, u.email_verified and ${isActive(sql`u`)} as may_be_mailed, u.mail_choices as choices, u.is_owner,
        array(${scopesHeld(tx, sql`u.id`)}) as scopes, u.timezone, ${settingsAsJson(tx)} as stored,
        t.name as tenant, t.mode, e.id as event_id, e.type, e.at, e.actor_kind, e.actor_id, e.subject_type,
        e.subject_id, e.data,
        case e.subject_type when 'request' then e.subject_id when 'grant' then (select g.request_id::text
          from access_grant g where g.tenant_id = ${tenant_id} and g.id = n.resource_id) end as request_id
      from due join notification n on n.tenant_id = ${tenant_id} and n.id = due.id
        join event e on e.tenant_id = ${tenant_id} and e.id = n.event_id
        join tenant_user u on u.tenant_id = ${tenant_id} and u.id = due.user_id
        join tenant t on t.id = ${tenant_id}`,
  ])
  if (found === undefined) return undefined
  const { event_id, type, at, actor_kind, actor_id, subject_type, subject_id, data, timezone, stored, ...due } = found
  const event = { id: event_id, type, at, actor_kind, actor_id, subject_type, subject_id, data }
  return { ...due, event, zone: timezone ?? readSettingValues(stored)['timezone.default'] }
}

/**
 * Milliseconds that the mail `m` has to wait; null: none. Mails of a kind go in their order: those that wait before it count as those that
 * were sent in the last hour. It waits until as many of these are an hour old as are needed.
 */
function waitsFor({ tenant_id }: Tx): Statement {
  const same = sql`x.tenant_id = ${tenant_id} and x.user_id = m.user_id and x.kind = m.kind`
  const lately = sql`${same} and x.sent_at > statement_timestamp() - interval '1 hour'`
  const before = sql`greatest(used.sent + used.ahead - ${maxMailsAnHour}, 0)`
  return sql`(select case when used.sent + used.ahead >= ${maxMailsAnHour} then 1000 * extract(epoch from coalesce(
      (select x.sent_at + interval '1 hour' from notification_mail x where ${lately}
        order by x.sent_at offset ${before} limit 1),
      clock_timestamp() + interval '15 minutes') - clock_timestamp())::float8 end
    from (select
      (select count(*)::integer from (select from notification_mail x where ${lately}
        limit ${maxMailsAnHour}) s) as sent,
      (select count(*)::integer from (select from notification_mail x where ${same}
        and x.next_look_at is not null and x.id < m.id limit ${maxAhead}) a) as ahead) used)`
}
