/**
 * Notification rules: who is notified of which event, and on which condition. The texts are in messages/.
 * docs/reference/notifications.md is generated from this table.
 */
import type { EventType } from '../events/catalogue.ts'
import type { GrantEvent, GrantFacts, RecordFacts, RequestEvent, RequestFacts } from '../messages/event-facts.ts'
import type { Scope } from '../permissions/permission.ts'

/** Who is notified. */
export const audiences = {
  requester: 'the requester',
  holder: 'the holder of the access',
  eligible_approvers: 'users who may decide this request, by policy',
  other_side: 'the requester; of the requester’s own comment, users who may decide this request, by policy',
  every_approver: 'every user with `requests:approve`, except the requester',
  administrators: 'every user with `policies:write` or `users:write`',
  channel_keepers: 'every user with `notification_channels:write`',
  owners: 'every owner of the tenant, except the user concerned, and the one who did it other than by an API key',
} as const
export type Audience = keyof typeof audiences
export type RequestAudience = Exclude<Audience, 'holder' | 'channel_keepers' | 'owners'>

/** Scopes of users who can fix a request that no user may decide: by changing a rule, or by appointing an approver. */
export const repairScopes: readonly Scope[] = ['policies:write', 'users:write']

/** `when`: the condition, if any; `means` is its description. */
export type Rule<To extends Audience, Facts> = { to: To; when?: { means: string; holds(facts: Facts): boolean } }

export const channelEvent = 'notification_channel.disabled' satisfies EventType
export const suspensionEvent = 'user.suspended' satisfies EventType

/** Every event of a request or a grant; null: no notification. */
type Rules = {
  [Type in Extract<EventType, `request.${string}` | `grant.${string}`>]: Type extends RequestEvent
    ? Rule<RequestAudience, RequestFacts>
    : Type extends GrantEvent
      ? Rule<'holder', GrantFacts>
      : null
} & { [channelEvent]: Rule<'channel_keepers', RecordFacts>; [suspensionEvent]: Rule<'owners', RecordFacts> }

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
const byAnotherUser = { means: 'another user did it', holds: ({ is_own }: RequestFacts) => !is_own }

/** Who is notified of what. */
export const notificationRules: Rules = {
  'request.created': { to: 'eligible_approvers', when: aPersonDecides },
  'request.reminded': { to: 'eligible_approvers', when: stillWaits },
  'request.commented': { to: 'other_side', when: otherSideIsThere },
  'request.unapprovable': { to: 'administrators', when: stillWaits },
  'request.break_glass': { to: 'every_approver' },
  'request.approved': { to: 'requester' },
  'request.denied': { to: 'requester' },
  'request.expired': { to: 'requester' },
  'request.cancelled': { to: 'requester', when: byAnotherUser },
  // The requester has the answer already, and there is no request.
  'request.refused': null,
  'grant.activated': { to: 'holder' },
  'grant.expiring': { to: 'holder', when: notExtended },
  'grant.expired': { to: 'holder', when: notExtended },
  'grant.revoked': { to: 'holder' },
  'grant.failed': { to: 'holder' },
  'grant.drifted': { to: 'holder' },
  // The result is a separate event: active, or failed again.
  'grant.retried': null,
  [channelEvent]: { to: 'channel_keepers' },
  [suspensionEvent]: { to: 'owners' },
}

/** The events that have a notification rule. */
export const notifiedEvents = (Object.keys(notificationRules) as (keyof Rules)[]).filter(
  (type) => notificationRules[type] !== null,
)

/** Whether the rule applies to these facts. */
export function applies<To extends Audience, Facts>({ when }: Rule<To, Facts>, facts: Facts): boolean {
  return when === undefined || when.holds(facts)
}
