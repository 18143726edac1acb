import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { backoffDelay } from '../../kernel/backoff.ts'
import { Problem } from '../../kernel/errors.ts'
import type { ChannelType, NotificationChannel } from '../notification-channel.ts'

/**
 * For how many hours a delivery is tried: mail servers may be down for a day and more, and whoever runs one expects mail to
 * wait for them; a system that was told nothing for a day has to be brought up to date in another way.
 */
export const triedForHours: Readonly<Record<ChannelType, number>> = { email: 72, webhook: 28 }

export const channelTypes = Object.keys(triedForHours) as ChannelType[]

/** What is done with is kept for people to read, so many days. */
export const keptDays = 30

const backoff = { base: 10_000, max: 30 * 60_000, jitter: 0.5 }

/**
 * Milliseconds to wait after so many failures in a row: longer each time, and never the same for all who failed together.
 * `asked`: what the other side asked for. `random` in [0, 1).
 */
export function waitMs(failures: number, random: number, asked = 0): number {
  return Math.max(backoffDelay(backoff, failures - 1, random), asked)
}

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const

/** A delivery as answered. */
export const DeliveryRecord = Type.Object(
  {
    id: Uuid,
    event_id: Uuid,
    event_type: Type.String(),
    recipient: Type.Optional(
      Type.String({ description: 'an address; left out for a webhook, which has one recipient' }),
    ),
    status: OneOf(deliveryStatuses),
    attempts: Type.Integer({ description: 'how often it was begun' }),
    resends: Type.Integer({ description: 'how often somebody had it sent once more' }),
    last_error: Nullable(Type.String({ description: 'why the last attempt failed' })),
    last_response: Nullable(Type.String({ description: 'what the other side said when it took it' })),
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
