/**
 * Who is told what: the one table of what people are told of requests and grants, and of what would keep them from being
 * told. docs/reference/notifications.md is made from it. The strings that users wrote (names, reasons, ids) stand in the texts as data: on one line, shortened, never
 * markup.
 */
import type { EventType } from '../events/catalogue.ts'
import { duration, line, moment } from '../kernel/plain-words.ts'
import type { Scope } from '../permissions/permission.ts'
import type { ChannelFacts, GrantFacts, RequestFacts } from './told-facts.ts'

/** Whom something is told to. */
export const audiences = {
  requester: 'whoever asked',
  holder: 'whoever holds the access',
  eligible_approvers: 'those who may decide that very request, by policy',
  every_approver: 'everybody who holds `requests:approve`, but whoever asked',
  administrators: 'everybody who holds `policies:write` or `users:write`',
  channel_keepers: 'everybody who holds `notification_channels:write`',
} as const
export type Audience = keyof typeof audiences
export type RequestAudience = Exclude<Audience, 'holder' | 'channel_keepers'>

/** Those who can have a request decided that nobody may decide: by a rule, or by making somebody an approver. */
export const mendingScopes: readonly Scope[] = ['policies:write', 'users:write']

/** `holds`: only then; `means` says it in words. */
type Condition<Facts> = { means: string; holds(facts: Facts): boolean }

/** What one audience is told. */
export type Telling<To extends Audience, Facts> = {
  to: To
  when?: Condition<Facts>
  title: string
  body(facts: Facts): string
}

export type RequestEvent = Extract<EventType, `request.${string}`>
export type GrantEvent = Extract<EventType, `grant.${string}`>
export const channelEvent = 'notification_channel.disabled' satisfies EventType

type ToldTable = { [Type in RequestEvent]: readonly Telling<RequestAudience, RequestFacts>[] } & {
  [Type in GrantEvent]: readonly Telling<'holder', GrantFacts>[]
} & { [channelEvent]: readonly Telling<'channel_keepers', ChannelFacts>[] }

/** A rule or an emergency has else decided already: nobody is waited for. */
const aPersonDecides: Condition<RequestFacts> = {
  means: 'a person has to decide',
  holds: ({ approval_mode }) => approval_mode === 'require',
}

const stillWaits: Condition<RequestFacts> = {
  means: 'it still waits',
  holds: ({ waits_until }) => waits_until !== null,
}

const bySomebodyElse: Condition<RequestFacts> = {
  means: 'somebody else did it',
  holds: ({ actor_id, requester_id }) => actor_id !== requester_id,
}

/** An access that ended and still needs taking away; one that never began has failed outright. */
const afterItsEnd: Condition<GrantFacts> = { means: 'it had ended', holds: hasEnded }
const beforeItsEnd: Condition<GrantFacts> = { means: 'it had not ended', holds: (facts) => !hasEnded(facts) }

/** Every event of a request or a grant, and what is told of it to whom. */
export const toldTable: ToldTable = {
  'request.created': [
    {
      to: 'eligible_approvers',
      when: aPersonDecides,
      title: 'Access requested',
      body: (facts) =>
        `${line(facts.requester_name)} asks for ${what(facts)} for ${duration(facts.duration_seconds)}${because(facts)}.`,
    },
  ],
  'request.reminded': [
    {
      to: 'eligible_approvers',
      when: stillWaits,
      title: 'A request still waits',
      body: (facts) =>
        `${line(facts.requester_name)} still waits for ${what(facts)} for ${duration(facts.duration_seconds)}${because(facts)}. Nobody has decided yet${unlessDecided(facts)}.`,
    },
  ],
  'request.unapprovable': [
    {
      to: 'administrators',
      when: stillWaits,
      title: 'Nobody may approve a request',
      body: (facts) =>
        `${line(facts.requester_name)} asks for ${what(facts)} for ${duration(facts.duration_seconds)}${because(facts)}. As rules and roles are now, nobody may approve it${unlessDecided(facts)}.`,
    },
  ],
  'request.break_glass': [
    {
      to: 'every_approver',
      title: 'Emergency access taken',
      body: (facts) =>
        `${line(facts.requester_name)} took ${what(facts)} in an emergency, for ${duration(facts.duration_seconds)}, without an approver${because(facts)}.`,
    },
  ],
  'request.approved': [
    {
      to: 'requester',
      title: 'Request approved',
      body: (facts) =>
        `${what(facts)} for ${duration(facts.duration_seconds)} was approved by ${facts.decided_by_name === null ? 'rule' : line(facts.decided_by_name)}. It begins once the target has confirmed it.`,
    },
  ],
  'request.denied': [
    {
      to: 'requester',
      title: 'Request denied',
      body: (facts) => `${what(facts)} was denied${by(facts.decided_by_name)}${said(facts.decision_reasoning)}.`,
    },
  ],
  'request.expired': [
    {
      to: 'requester',
      title: 'Request expired',
      body: (facts) => `Nobody decided in time about ${what(facts)}. Ask again if you still need it.`,
    },
  ],
  'request.cancelled': [
    {
      to: 'requester',
      when: bySomebodyElse,
      title: 'Request cancelled',
      body: (facts) => `Your request for ${what(facts)} was cancelled${by(facts.actor_name)}.`,
    },
  ],
  // Whoever asked has the answer already, and there is no request.
  'request.refused': [],
  'grant.activated': [
    {
      to: 'holder',
      title: 'Access is active',
      body: (facts) => `${line(facts.name)} is yours${until(facts)}.`,
    },
  ],
  'grant.expiring': [
    {
      to: 'holder',
      title: 'Access ends soon',
      body: (facts) => `${line(facts.name)} ends${at(facts)}. Ask again if you need it for longer.`,
    },
  ],
  'grant.expired': [
    {
      to: 'holder',
      title: 'Access ended',
      body: (facts) => `${line(facts.name)} ended${at(facts)}.`,
    },
  ],
  'grant.revoked': [
    {
      to: 'holder',
      title: 'Access revoked',
      body: (facts) => `${line(facts.name)} was ended early${by(endedBy(facts))}.`,
    },
  ],
  'grant.failed': [
    {
      to: 'holder',
      when: beforeItsEnd,
      title: 'Access could not be given',
      body: (facts) =>
        `${line(facts.name)} could not be given${said(facts.end_reason)}. Try again, or ask whoever runs Sallyport.`,
    },
    {
      to: 'holder',
      when: afterItsEnd,
      title: 'Access not yet taken away',
      body: (facts) =>
        `${line(facts.name)} has ended, but the target has not yet taken it away. This goes on until it is gone.`,
    },
  ],
  'grant.drifted': [
    {
      to: 'holder',
      when: beforeItsEnd,
      title: 'Access was changed by hand',
      body: (facts) => `${line(facts.name)} was removed at its target by hand.`,
    },
    {
      to: 'holder',
      when: afterItsEnd,
      title: 'Access was changed by hand',
      body: (facts) => `${line(facts.name)} has ended and was taken away, and was added again at its target by hand.`,
    },
  ],
  // It is told how it ends: active, or failed again.
  'grant.retried': [],
  [channelEvent]: [
    {
      to: 'channel_keepers',
      title: 'A channel was switched off',
      body: ({ name }) =>
        `The receiver of ${line(name)} says that it is gone for good. Nothing goes there until somebody switches the channel on again.`,
    },
  ],
}

/** The events of which somebody is told. */
export const toldEvents = (Object.keys(toldTable) as (keyof ToldTable)[]).filter((type) => toldTable[type].length > 0)

export function isGrantEvent(type: string): type is GrantEvent {
  return type.startsWith('grant.') && Object.hasOwn(toldTable, type)
}

export function isRequestEvent(type: string): type is RequestEvent {
  return type.startsWith('request.') && Object.hasOwn(toldTable, type)
}

/** What one audience is told, as they read it. */
export type Notice<To extends Audience> = { to: To; title: string; body: string }

/** Whom the event of a request is told to, and how. */
export function noticesOfRequest(type: RequestEvent, facts: RequestFacts): Notice<RequestAudience>[] {
  return noticesOf(toldTable[type], facts)
}

/** Whom the event of a grant is told to, and how. */
export function noticesOfGrant(type: GrantEvent, facts: GrantFacts): Notice<'holder'>[] {
  return noticesOf(toldTable[type], facts)
}

/** Whom the end of a channel is told to, and how. */
export function noticesOfChannel(facts: ChannelFacts): Notice<'channel_keepers'>[] {
  return noticesOf(toldTable[channelEvent], facts)
}

function noticesOf<To extends Audience, Facts>(tellings: readonly Telling<To, Facts>[], facts: Facts): Notice<To>[] {
  return tellings
    .filter(({ when }) => when === undefined || when.holds(facts))
    .map(({ to, title, body }) => ({ to, title, body: body(facts) }))
}

function hasEnded({ status }: GrantFacts): boolean {
  return status === 'expired' || status === 'revoked'
}

function endedBy({ ended_by, ended_by_name, holder_id }: GrantFacts): string | null {
  return ended_by === holder_id ? 'yourself' : ended_by_name
}

function unlessDecided({ waits_until }: RequestFacts): string {
  return waits_until === null ? '' : `; without a decision it expires at ${moment(waits_until)}`
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
