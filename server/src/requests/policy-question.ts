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

/** What was asked for, as it is recorded: policy is asked about it again and again. */
export type AskedRequest = {
  id: string
  resource: ResourceReference
  action: string
  reason: string | null
  duration_seconds: number
  break_glass: boolean
  metadata: Record<string, unknown>
  places: readonly Place[]
  /** The account that the resource lives in, where that is known. */
  home: string | undefined
}

/** The circumstances of the asking. */
export type Circumstances = Pick<RequestContext, 'now' | 'via' | 'source_ip'>

type Known = { accounts: ReadonlyMap<string, AccountPolicyView>; settings: Settings }

/**
 * May this principal have what they ask for? Asked of the resource, and of every account it fans out to; where that is a
 * permission set, about each account also as the action that the set is: the requester's own word for it gives nothing.
 */
export function askQuestion(
  principal: Principal,
  asked: Omit<AskedRequest, 'id'>,
  when: Circumstances,
  known: Known,
): AskQuestion {
  return {
    principal,
    action: asked.action,
    resources: [...resourcesOf(asked, known.accounts), ...setsAsActions(asked.places, known.accounts)],
    context: contextOf(asked, when, known.settings),
  }
}

/** May this principal decide the request? Asked in the resource, and in every account it fans out to. */
export function approveQuestion(
  principal: Principal,
  requester: Principal,
  asked: AskedRequest,
  when: Circumstances,
  known: Known,
): ApproveQuestion {
  const { id, action, duration_seconds, break_glass } = asked
  return {
    principal,
    request: { id, requester, action, duration_seconds, break_glass },
    targets: resourcesOf(asked, known.accounts),
    context: contextOf(asked, when, known.settings),
  }
}

function contextOf(asked: Omit<AskedRequest, 'id'>, when: Circumstances, settings: Settings): RequestContext {
  return {
    ...when,
    duration_seconds: asked.duration_seconds,
    has_reason: hasReason(asked.reason),
    break_glass: asked.break_glass,
    time_zone: settings['timezone.default'],
  }
}

/** The resource itself, then each place that is another one. */
function resourcesOf(
  asked: Pick<AskedRequest, 'resource' | 'places' | 'home'>,
  accounts: ReadonlyMap<string, AccountPolicyView>,
): Resource[] {
  const others = asked.places.filter((place) => place.type !== asked.resource.type || place.id !== asked.resource.id)
  return [
    resourceOf(asked.resource, asked.home, accounts),
    ...others.map((place) => resourceOf(place, place.id, accounts)),
  ]
}

function setsAsActions(places: readonly Place[], accounts: ReadonlyMap<string, AccountPolicyView>): Resource[] {
  return places.flatMap(({ permission_set, ...place }) =>
    permission_set === undefined ? [] : [{ ...resourceOf(place, place.id, accounts), as_action: permission_set }],
  )
}

/** What policy may know of it: from the account cache and its own id, never from the requester. */
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

/** Decisions taken in a span of time: after `since`, at the latest at `until`. */
export type Span = { since: Date; until: Date }

/** A question of the past, as it is put now: the circumstances as they were, people and accounts as they are. */
export type RecordedQuestion = {
  /** Of the decision that it was answered by. */
  id: string
  /** Null where asking was refused: there is no request then. */
  request_id: string | null
  decided_at: string
  requester_id: string
  question: Pick<RequestDecision['question'], 'resource' | 'action' | 'duration_seconds' | 'break_glass'>
} & ({ kind: 'ask'; put: AskQuestion } | { kind: 'approve'; put: ApproveQuestion })
