/** What the table of who is told what needs to know of that which an event is about. */

/** A request as what is told of it needs it. Names are null where nobody is known by them. */
export type RequestFacts = {
  requester_id: string
  requester_name: string
  resource_type: string
  resource_id: string
  action: string
  reason: string | null
  approval_mode: 'require' | 'auto' | 'break_glass'
  duration_seconds: number
  decision_reasoning: string | null
  /** When it expires without a decision; null once it does not wait any more. */
  waits_until: string | null
  /** Null: no person decided. */
  decided_by_name: string | null
  /** Who caused the event, and their name; null: the service itself. */
  actor_id: string | null
  actor_name: string | null
}

/** A grant as what is told of it needs it. */
export type GrantFacts = {
  holder_id: string
  /** What on which resource: `ReadOnlyAccess on cloud_account 123456789012`. */
  name: string
  status: string
  expires_at: string | null
  ended_by: string | null
  ended_by_name: string | null
  /** Why, in words; null where nobody said. */
  end_reason: string | null
}

/** A notification channel as what is told of it needs it. */
export type ChannelFacts = { name: string }
