import type { Config } from '../config/config.ts'
import type { EventType } from '../events/catalogue.ts'
import type { Actor, Egress, Sealer, Tx } from '../kernel/context.ts'
import type { ChannelType, NotificationChannel } from './notification-channel.ts'

/** The event that is told, as the audit log has it: ids and plain facts, no names. */
export type DeliveredEvent = {
  id: string
  type: EventType
  /** When it happened, by the database's clock, in UTC. */
  at: string
  actor_kind: Actor['kind']
  /** The human who did it, also by a key; null where the service or the operator did. */
  actor_id: string | null
  api_key_id: string | null
  subject_type: string
  subject_id: string
  data: Record<string, unknown>
  request_id: string
}

/**
 * One event for one recipient of one channel. There is one for each of these three, whatever happens: `id` names it in
 * every attempt.
 */
export type Delivery = {
  id: string
  event: DeliveredEvent
  /** An address of mail; empty for a webhook, which has one recipient. */
  recipient: string
  /** How often somebody had it sent once more by hand. */
  resends: number
}

/** How an attempt went. `why` and `said` are texts that may be kept and shown: one line, none of our secrets. */
export type Outcome =
  | { kind: 'delivered'; said: string | null }
  /** Never to be had: it is not tried again by itself. */
  | { kind: 'refused'; why: string }
  /**
   * It may pass. `holds_up`: this delivery alone, or all that goes to this recipient, in their order behind it. `after_ms`: for
   * how long the other side wants to be left alone, as far as it is heard: an hour at most.
   */
  | { kind: 'try_again'; why: string; holds_up: 'this' | 'all'; after_ms?: number }
  /** The receiver is gone for good: its channel is switched off. */
  | { kind: 'gone'; why: string }

/** Takes deliveries of one type of channel to where they go. */
export type Carrier = {
  /** Milliseconds that one attempt may take, at most. */
  maxMs: number
  /**
   * One attempt. Never throws for what the other side does. `signal` ends it where the service stops.
   * @param tx the tenant's door, for the names that a text needs
   */
  carry(tx: Tx, channel: NotificationChannel, delivery: Delivery, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

/** The carrier of each type of channel. */
export type Carriers = Readonly<Record<ChannelType, Carrier>>

/** What the carriers are opened with, all of them together. */
export type CarrierOpening = { config: Config; sealer: Sealer; egress: Egress }
