/**
 * Notification rules: who is notified of which event, on which condition, and when the notification is mailed too. The texts are in
 * messages/. docs/reference/notifications.md is generated from this table.
 */
import type { EventType } from '../events/catalogue.ts'
import type { GrantEvent, GrantFacts, RecordFacts, RequestEvent, RequestFacts } from '../messages/event-facts.ts'
import type { Scope } from '../permissions/permission.ts'
import type { NotificationKind } from './notification-kind.ts'

type About = {
  means: string
  /** Why a reader gets the mail: `You get this mail because …`. */
  because(tenant: string): string
  /** Who is in the audience holds one of these; absent: it is about something of their own. */
  scopes?: readonly Scope[]
}

/** Who holds this may decide requests, where policy permits it. */
export const decidingScope = 'requests:approve' satisfies Scope

/** Who is notified. */
export const audiences = {
  requester: { means: 'the requester', because: (tenant) => `it is your request in ${tenant}` },
  holder: { means: 'the holder of the access', because: (tenant) => `it is your access in ${tenant}` },
  eligible_approvers: {
    means:
      'users who may decide this request, by policy, except those whose [groups are not notified](../guides/notifications.md#groups-that-are-not-notified)',
    because: (tenant) => `you may decide this request in ${tenant}`,
    scopes: [decidingScope],
  },
  every_approver: {
    means: 'every user with `requests:approve`, except the requester',
    because: (tenant) => `you may approve requests in ${tenant}`,
    scopes: [decidingScope],
  },
  administrators: {
    means: 'every user with `policies:write` or `users:write`',
    because: (tenant) => `you may change policies or users in ${tenant}`,
    // They can fix a request that no user may decide: by changing a rule, or by appointing an approver.
    scopes: ['policies:write', 'users:write'],
  },
  channel_keepers: {
    means: 'every user with `notification_channels:write`',
    because: (tenant) => `you may change notification channels in ${tenant}`,
    scopes: ['notification_channels:write'],
  },
  person: {
    means: 'the user concerned',
    because: (tenant) => `it is your account in ${tenant}`,
  },
  owners: {
    means: 'every owner of the tenant, except the user concerned, and the one who did it other than by an API key',
    because: (tenant) => `you are an owner of ${tenant}`,
  },
} as const satisfies Record<string, About>
export type Audience = keyof typeof audiences
export type RequestAudience = Exclude<Audience, 'holder' | 'channel_keepers' | 'owners' | 'person'>

/** Of a comment, the audience depends on who wrote it. */
export const otherSide = 'the requester; of the requester’s own comment, users who may decide this request, as above'

/** Whom a rule names. `is_own`: the requester caused the event. */
export function audienceOf<To extends Audience>(to: To | 'other_side', is_own: boolean): To | RequestAudience {
  return to === 'other_side' ? (is_own ? 'eligible_approvers' : 'requester') : (to as To)
}

type Condition<Facts> = { means: string; holds(facts: Facts): boolean }

/**
 * `when`: the condition on which people are notified. `mail_when`: on which the notification is mailed too. It is asked when the
 * notification is written, and both are asked again before the mail is sent: a mail that comes late must still be of use.
 */
export type Rule<To extends Audience, Facts> = {
  to: To | (To extends RequestAudience ? 'other_side' : never)
  kind: NotificationKind
  when?: Condition<Facts>
  mail_when?: Condition<Facts>
}

export const channelEvent = 'notification_channel.disabled' satisfies EventType
const suspensionEvent = 'user.suspended' satisfies EventType
const theftEvent = 'user.refresh_token_reused' satisfies EventType
const keptOwnerEvent = 'user.removal_refused' satisfies EventType

/** The events of a user that somebody is notified of. */
const userEvents = [suspensionEvent, theftEvent, keptOwnerEvent] as const
export type UserEvent = (typeof userEvents)[number]

export function isUserEvent(type: EventType): type is UserEvent {
  return userEvents.some((one) => one === type)
}

/** The events of a directory that the owners are notified of. */
const directoryEvents = ['identity_provider.mass_removal', 'identity_provider.sync_failed'] as const
export type DirectoryEvent = (typeof directoryEvents)[number]

export function isDirectoryEvent(type: EventType): type is DirectoryEvent {
  return directoryEvents.some((one) => one === type)
}

/** Of what happened to a user. */
export type UserRule = Rule<'owners' | 'person', RecordFacts>

/** Every event of a request or a grant; null: no notification. */
type Rules = {
  [Type in Extract<EventType, `request.${string}` | `grant.${string}`>]: Type extends RequestEvent
    ? Rule<RequestAudience, RequestFacts>
    : Type extends GrantEvent
      ? Rule<'holder', GrantFacts>
      : null
} & {
  [channelEvent]: Rule<'channel_keepers', RecordFacts>
  [suspensionEvent]: Rule<'owners', RecordFacts>
  [theftEvent]: Rule<'person', RecordFacts>
  [keptOwnerEvent]: Rule<'person', RecordFacts>
} & Record<DirectoryEvent, Rule<'owners', RecordFacts>>

/** In the other modes, a rule or an emergency has already decided. */
const aPersonDecides = {
  means: 'a person has to decide',
  holds: ({ approval_mode }: RequestFacts) => approval_mode === 'require',
}
const stillWaits = { means: 'it still waits', holds: ({ waits_until }: RequestFacts) => waits_until !== null }
const notExtended = {
  means: 'it was not extended',
  holds: ({ extended_until }: GrantFacts) => extended_until === null,
}
const otherSideIsThere = {
  means: 'another user wrote it or it still waits',
  holds: (facts: RequestFacts) => !facts.is_own || stillWaits.holds(facts),
}
const byAnotherUser = { means: 'another user did it', holds: ({ is_own }: { is_own: boolean }) => !is_own }
/** Of what a rule approved, the requester has the answer, and a mail once the access begins. */
const aPersonDecided = { means: 'a person decided', holds: aPersonDecides.holds }
/** Otherwise the access was given after all, or has been taken away. */
const stillSo = {
  means: 'it is still so',
  holds: ({ status, provisioning_status }: GrantFacts) =>
    status === 'failed' || ((status === 'expired' || status === 'revoked') && provisioning_status !== 'deprovisioned'),
}
const goesOn = { means: 'it goes on', holds: ({ status }: GrantFacts) => status === 'active' }

/** Who is notified of what. */
export const notificationRules: Rules = {
  'request.created': { to: 'eligible_approvers', kind: 'decision_needed', when: aPersonDecides, mail_when: stillWaits },
  'request.reminded': { to: 'eligible_approvers', kind: 'decision_needed', when: stillWaits },
  'request.commented': { to: 'other_side', kind: 'comment', when: otherSideIsThere },
  'request.unapprovable': { to: 'administrators', kind: 'administration', when: stillWaits },
  'request.break_glass': { to: 'every_approver', kind: 'emergency' },
  'request.approved': { to: 'requester', kind: 'request_decided', mail_when: aPersonDecided },
  'request.denied': { to: 'requester', kind: 'request_decided' },
  'request.expired': { to: 'requester', kind: 'request_decided' },
  'request.cancelled': { to: 'requester', kind: 'request_decided', when: byAnotherUser },
  // The requester has the answer already, and there is no request.
  'request.refused': null,
  'grant.activated': { to: 'holder', kind: 'access_active', mail_when: goesOn },
  'grant.expiring': { to: 'holder', kind: 'access_ending', when: notExtended, mail_when: goesOn },
  'grant.expired': { to: 'holder', kind: 'access_ended', when: notExtended },
  'grant.revoked': { to: 'holder', kind: 'access_revoked', mail_when: byAnotherUser },
  'grant.failed': { to: 'holder', kind: 'access_failed', mail_when: stillSo },
  'grant.drifted': { to: 'holder', kind: 'access_failed' },
  // Only its holder can do it.
  'grant.credentials_issued': { to: 'holder', kind: 'access_active', when: byAnotherUser },
  'grant.objects_left': { to: 'holder', kind: 'access_ended' },
  // The result is a separate event: active, or failed again.
  'grant.end_moved': null,
  'grant.retried': null,
  [channelEvent]: { to: 'channel_keepers', kind: 'administration' },
  [suspensionEvent]: { to: 'owners', kind: 'security' },
  [theftEvent]: { to: 'person', kind: 'security' },
  [keptOwnerEvent]: { to: 'person', kind: 'security' },
  'identity_provider.mass_removal': { to: 'owners', kind: 'security' },
  'identity_provider.sync_failed': { to: 'owners', kind: 'administration' },
}

/** The events that have a notification rule. */
export const notifiedEvents = (Object.keys(notificationRules) as (keyof Rules)[]).filter(
  (type) => notificationRules[type] !== null,
)

/** Whether the rule applies to these facts. */
export function applies<To extends Audience, Facts>({ when }: Rule<To, Facts>, facts: Facts): boolean {
  return when === undefined || when.holds(facts)
}

/** Whether the notification is to be mailed, if the person wants that. */
export function isMailed<To extends Audience, Facts>(rule: Rule<To, Facts>, facts: Facts): boolean {
  return applies(rule, facts) && (rule.mail_when === undefined || rule.mail_when.holds(facts))
}

/** What a person has and is now. */
export type Reader = { scopes: readonly string[]; is_owner: boolean }

/**
 * Whether the reader still belongs to those who are notified, as far as their rights say: they may have lost them since. Policy is not
 * asked again.
 */
export function isStillOf(audience: Audience, { scopes, is_owner }: Reader): boolean {
  if (audience === 'owners') return is_owner
  const about: About = audiences[audience]
  return about.scopes === undefined || about.scopes.some((scope) => scopes.includes(scope))
}
