import type { FilterableEvent } from '../../../events/catalogue.ts'

/** Something to know, under its name; one without a value is left out. */
export type Fact = readonly [name: string, value: string | null]

/** What one mail says, before it is written as text and as HTML. What users wrote may stand anywhere in it, as it is. */
export type MailContent = {
  /** Without the prefix of the channel. */
  subject: string
  /** One sentence that says what happened. */
  headline: string
  facts: readonly Fact[]
  /** What comes of it, or what to do. */
  next?: string | undefined
}

/** Every event that a channel is mailed of: those it may ask for, and its own trial. */
export type MailedEvent = FilterableEvent | 'notification_channel.tested'

/** Writes the mail of one event. */
export type Template<Facts> = (facts: Facts) => MailContent

/** What every mail can say of its event. */
export type EventFacts = {
  type: MailedEvent
  /** An instant in UTC. */
  at: string
  /** Who caused it, to begin a sentence with: `Ada Lovelace`, `The operator`, `Sallyport`. */
  actor: string
  /** The tenant's time zone. */
  zone: string
  subject_id: string
  data: Record<string, unknown>
}

export type Person = { id: string; name: string; email: string }

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
    /** The holder caused the event. */
    is_own: boolean
    /** What was said when it was asked for. */
    reason: string | null
    status: 'pending' | 'active' | 'expired' | 'revoked' | 'failed'
    expires_at: string | null
    end_reason: string | null
    /** What the target last answered instead. */
    last_error: string | null
    /** Where it is given; null where that is gone, or not yet known. */
    provisioner: string | null
    /** Whether what is changed there by hand is put right. */
    corrects_drift: boolean
  }

/** An administrative event: a record of the tenant was changed. */
export type RecordFacts = EventFacts & {
  subject_type: string
  /** Null where it is gone, or has none. */
  name: string | null
  /** Names by the ids of users and roles that the event names; those that are gone are not there. */
  people: Readonly<Record<string, string>>
  roles: Readonly<Record<string, string>>
}
