import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { backoffDelay } from '../../kernel/backoff.ts'
import { Problem } from '../../kernel/errors.ts'
import type { ChannelType, NotificationChannel } from '../notification-channel.ts'

/**
 * How many hours a delivery is retried. Mail servers may be down for a day or more, and their operators expect mail to wait. A
 * webhook receiver that got nothing for a day must catch up in another way.
 */
export const triedForHours: Readonly<Record<ChannelType, number>> = { email: 72, webhook: 28 }

export const channelTypes = Object.keys(triedForHours) as ChannelType[]

/** Days for which finished deliveries are kept for people to read. */
export const keptDays = 30

const backoff = { base: 10_000, max: 30 * 60_000, jitter: 0.5 }

/**
 * Milliseconds to wait after consecutive failures: longer each time, with jitter so that receivers that failed together are not
 * retried together. `requestedMs`: the wait that the receiver requested. `random` in [0, 1).
 */
export function waitMs(failures: number, random: number, requestedMs = 0): number {
  return Math.max(backoffDelay(backoff, failures - 1, random), requestedMs)
}

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const

/** A delivery as answered. */
export const DeliveryRecord = Type.Object(
  {
    id: Uuid,
    event_id: Uuid,
    event_type: Type.String(),
    recipient: Type.Optional(Type.String({ description: 'an address; absent for a webhook, which has one recipient' })),
    status: OneOf(deliveryStatuses),
    attempts: Type.Integer({ description: 'the number of attempts begun' }),
    resends: Type.Integer({ description: 'how often a user sent it again' }),
    last_error: Nullable(Type.String({ description: 'why the last attempt failed' })),
    last_response: Nullable(Type.String({ description: 'the answer of the receiver or mail server that accepted it' })),
    created_at: DateTime,
    attempted_at: Nullable(DateTime),
    next_attempt_at: Nullable(DateTime),
    delivered_at: Nullable(DateTime),
  },
  { title: 'Delivery' },
)
export type DeliveryRecord = Static<typeof DeliveryRecord>

/** @throws Problem 409 for a channel that is switched off */
export function requireEnabled({ enabled }: NotificationChannel): void {
  if (!enabled) throw new Problem('channel_disabled', 'the channel is switched off; set `enabled` first')
}
