/** What the message about an event is written from. Null, or empty, is what nobody knows, or what its readers may not see. */
import type { FilterableEvent } from '../events/catalogue.ts'

export type RequestEvent = Extract<FilterableEvent, `request.${string}`>
export type GrantEvent = Extract<FilterableEvent, `grant.${string}`>
/** An administrative event: a record of the tenant was changed. */
export type RecordEvent = Exclude<FilterableEvent, RequestEvent | GrantEvent> | 'notification_channel.tested'

/** What every message can say of its event. */
export type EventFacts = {
  /** An instant in UTC. */
  at: string
  /** Who caused it, to begin a sentence with: `Ada Lovelace`, `The operator`, `Sallyport`. */
  actor: string
  /** The time zone that moments are written in. */
  zone: string
  subject_id: string
  data: Record<string, unknown>
}

export type Person = { name: string; email: string | null }

/** What is asked for or held. `accounts` are the first few that it is in; their names are null where nobody told us. */
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
    duration_seconds: number
    approval_mode: 'require' | 'auto' | 'break_glass'
    status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled'
    /** When it expires if nobody decides; null: it does not wait. */
    waits_until: string | null
    /** Null: no person decided. */
    decided_by: string | null
    decision_reasoning: string | null
    audit_session: boolean
  }

export type GrantFacts = EventFacts &
  Access & {
    holder: Person
    /** The permission set that stands for the action, where the target has such. */
    permission_set: string | null
    /** The holder caused the event. */
    is_own: boolean
    /** What was said when it was asked for. */
    reason: string | null
    status: 'pending' | 'active' | 'expired' | 'revoked' | 'failed'
    /** How far its target is, as `provisioning_status` of the grant says. */
    provisioning_status: string
    /** Null: it was never active. */
    expires_at: string | null
    end_reason: string | null
    /** What the target last answered instead. */
    last_error: string | null
    /** Where it is given. */
    provisioner: string | null
    /** Whether what is changed there by hand is put right. */
    corrects_drift: boolean | null
  }

export type RecordFacts = EventFacts & {
  subject_type: string
  /** Null where it is gone, or has none. */
  name: string | null
  /** Names by the ids of users and roles that the event names; those that are gone are not there. */
  people: Readonly<Record<string, string>>
  roles: Readonly<Record<string, string>>
}
