import type { Config } from '../config/config.ts'
import type { EventType } from '../events/catalogue.ts'
import type { Actor, Egress, Sealer, Tx } from '../kernel/context.ts'
import type { SendOutcome } from '../kernel/send-outcome.ts'
import type { ChannelType, NotificationChannel } from './notification-channel.ts'

/** The event to deliver, as in the audit log: ids and plain facts, no names. */
export type DeliveredEvent = {
  id: string
  type: EventType
  /** When it happened, by the database's clock, in UTC. */
  at: string
  actor_kind: Actor['kind']
  /** The user who caused it, directly or by an API key; null when the service or the operator did. */
  actor_id: string | null
  api_key_id: string | null
  subject_type: string
  subject_id: string
  data: Record<string, unknown>
  request_id: string
}

/**
 * One event for one recipient of one channel. Each such combination has exactly one delivery; its `id` is the same in every
 * attempt.
 */
export type Delivery = {
  id: string
  event: DeliveredEvent
  /** A mail address; empty for a webhook, which has one recipient. */
  recipient: string
  /** How often a user sent it again by hand. */
  resends: number
}

/** Sends the deliveries of one type of channel. */
export type Carrier = {
  /** Milliseconds that one attempt may take. */
  maxMs: number
  /**
   * Makes one attempt. It never throws for a fault of the receiver. `signal` aborts it when the service stops.
   * @param tx the tenant's transaction, to look up the names that a text needs
   */
  carry(tx: Tx, channel: NotificationChannel, delivery: Delivery, signal: AbortSignal): Promise<SendOutcome>
  close(): Promise<void>
}

/** The carrier of each type of channel. */
export type Carriers = Readonly<Record<ChannelType, Carrier>>

/** The dependencies of all carriers. */
export type CarrierOpening = { config: Config; sealer: Sealer; egress: Egress }
