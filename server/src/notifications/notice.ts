/**
 * What people are told of an event, and who of them. The strings that users wrote (names, reasons, ids) stand in the
 * texts as data: on one line, shortened, never markup.
 */
import { duration, line, moment } from '../kernel/plain-words.ts'

/** A request as its notices need it. Names are null where nobody is known by them. */
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
  /** Null: no person decided. */
  decided_by_name: string | null
  /** Who caused the event, and their name; null: the service itself. */
  actor_id: string | null
  actor_name: string | null
}

/** A grant as its notices need it. */
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

/** Whom a notice of a request goes to; undefined: to nobody. */
type RequestAudience = 'eligible_approvers' | 'every_approver' | 'requester'

type RequestNotice = {
  to(facts: RequestFacts): RequestAudience | undefined
  title: string
  body(facts: RequestFacts): string
}

type GrantNotice = { title(facts: GrantFacts): string; body(facts: GrantFacts): string }

const toRequester = (): RequestAudience => 'requester'

/** Notices of requests. */
export const requestNotices = {
  'request.created': {
    // A rule or an emergency has decided already: nobody is waited for.
    to: ({ approval_mode }) => (approval_mode === 'require' ? 'eligible_approvers' : undefined),
    title: 'Access requested',
    body: (facts) =>
      `${line(facts.requester_name)} asks for ${what(facts)} for ${duration(facts.duration_seconds)}${because(facts)}.`,
  },
  'request.break_glass': {
    to: () => 'every_approver',
    title: 'Emergency access taken',
    body: (facts) =>
      `${line(facts.requester_name)} took ${what(facts)} in an emergency, for ${duration(facts.duration_seconds)}, without an approver${because(facts)}.`,
  },
  'request.approved': {
    to: toRequester,
    title: 'Request approved',
    body: (facts) =>
      `${what(facts)} for ${duration(facts.duration_seconds)} was approved by ${facts.decided_by_name === null ? 'rule' : line(facts.decided_by_name)}. It begins once the target has confirmed it.`,
  },
  'request.denied': {
    to: toRequester,
    title: 'Request denied',
    body: (facts) => `${what(facts)} was denied${by(facts.decided_by_name)}${said(facts.decision_reasoning)}.`,
  },
  'request.expired': {
    to: toRequester,
    title: 'Request expired',
    body: (facts) => `Nobody decided in time about ${what(facts)}. Ask again if you still need it.`,
  },
  'request.cancelled': {
    to: ({ actor_id, requester_id }) => (actor_id === requester_id ? undefined : 'requester'),
    title: 'Request cancelled',
    body: (facts) => `Your request for ${what(facts)} was cancelled${by(facts.actor_name)}.`,
  },
} as const satisfies Record<string, RequestNotice>

/** Notices of grants; they all go to the holder. */
export const grantNotices = {
  'grant.activated': {
    title: () => 'Access is active',
    body: (facts) => `${line(facts.name)} is yours${until(facts)}.`,
  },
  'grant.expiring': {
    title: () => 'Access ends soon',
    body: (facts) => `${line(facts.name)} ends${at(facts)}. Ask again if you need it for longer.`,
  },
  'grant.expired': {
    title: () => 'Access ended',
    body: (facts) => `${line(facts.name)} ended${at(facts)}.`,
  },
  'grant.revoked': {
    title: () => 'Access revoked',
    body: (facts) => `${line(facts.name)} was ended early${by(endedBy(facts))}.`,
  },
  'grant.failed': {
    title: (facts) => (hasEnded(facts) ? 'Access not yet taken away' : 'Access could not be given'),
    body: (facts) =>
      hasEnded(facts)
        ? `${line(facts.name)} has ended, but the target has not yet taken it away. This goes on until it is gone.`
        : `${line(facts.name)} could not be given${said(facts.end_reason)}. Try again, or ask whoever runs Sallyport.`,
  },
  'grant.drifted': {
    title: () => 'Access was changed by hand',
    body: (facts) =>
      hasEnded(facts)
        ? `${line(facts.name)} has ended and was taken away, and was added again at its target by hand.`
        : `${line(facts.name)} was removed at its target by hand.`,
  },
} as const satisfies Record<string, GrantNotice>

export type RequestEvent = keyof typeof requestNotices
export type GrantEvent = keyof typeof grantNotices

export function isRequestEvent(type: string): type is RequestEvent {
  return Object.hasOwn(requestNotices, type)
}

export function isGrantEvent(type: string): type is GrantEvent {
  return Object.hasOwn(grantNotices, type)
}

/** Title and body, as the people concerned read them. */
export type Notice = { title: string; body: string }

/** Whom the event of a request is told to, and how; undefined when nobody is told. */
export function noticeOfRequest(
  type: RequestEvent,
  facts: RequestFacts,
): (Notice & { to: RequestAudience }) | undefined {
  const notice: RequestNotice = requestNotices[type]
  const to = notice.to(facts)
  return to && { to, title: notice.title, body: notice.body(facts) }
}

/** How the event of a grant is told to its holder. */
export function noticeOfGrant(type: GrantEvent, facts: GrantFacts): Notice {
  const { title, body } = grantNotices[type]
  return { title: title(facts), body: body(facts) }
}

/** An access that ended and still needs taking away; one that never began has failed outright. */
function hasEnded({ status }: GrantFacts): boolean {
  return status === 'expired' || status === 'revoked'
}

function endedBy({ ended_by, ended_by_name, holder_id }: GrantFacts): string | null {
  return ended_by === holder_id ? 'yourself' : ended_by_name
}

function what({ action, resource_type, resource_id }: RequestFacts): string {
  return `${line(action)} on ${resource_type} ${line(resource_id)}`
}

function by(name: string | null): string {
  return name === null ? '' : ` by ${line(name)}`
}

function because({ reason }: RequestFacts): string {
  return said(reason)
}

function said(text: string | null): string {
  const words = text === null ? '' : line(text)
  return words === '' ? '' : `: “${words}”`
}

function until({ expires_at }: GrantFacts): string {
  return expires_at === null ? '' : ` until ${moment(expires_at)}`
}

function at({ expires_at }: GrantFacts): string {
  return expires_at === null ? '' : ` at ${moment(expires_at)}`
}
