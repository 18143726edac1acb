import { type AccountPolicyView, unknownAccount } from '../cloud/cloud-account.ts'
import type {
  ApproveQuestion,
  AskQuestion,
  Principal,
  RequestContext,
  Resource,
} from '../policy-engine/cedar/question.ts'
import type { Settings } from '../settings/setting.ts'
import type { RequestDecision } from './decision.ts'
import type { Place } from './place.ts'
import { hasReason, type ResourceReference } from './request.ts'

/** The requested access, as recorded. Policy evaluates it several times. */
export type RequestedAccess = {
  id: string
  resource: ResourceReference
  action: string
  reason: string | null
  duration_seconds: number
  break_glass: boolean
  metadata: Record<string, unknown>
  places: readonly Place[]
  /** The account that contains the resource, where it is known. */
  home: string | undefined
}

/** The circumstances in which the request or the decision was made. */
export type Circumstances = Pick<RequestContext, 'now' | 'via' | 'source_ip'>

type Known = { accounts: ReadonlyMap<string, AccountPolicyView>; settings: Settings }

/**
 * May this principal have the requested access? Evaluated for the resource, and for every account that the request fans out to.
 * For a permission set each account is also evaluated with the set as the action, because the `action` that the requester wrote
 * gives no access there.
 */
export function askQuestion(
  principal: Principal,
  requested: Omit<RequestedAccess, 'id'>,
  when: Circumstances,
  known: Known,
): AskQuestion {
  return {
    principal,
    action: requested.action,
    resources: [...resourcesOf(requested, known.accounts), ...setsAsActions(requested.places, known.accounts)],
    context: contextOf(requested, when, known.settings),
  }
}

/** May this principal decide the request? Evaluated for the resource, and for every account that the request fans out to. */
export function approveQuestion(
  principal: Principal,
  requester: Principal,
  requested: RequestedAccess,
  when: Circumstances,
  known: Known,
): ApproveQuestion {
  const { id, action, duration_seconds, break_glass } = requested
  return {
    principal,
    request: { id, requester, action, duration_seconds, break_glass },
    targets: resourcesOf(requested, known.accounts),
    context: contextOf(requested, when, known.settings),
  }
}

function contextOf(requested: Omit<RequestedAccess, 'id'>, when: Circumstances, settings: Settings): RequestContext {
  return {
    ...when,
    duration_seconds: requested.duration_seconds,
    has_reason: hasReason(requested.reason),
    break_glass: requested.break_glass,
    time_zone: settings['timezone.default'],
  }
}

/** The resource itself, then each place that is a different resource. */
function resourcesOf(
  requested: Pick<RequestedAccess, 'resource' | 'places' | 'home'>,
  accounts: ReadonlyMap<string, AccountPolicyView>,
): Resource[] {
  const others = requested.places.filter(
    (place) => place.type !== requested.resource.type || place.id !== requested.resource.id,
  )
  return [
    resourceOf(requested.resource, requested.home, accounts),
    ...others.map((place) => resourceOf(place, place.id, accounts)),
  ]
}

function setsAsActions(places: readonly Place[], accounts: ReadonlyMap<string, AccountPolicyView>): Resource[] {
  return places.flatMap(({ permission_set, ...place }) =>
    permission_set === undefined ? [] : [{ ...resourceOf(place, place.id, accounts), as_action: permission_set }],
  )
}

/** What policy may know of a resource: from the account cache and the resource's id, never from the requester. */
function resourceOf(
  { type, id }: ResourceReference,
  home: string | undefined,
  accounts: ReadonlyMap<string, AccountPolicyView>,
): Resource {
  const account = home === undefined ? undefined : (accounts.get(home) ?? unknownAccount)
  const units = (account?.organizational_unit_ids ?? []).map((unit) => ({
    type: 'cloud_organizational_unit' as const,
    id: unit,
  }))
  if (type === 'cloud_account')
    return { type, id, name: account?.name ?? '', tags: account?.tags ?? {}, parents: units }
  const parents = home === undefined ? [] : [{ type: 'cloud_account' as const, id: home }, ...units]
  return { type, id, name: '', tags: {}, parents }
}

/** The time span of a search for decisions: after `since`, up to and including `until`. */
export type Span = { since: Date; until: Date }

/** A past question as it is evaluated now: with the recorded circumstances, and with current people and accounts. */
export type RecordedQuestion = {
  /** The id of the decision that answered it. */
  id: string
  /** Null where the request was refused: a refused request is not stored. */
  request_id: string | null
  decided_at: string
  requester_id: string
  question: Pick<RequestDecision['question'], 'resource' | 'action' | 'duration_seconds' | 'break_glass'>
} & ({ kind: 'ask'; policyQuestion: AskQuestion } | { kind: 'approve'; policyQuestion: ApproveQuestion })
