/** The facts from which an event's message is written. Null or empty: unknown, or hidden from the readers. */
import type { FilterableEvent } from '../events/catalogue.ts'
import type { Connect } from '../provisioners/connect.ts'

export type RequestEvent = Extract<FilterableEvent, `request.${string}`>
export type GrantEvent = Extract<FilterableEvent, `grant.${string}`>
/** An administrative event: a record of the tenant was changed. */
export type RecordEvent = Exclude<FilterableEvent, RequestEvent | GrantEvent> | 'notification_channel.tested'

/** Facts that every message has. */
export type EventFacts = {
  /** An instant in UTC. */
  at: string
  /** Who caused it, as the start of a sentence: `Ada Lovelace`, `The operator`, `Sallyport`. */
  actor: string
  /** The time zone that moments are written in. */
  zone: string
  subject_id: string
  data: Record<string, unknown>
}

export type Person = { name: string; email: string | null }

/** The access that is requested or held. `accounts` are its first few accounts; a name is null when Sallyport does not know it. */
export type Access = {
  action: string
  resource_type: string
  resource_id: string
  accounts: readonly { account_id: string; name: string | null }[]
  account_count: number
}

export type RequestFacts = EventFacts &
  Access & {
    requester: Person
    /** The requester caused the event. */
    is_own: boolean
    reason: string | null
    /** An instant in UTC, as every moment here. */
    asked_at: string
    /** Of an extension, the time beyond the end of the access that is extended. */
    duration_seconds: number
    /** The shorter duration that an approver gave; null: they gave what was requested, or nobody has. */
    approved_duration_seconds: number | null
    /** The request makes access last longer that its requester has. */
    is_extension: boolean
    approval_mode: 'require' | 'auto' | 'break_glass'
    status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled'
    /** When it expires without a decision; null: it does not wait. */
    waits_until: string | null
    /** Null: no person decided. */
    decided_by: string | null
    decision_reasoning: string | null
    /** What the event’s comment says. */
    comment: string | null
    audit_session: boolean
  }

export type GrantFacts = EventFacts &
  Access & {
    holder: Person
    /** The permission set of the action, when the target has permission sets. */
    permission_set: string | null
    /** The holder caused the event. */
    is_own: boolean
    /** The reason given with the request. */
    reason: string | null
    status: 'pending' | 'active' | 'expired' | 'revoked' | 'failed'
    /** The `provisioning_status` of the grant. */
    provisioning_status: string
    /** Null: it was never active. */
    expires_at: string | null
    /** When the access ends that extends it; null: it is not extended, or that has ended. */
    extended_until: string | null
    /** Of an end that comes near: whether its holder may extend it now, or an extension waits for a decision; null: neither. */
    extension: 'possible' | 'waits' | null
    end_reason: string | null
    /** The target's last error. */
    last_error: string | null
    /** The name of its provisioner. */
    provisioner: string | null
    /** Whether manual changes at the target are corrected. */
    corrects_drift: boolean | null
    /** How the holder connects: for the holder alone. */
    connect: Connect | null
  }

export type RecordFacts = EventFacts & {
  subject_type: string
  /** Null when the record is deleted, or has no name. */
  name: string | null
  /** Names by the ids of users and roles that the event names; deleted ones are absent. */
  people: Readonly<Record<string, string>>
  roles: Readonly<Record<string, string>>
}
