import { sql } from '../db/sql.ts'
import type { DeliveredEvent } from '../events/deliver.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { isHeld } from '../mail/due-mail-store.ts'
import { scopesHeld } from '../roles/holding-store.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import type { Mode } from '../tenants/mode.ts'
import { isActive } from '../users/active-store.ts'
import { kindNames, type MailChoices, type NotificationKind, notificationKinds } from './notification-kind.ts'

/** Mails of one kind to one person in an hour, about: those in flight at the same moment may be a few more. Further ones wait. */
export const maxMailsAnHour = 30
/** A mail that waited this long is not sent. */
const keptHours = 24

const defaults = JSON.stringify(
  Object.fromEntries(kindNames.map((kind) => [kind, notificationKinds[kind].mailed_by_default])),
)

/**
 * Inserts the mails of new notifications (`notified`: rows with `id`, `user_id` and `mail_kind`), for active people who want mails of the kind and
 * whose address is verified: a mail to another address would reach another person.
 */
export function mailsOf(tx: Tx, notified: Statement): Statement {
  return sql`insert into notification_mail (tenant_id, id, user_id, kind)
    select ${tx.tenant_id}::uuid, id, notified.user_id, notified.mail_kind from ${notified}
    where notified.mail_kind is not null and exists (select from tenant_user u
      where u.tenant_id = ${tx.tenant_id}::uuid and u.id = notified.user_id and u.email_verified
        and ${isActive(sql`u`)}
        and coalesce(u.mail_choices -> notified.mail_kind, ${defaults}::jsonb -> notified.mail_kind) = 'true'::jsonb)`
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
export async function beginMail(tx: Tx, item: WorkItem): Promise<DueNotification | undefined> {
  const { tenant_id } = tx
  const [[found]] = await tx.write([
    sql<Row>`with m as materialized (
        select m.id, m.user_id, m.kind, m.attempts, m.created_at, ${waitsFor(tx)} as wait_ms
        from notification_mail m where ${isHeld(tx, item)} and m.state = 'pending'),
      begun as (
        update notification_mail m set attempts = m.attempts + 1
        where ${isHeld(tx, item)} and m.state = 'pending' and (select wait_ms from m) is null)
      select m.kind, m.attempts + 1 as attempts, m.wait_ms,
        m.created_at < clock_timestamp() - make_interval(hours => ${keptHours}) as is_over,
        u.email, u.email_verified and ${isActive(sql`u`)} as may_be_mailed, u.mail_choices as choices, u.is_owner,
        array(${scopesHeld(tx, sql`u.id`)}) as scopes, u.timezone, ${settingsAsJson(tx)} as stored,
        t.name as tenant, t.mode, e.id as event_id, e.type, e.at, e.actor_kind, e.actor_id, e.subject_type,
        e.subject_id, e.data,
        case e.subject_type when 'request' then e.subject_id when 'grant' then (select g.request_id::text
          from access_grant g where g.tenant_id = ${tenant_id} and g.id = n.resource_id) end as request_id
      from m join notification n on n.tenant_id = ${tenant_id} and n.id = m.id
        join event e on e.tenant_id = ${tenant_id} and e.id = n.event_id
        join tenant_user u on u.tenant_id = ${tenant_id} and u.id = m.user_id
        join tenant t on t.id = ${tenant_id}`,
  ])
  if (found === undefined) return undefined
  const { event_id, type, at, actor_kind, actor_id, subject_type, subject_id, data, timezone, stored, ...due } = found
  const event = { id: event_id, type, at, actor_kind, actor_id, subject_type, subject_id, data }
  return { ...due, event, zone: timezone ?? readSettingValues(stored)['timezone.default'] }
}

/** Milliseconds until the mail `m` is within the limit of an hour; null: it is. */
function waitsFor({ tenant_id }: Tx): Statement {
  return sql`(select 1000 * extract(epoch from x.sent_at + interval '1 hour' - clock_timestamp())::float8
    from notification_mail x where x.tenant_id = ${tenant_id} and x.user_id = m.user_id and x.kind = m.kind
      and x.sent_at > clock_timestamp() - interval '1 hour'
    order by x.sent_at desc offset ${maxMailsAnHour - 1} limit 1)`
}
