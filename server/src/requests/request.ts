import { type Static, Type } from 'typebox'
import { ActionDescription } from '../actions/action.ts'
import { recordTag } from '../http/if-match.ts'
import { AnyObject, DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { Limit } from '../kernel/bucket.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { idForms } from '../policy-engine/cedar/reference-faults.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { riskFields } from './risk.ts'

export const requestStatuses = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const
export type RequestStatus = (typeof requestStatuses)[number]

export const ResourceReference = Type.Object(
  {
    type: OneOf(askedTypes),
    id: Type.String({ minLength: 1, maxLength: 2_048, description: `the format depends on the type. ${idForms}` }),
  },
  { additionalProperties: false, title: 'ResourceReference' },
)
export type ResourceReference = Static<typeof ResourceReference>

/** An access request as the API returns it. */
export const AccessRequest = Type.Object(
  {
    id: Uuid,
    requester_id: Type.String({ description: 'the user who made the request: the subject of their token' }),
    resource: ResourceReference,
    action: Type.String(),
    reason: Nullable(Type.String()),
    status: OneOf(requestStatuses),
    decision_reasoning: Nullable(
      Type.String({ description: 'the reason for the decision, from the approver or the rule that decided' }),
    ),
    decided_by: Nullable(Type.String({ description: 'the user who approved or denied it' })),
    approval_mode: Nullable(OneOf(['require', 'auto', 'break_glass'])),
    break_glass: Type.Boolean(),
    duration_seconds: Nullable(Type.Integer()),
    metadata: AnyObject,
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'AccessRequest' },
)
export type AccessRequest = Static<typeof AccessRequest>

/** Earlier requests of the same kind are counted up to this number. */
export const maxSameRequests = 100

/** What a request extends, and what was approved of it. */
const furtherFields = {
  extends: Nullable(Type.String({ format: 'uuid', description: 'the grant that it makes last longer; null: none' })),
  approved_duration_seconds: Nullable(
    Type.Integer({ description: 'the shorter duration that the approver gave; null where it is the requested one' }),
  ),
  reminded_at: Nullable(
    Type.String({
      ...DateTime,
      description:
        'when its requester last reminded those who may decide it; null: never. Ten minutes later they may again',
    }),
  ),
}

/** A request with names beside its ids: those of people for everybody who may see the request. */
export const NamedAccessRequest = Type.Object(
  {
    ...AccessRequest.properties,
    ...furtherFields,
    ...riskFields,
    requester_name: Type.String(),
    decided_by_name: Nullable(Type.String({ description: 'null while no person decided it' })),
    resource_name: Nullable(
      Type.String({ description: 'the name of a cached cloud account; null where none is known' }),
    ),
    action_description: ActionDescription,
  },
  { title: 'NamedAccessRequest' },
)
export type NamedAccessRequest = Static<typeof NamedAccessRequest>

const RecentRequests = Type.Object(
  {
    same_requests: Type.Integer({
      minimum: 0,
      maximum: maxSameRequests,
      description: `for the same resource and action, extensions included, neither cancelled ones nor this one; ${maxSameRequests}: so many, or more`,
    }),
    denied: Type.Integer({ minimum: 0, maximum: maxSameRequests, description: 'how many of them were denied' }),
    usual_duration_seconds: Nullable(
      Type.Integer({
        description:
          'the median of the durations that were approved of them (of two in the middle, the shorter), without extensions; null: none was approved',
      }),
    ),
  },
  {
    title: 'RecentRequests',
    description:
      'what the requester asked for in the 30 days before this request, of their last 500 requests; for those who may decide',
  },
)

/** One request, with what the caller may do about it. */
export const AccessRequestDetail = Type.Object(
  {
    ...NamedAccessRequest.properties,
    may_decide: Type.Boolean({ description: 'whether you may approve or deny it now' }),
    why_not: Nullable(Type.String({ description: 'why you may not decide it, in words; null where you may' })),
    comment_count: Type.Integer({ description: 'how many comments it has, at most 100' }),
    requester_groups: Type.Optional(
      Type.Array(Type.String(), {
        description: 'the names of the requester’s groups, at most 50; for those who may decide',
      }),
    ),
    policy_name: Type.Optional(
      Nullable(Type.String({ description: 'the policy that let the request be made; for those who may decide' })),
    ),
    recent: Type.Optional(RecentRequests),
  },
  { title: 'AccessRequestDetail' },
)
export type AccessRequestDetail = Static<typeof AccessRequestDetail>

const stateFields = Object.keys(AccessRequest.properties) as (keyof AccessRequest)[]

/** The `ETag` of a request: of its own state, not of what its reader may do about it, nor of names. */
export function requestTag(
  request: AccessRequest & Partial<Pick<NamedAccessRequest, 'approved_duration_seconds' | 'reminded_at'>>,
): string {
  const { approved_duration_seconds = null, reminded_at = null } = request
  const state = Object.fromEntries(stateFields.map((name) => [name, request[name]]))
  return recordTag({ ...state, approved_duration_seconds, reminded_at })
}

/** When a requester reminded those who may decide, and when they may do so again. */
export const Reminded = Type.Object(
  {
    reminded_at: DateTime,
    next_at: Type.String({ ...DateTime, description: 'you may remind them again from then on' }),
  },
  { title: 'Reminded' },
)
export type Reminded = Static<typeof Reminded>

/** How often the requester of a request may remind those who may decide it. */
export const remindLimit: Limit = { name: 'reminder', quota: 1, seconds: 600 }

/** Who may decide a request, by name, as far as is known before they do. */
export const Deciders = Type.Object(
  {
    names: Type.Array(Type.String(), { description: 'at most 20, by name' }),
    count: Type.Integer({ description: 'how many, of the first 100 users who hold the scope' }),
    is_complete: Type.Boolean({ description: 'whether all who hold the scope were examined' }),
  },
  { title: 'Deciders' },
)
export type Deciders = Static<typeof Deciders>

/** What the requester should know in addition to the answer. */
export const RequestWarning = Type.Object(
  {
    code: OneOf(['nobody_may_approve'], {
      description:
        'nobody_may_approve: by the current rules and roles no user may approve it; creating the request notifies the administrators',
    }),
    message: Type.String({ description: 'the warning, as a sentence' }),
  },
  { title: 'RequestWarning' },
)
export type RequestWarning = Static<typeof RequestWarning>

/** A request as its creation returns it. */
export const CreatedRequest = Type.Object(
  {
    ...AccessRequest.properties,
    extends: furtherFields.extends,
    ...riskFields,
    warnings: Type.Optional(Type.Array(RequestWarning, { description: 'absent where there are none' })),
  },
  { title: 'CreatedRequest' },
)
export type CreatedRequest = Static<typeof CreatedRequest>

/** A request that fans out covers at most this many accounts. */
export const maxPlaces = 50

/** Pending requests of one user, at most: each is work for all who may decide it, and for the evaluation of who that is. */
export const maxPendingRequests = 100

/** An approver's or the system's reason for a decision. */
export const Reasoning = Nullable(Type.String({ maxLength: 2_000 }))

/** The duration that an approver gives; null: the requested one. Throws 400 for a longer one: an approver never gives more than was asked. */
export function shorterDuration(
  given: number | null | undefined,
  request: Pick<AccessRequest, 'duration_seconds'>,
): number | null {
  const requested = request.duration_seconds
  if (given === undefined || given === null || given === requested) return null
  if (requested === null || given < requested) return given
  throw invalidInput([{ pointer: '/duration_seconds', why: `must be at most ${requested}, the requested duration` }])
}

/** Why a user without the scope may not decide. */
export const needsApproveScope = 'deciding requests needs the scope `requests:approve`'

/** Throws 403 for the requester: no user decides their own request, neither by token nor by an API key that they created. */
export function requireMayDecide(actor: { user_id: string | null }, request: { requester_id: string }): void {
  if (actor.user_id === null || actor.user_id === request.requester_id) {
    throw new Problem('forbidden', 'you cannot decide your own request; ask another approver')
  }
}

/**
 * 409 for a decision or a comment that came too late, with the current status of the request and the user who decided it. One that is
 * still pending is past its deadline: the worker has not expired it yet.
 */
export function notPending({ status, decided_by }: { status: RequestStatus; decided_by: string | null }): Problem {
  const now = status === 'pending' ? 'expired' : status
  return new Problem('request_not_pending', `the request is not in pending state: it is ${now}`, {
    details: { status: now, ...(decided_by !== null && { decided_by }) },
  })
}

/** A request is visible to its requester, and to every user with `requests:read`. */
export function maySee(
  actor: { user_id: string | null; scopes: ReadonlySet<string> },
  request: { requester_id: string },
): boolean {
  return request.requester_id === actor.user_id || actor.scopes.has('requests:read')
}
