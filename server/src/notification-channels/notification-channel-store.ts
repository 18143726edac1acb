import { isDeepStrictEqual } from 'node:util'
import { type CappedFilters, readCappedPage } from '../db/capped-list.ts'
import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { Mode } from '../tenants/mode.ts'
import { tenantModeAt } from '../tenants/mode-store.ts'
import type { EmailContent } from './email-channel.ts'
import type { ChannelType, NotificationChannel } from './notification-channel.ts'
import type { WebhookContent } from './webhook-channel.ts'

export const channelRecord = sql`id, name, channel_type, config, event_filters, enabled, created_at, updated_at,
  case when previous_until > clock_timestamp() then previous_until end as previous_secret_until`

/** Channels of a tenant, at most, since each event goes to all of them. Concurrent inserts may exceed it. */
const maxChannels = 100

/** Recipients of all channels of a tenant, at most: one event may make this many deliveries, and the tenant's other events wait behind them. */
const maxRecipients = 500

/** The recipients of a channel `c`, as a JSON array; a webhook has one recipient with an empty name. */
export const recipientsOf = sql`case c.channel_type when 'email' then c.config -> 'to_addresses' else '[""]'::jsonb end`

/** The total number of recipients of channels `c`. */
export const countOfRecipients = sql`coalesce(sum(jsonb_array_length(${recipientsOf})), 0)::integer`

/** Whether the tenant's recipient limit has room for this channel's recipients. */
function hasRoom(tx: Tx, id: string, config: ChannelToInsert['config']): Statement {
  const others = sql`select ${countOfRecipients} from notification_channel c
    where c.tenant_id = ${tx.tenant_id} and c.id <> ${id}::uuid`
  return sql`(${others}) <= ${maxRecipients - countOf(config)}`
}

function countOf(config: ChannelToInsert['config']): number {
  return 'to_addresses' in config ? config.to_addresses.length : 1
}

const tooMany = () =>
  new Problem(
    'unprocessable',
    `a tenant has at most ${maxChannels} notification channels, and ${maxRecipients} recipients in all of them: ` +
      'delete one first, or use a mailing list as a recipient',
  )

type ChannelToInsert = (EmailContent | WebhookContent) & {
  id: string
  channel_type: ChannelType
  sealed_secrets: string | null
}

/** Inserts a new channel and emits an event, which contains nothing of its config. */
export async function insertChannel<Channel extends NotificationChannel>(
  ctx: WorkCtx,
  channel: ChannelToInsert & { channel_type: Channel['channel_type'] },
): Promise<Channel> {
  const { id, name, channel_type, config, sealed_secrets, event_filters, enabled } = channel
  const event = eventOf('created', id, { channel_type, event_filters, enabled })
  const [[made]] = await ctx.tx.write([
    sql<Channel>`with made as (
        insert into notification_channel
          (tenant_id, id, name, channel_type, config, sealed_secrets, event_filters, enabled)
        select ${ctx.tx.tenant_id}::uuid, ${id}::uuid, ${name}, ${channel_type}, ${JSON.stringify(config)}::jsonb,
          ${sealed_secrets}, ${event_filters}::text[], ${enabled}::boolean
        where (select count(*) from notification_channel where tenant_id = ${ctx.tx.tenant_id}) < ${maxChannels}
          and ${hasRoom(ctx.tx, id, config)}
        returning ${channelRecord}),
      emitted as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  if (made === undefined) throw tooMany()
  return made
}

export function listChannelsPage(
  tx: Tx,
  filters: CappedFilters,
  page: PageRequest,
): Promise<PageRows<NotificationChannel>> {
  const list = { table: sql`notification_channel r`, columns: channelRecord }
  return readCappedPage<NotificationChannel>(tx, list, filters, page)
}

export async function findChannel(tx: Tx, id: string): Promise<NotificationChannel | undefined> {
  const [found] = await tx.read(sql<NotificationChannel>`select ${channelRecord} from notification_channel
    where tenant_id = ${tx.tenant_id} and id = ${id}`)
  return found
}

/** A channel with its sealed secrets, which only a webhook has; never sent in a reply. */
export type KeptChannel = { shown: NotificationChannel; sealed_secrets: string | null }

/** Reads the channel and locks it until the transaction ends; only for use within `interactive`. */
export async function lockChannel(tx: Tx, id: string): Promise<KeptChannel | undefined> {
  const [found] = await tx.read(sql<NotificationChannel & { sealed_secrets: string | null }>`
    select ${channelRecord}, sealed_secrets from notification_channel
    where tenant_id = ${tx.tenant_id} and id = ${id} for update`)
  if (found === undefined) return undefined
  const { sealed_secrets, ...shown } = found
  return { shown, sealed_secrets }
}

/** The data for a call to a webhook's receiver, from one read. */
export type WebhookToCall = {
  config: WebhookContent['config']
  sealed_secrets: string
  /** The secret before the last rotation also signs. */
  previous_counts: boolean
  /** The database's clock. */
  now: string
  /** The tenant's, at the moment of the event. */
  mode: Mode
}

/** `at`: the time of the event of which the call is. */
export async function findWebhookToCall(tx: Tx, id: string, at: string): Promise<WebhookToCall | undefined> {
  const [found] = await tx.read(sql<WebhookToCall>`select config, sealed_secrets, ${tenantModeAt(tx, at)} as mode,
      previous_until is not null and previous_until > clock_timestamp() as previous_counts, clock_timestamp() as now
    from notification_channel where tenant_id = ${tx.tenant_id} and id = ${id} and channel_type = 'webhook'`)
  return found
}

/**
 * Saves the new content of a locked channel, and emits an event with the changed fields; without a change it emits nothing.
 * `sealed`: its secrets, when the request has new headers.
 * @throws Problem 422 when it has more recipients than before, and the tenant's limit has no room for them
 */
export async function saveChannel<Channel extends NotificationChannel>(
  ctx: WorkCtx,
  before: Channel,
  content: EmailContent | WebhookContent,
  sealed?: string,
): Promise<Channel> {
  const grows = countOf(content.config) > countOf(before.config)
  const fields = [...changedFields(before, content), ...(sealed === undefined ? [] : ['headers'])]
  if (fields.length === 0) return before
  const { name, config, event_filters, enabled } = content
  const event = eventOf('updated', before.id, { fields, event_filters, enabled })
  const [[saved]] = await ctx.tx.write([
    sql<Channel>`with changed as (
        update notification_channel set name = ${name}, config = ${JSON.stringify(config)},
          event_filters = ${event_filters}, enabled = ${enabled}, updated_at = clock_timestamp()${
            sealed === undefined ? sql`` : sql`, sealed_secrets = ${sealed}`
          }
        where tenant_id = ${ctx.tx.tenant_id} and id = ${before.id}
          and ${grows ? hasRoom(ctx.tx, before.id, content.config) : sql`true`}
        returning ${channelRecord}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  // The row is locked, so only the recipient limit can prevent the update.
  if (saved === undefined) throw tooMany()
  return saved
}

/** Does not compare the headers of a webhook, which are redacted both before and after. */
function changedFields(before: NotificationChannel, content: EmailContent | WebhookContent): string[] {
  const [was, is] = [before.config, content.config].map((config) => new Map(Object.entries(config)))
  const beside = (['name', 'event_filters', 'enabled'] as const).filter(
    (field) => !isDeepStrictEqual(before[field], content[field]),
  )
  const inConfig = (['to_addresses', 'from_address', 'subject_prefix', 'url'] as const).filter(
    (field) => !isDeepStrictEqual(was?.get(field), is?.get(field)),
  )
  return [...beside, ...inConfig]
}

/** Saves the rotated secrets of a locked webhook channel, and emits an event. */
export async function saveRotation<Channel extends NotificationChannel>(
  ctx: WorkCtx,
  { id }: Channel,
  { sealed, overlap_seconds }: { sealed: string; overlap_seconds: number },
): Promise<Channel> {
  const [[saved]] = await ctx.tx.write([
    sql<Channel>`with changed as (
        update notification_channel set sealed_secrets = ${sealed}, updated_at = clock_timestamp(),
          previous_until = clock_timestamp() + make_interval(secs => ${overlap_seconds})
        where tenant_id = ${ctx.tx.tenant_id} and id = ${id}
        returning ${channelRecord}),
      emitted as (${emit(ctx, eventOf('secret_rotated', id, { overlap_seconds }), sql`changed`)})
      select * from changed`,
  ])
  if (saved === undefined) throw new Error('a channel that was locked is gone')
  return saved
}

/**
 * Switches off a channel whose receiver answered that it is gone, and emits an event, if the channel is unchanged since
 * `version` and `isOurs` holds.
 */
export function switchOff(ctx: WorkCtx, { id }: NotificationChannel, version: string, isOurs: Statement): Statement {
  return sql`with changed as (
      update notification_channel set enabled = false, updated_at = clock_timestamp()
      where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and enabled and updated_at = ${version}::timestamptz
        and ${isOurs}
      returning id)
    ${emit(ctx, eventOf('disabled', id), sql`changed`)}`
}

/** Deletes a locked channel and emits an event. */
export async function deleteLockedChannel(ctx: WorkCtx, id: string): Promise<void> {
  await ctx.tx.write([
    sql`with changed as (
        delete from notification_channel where tenant_id = ${ctx.tx.tenant_id} and id = ${id} returning id),
      emitted as (${emit(ctx, eventOf('deleted', id), sql`changed`)})
      select id from changed`,
  ])
}

function eventOf(
  what: 'created' | 'updated' | 'deleted' | 'disabled' | 'secret_rotated',
  id: string,
  data: Record<string, unknown> = {},
): NewEvent {
  return { type: `notification_channel.${what}`, subject_type: 'notification_channel', subject_id: id, data }
}
