import { isDeepStrictEqual } from 'node:util'
import { allOf, sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { PageAsk } from '../kernel/page.ts'
import type { ChannelContent, NotificationChannel } from './notification-channel.ts'

const record = sql`id, name, channel_type, config, event_filters, enabled, created_at, updated_at`

/** Keeps a new e-mail channel and tells of it. The event holds no address. */
export async function insertEmailChannel(ctx: WorkCtx, channel: ChannelContent): Promise<NotificationChannel> {
  const id = newId()
  const { event_filters, enabled } = channel
  const event = {
    type: 'notification_channel.created',
    subject_type: 'notification_channel',
    subject_id: id,
    data: { channel_type: 'email', event_filters, enabled },
  } as const
  const [[made]] = await ctx.tx.write([
    sql<NotificationChannel>`with made as (
        insert into notification_channel (tenant_id, id, name, channel_type, config, event_filters, enabled)
        values (${ctx.tx.tenant_id}, ${id}, ${channel.name}, 'email', ${JSON.stringify(channel.config)},
          ${event_filters}, ${enabled})
        returning ${record}),
      told as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  if (made === undefined) throw new Error('a channel was inserted and not returned')
  return made
}

/** One page in the order of creation. */
export function listChannelsPage(tx: Tx, page: PageAsk): Promise<NotificationChannel[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id}`]
  if (page.after !== undefined) conditions.push(sql`id > ${page.after[0]}::uuid`)
  return tx.read(sql<NotificationChannel>`select ${record} from notification_channel
    where ${allOf(conditions)} order by id limit ${page.limit + 1}`)
}

export async function findChannel(tx: Tx, id: string): Promise<NotificationChannel | undefined> {
  const [found] = await tx.read(sql<NotificationChannel>`select ${record} from notification_channel
    where tenant_id = ${tx.tenant_id} and id = ${id}`)
  return found
}

/** The channel, held until the transaction ends; for inside `interactive`. */
export async function lockChannel(tx: Tx, id: string): Promise<NotificationChannel | undefined> {
  const [found] = await tx.read(sql<NotificationChannel>`select ${record} from notification_channel
    where tenant_id = ${tx.tenant_id} and id = ${id} for update`)
  return found
}

/** Saves what a locked channel shall be, and tells which fields changed; what changes nothing tells nothing. */
export async function saveChannel(
  ctx: WorkCtx,
  before: NotificationChannel,
  content: ChannelContent,
): Promise<NotificationChannel> {
  const fields = changedFields(before, content)
  if (fields.length === 0) return before
  const { event_filters, enabled } = content
  const event = {
    type: 'notification_channel.updated',
    subject_type: 'notification_channel',
    subject_id: before.id,
    data: { fields, event_filters, enabled },
  } as const
  const [[saved]] = await ctx.tx.write([
    sql<NotificationChannel>`with changed as (
        update notification_channel set name = ${content.name}, config = ${JSON.stringify(content.config)},
          event_filters = ${event_filters}, enabled = ${enabled}, updated_at = clock_timestamp()
        where tenant_id = ${ctx.tx.tenant_id} and id = ${before.id}
        returning ${record}),
      told as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  if (saved === undefined) throw new Error('a channel that was locked is gone')
  return saved
}

function changedFields(before: NotificationChannel, content: ChannelContent): string[] {
  const inConfig = (['to_addresses', 'from_address', 'subject_prefix'] as const).filter(
    (field) => !isDeepStrictEqual(before.config[field], content.config[field]),
  )
  const beside = (['name', 'event_filters', 'enabled'] as const).filter(
    (field) => !isDeepStrictEqual(before[field], content[field]),
  )
  return [...beside, ...inConfig]
}

/** Deletes a channel and tells of it; false when it is not there. */
export async function deleteChannelById(ctx: WorkCtx, id: string): Promise<boolean> {
  const event = {
    type: 'notification_channel.deleted',
    subject_type: 'notification_channel',
    subject_id: id,
  } as const
  const [gone] = await ctx.tx.write([
    sql`with changed as (
        delete from notification_channel where tenant_id = ${ctx.tx.tenant_id} and id = ${id} returning id),
      told as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
  ])
  return gone.length > 0
}
