import type { AccountPolicyView } from '../cloud/cloud-account.ts'
import type {
  ApproveQuestion,
  AskQuestion,
  LiteralFacts,
  Principal,
  RequestContext,
  Resource,
  Weighed,
} from '../policy-engine/cedar/question.ts'
import { entityKey } from '../policy-engine/cedar/reading.ts'
import { asIfIn, maxKinds } from '../policy-facts/account-kind.ts'
import type { PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import { resourceIn } from '../policy-facts/resource.ts'
import type { Settings } from '../settings/setting.ts'
import type { RequestDecision } from './decision.ts'
import type { Place } from './place.ts'
import type { ResourceReference } from './request.ts'
import { hasReason } from './request-input.ts'

/** The requested access, as recorded. Policy evaluates it several times. */
export type RequestedAccess = {
  id: string
  resource: ResourceReference
  action: string
  reason: string | null
  /** How long its holder has the access without a gap: with an extension, what came before included. */
  duration_seconds: number
  break_glass: boolean
  metadata: Record<string, unknown>
  places: readonly Place[]
  /** The account that contains the resource, where it is known. */
  home: string | undefined
  /** Absent where the request extends nothing. */
  extension?: Extension | undefined
}

/** The access that a request extends. `held_seconds`: how long its holder has it without a gap when the extension begins. */
export type Extension = { grant_id: string; held_seconds: number }

/** How long access is held without a gap, by a request for so many seconds. */
export function heldInAll(duration_seconds: number, extension: Extension | undefined): number {
  return duration_seconds + (extension?.held_seconds ?? 0)
}

/** The circumstances in which the request or the decision was made. */
export type Circumstances = Pick<RequestContext, 'now' | 'via' | 'source_ip'>

/** What is read with a request to evaluate it. */
export type Known = {
  accounts: ReadonlyMap<string, AccountPolicyView>
  settings: Settings
  /** Whether the access would be given in the account that the request names. */
  acts_in_named_account: boolean
}

/** And what the rules need to know beyond that. */
type FullyKnown = Known & { facts: PolicyFacts }

/** Whether an account that a request names is believed: access is given there, or the tenant says so. */
export function believesNamedAccount(known: Pick<Known, 'settings' | 'acts_in_named_account'>): boolean {
  return known.acts_in_named_account || known.settings['policies.trust_named_accounts']
}

/**
 * Why nobody knows in which account the requested resource lies; undefined where that is known. The id of a bucket or an instance does
 * not say it, and what the request says counts only where access is given there.
 */
export function accountDoubt(
  { resource, home }: Pick<RequestedAccess, 'resource' | 'home'>,
  known: Pick<Known, 'settings' | 'acts_in_named_account'>,
): Resource['as_if'] {
  if (resource.type !== 'cloud_storage_bucket' && resource.type !== 'cloud_compute_instance') return undefined
  if (home === undefined) return 'unnamed'
  return believesNamedAccount(known) ? undefined : 'unconfirmed'
}

/**
 * May this principal have the requested access? Evaluated for the resource, and for every account that the request fans out to.
 * For a permission set each account is also evaluated with the set as the action, because the `action` that the requester wrote
 * gives no access there.
 */
export function askQuestion(
  principal: Principal,
  requested: Omit<RequestedAccess, 'id'>,
  when: Circumstances,
  known: FullyKnown,
): AskQuestion {
  const { resources, ...beyond } = resourcesOf(requested, known)
  return {
    principal,
    action: requested.action,
    resources: [...resources, ...setsAsActions(requested.places, known.accounts)],
    context: contextOf(requested, when, known.settings),
    ...beyond,
  }
}

/** May this person decide the request? Evaluated for the resource, and for every account that the request fans out to. */
export function approveQuestion(
  approver: Weighed,
  requester: Weighed,
  requested: RequestedAccess,
  when: Circumstances,
  known: FullyKnown,
): ApproveQuestion {
  return approveQuestions(requester, requested, when, known)(approver)
}

/** `approveQuestion` for many approvers of one request: what they have in common is made once. */
export function approveQuestions(
  requester: Weighed,
  requested: RequestedAccess,
  when: Circumstances,
  known: FullyKnown,
): (approver: Weighed) => ApproveQuestion {
  const { id, action, duration_seconds, break_glass } = requested
  const { resources, ...beyond } = resourcesOf(requested, known)
  const common = {
    request: { id, requester: requester.counting, action, duration_seconds, break_glass },
    targets: toldApart(resources, known.facts.literals),
    context: contextOf(requested, when, known.settings),
    ...beyond,
  }
  return (approver) => ({ principal: approver.counting, ...wholePeople(approver, requester), ...common })
}

/**
 * The two people with what does not count: with all rights, and then with the present facts too. A value that does not count stands in
 * place of the one that does, so that a forbid which reads a right and a fact needs both questions.
 */
function wholePeople(approver: Weighed, requester: Weighed): Pick<ApproveQuestion, 'whole'> {
  const people = [approver, requester]
  const whole = [
    ...(people.every(allRightsCount)
      ? []
      : [{ principal: withAllRights(approver), requester: withAllRights(requester) }]),
    ...(people.every(allFactsCount) ? [] : [{ principal: approver.whole, requester: requester.whole }]),
  ]
  return whole.length === 0 ? {} : { whole }
}

/** Of each right, both lists are in the same order, and one is a part of the other. */
function allRightsCount({ counting, whole }: Weighed): boolean {
  return (['scopes', 'group_ids', 'role_ids'] as const).every((of) => counting[of].length === whole[of].length)
}

/** Whether no fact of the person is discounted. */
export function allFactsCount({ counting, whole }: Weighed): boolean {
  return (['department', 'title', 'manager'] as const).every((fact) => counting[fact] === whole[fact])
}

function withAllRights({ counting, whole }: Weighed): Principal {
  const { scopes, group_ids, role_ids } = whole
  return { ...counting, scopes, group_ids, role_ids }
}

/** A person of whom all counts, since nothing was given or written after a request that is not made yet. */
export function asTheyAre(person: Principal): Weighed {
  return { counting: person, whole: person }
}

/** The circumstances as policy sees them. */
export function contextOf(
  requested: Omit<RequestedAccess, 'id'>,
  when: Circumstances,
  settings: Settings,
): RequestContext {
  return {
    ...when,
    duration_seconds: requested.duration_seconds,
    has_reason: hasReason(requested.reason),
    break_glass: requested.break_glass,
    time_zone: settings['timezone.default'],
  }
}

type Asked = Pick<AskQuestion, 'resources' | 'literals' | 'unanswerable'>

/**
 * The resource itself, then each place that is a different resource. A resource of an unknown account stands once for every kind of
 * account in which it may lie.
 */
function resourcesOf(requested: Omit<RequestedAccess, 'id'>, known: FullyKnown): Asked {
  const { resource, places, home } = requested
  const { literals, kinds } = known.facts
  const doubt = accountDoubt(requested, known)
  if (doubt !== undefined) {
    if (kinds === 'too_many') return { resources: [], literals, unanswerable: tooManyKinds[doubt] }
    return { resources: kinds.map((kind) => asIfIn(resource, kind, doubt)), literals }
  }
  const others = places.filter((place) => place.type !== resource.type || place.id !== resource.id)
  const resources = [
    resourceIn(resource, home, known.accounts),
    ...others.map((place) => resourceIn(place, place.id, known.accounts)),
  ]
  return { resources, literals }
}

const manyKinds = `the rules tell more than ${maxKinds} kinds of account apart, too many to evaluate all of them`
const tooManyKinds = {
  unnamed: `the account of the resource is not known, and ${manyKinds}; name its account in \`metadata.account_id\``,
  unconfirmed:
    `nothing confirms the account that the request names, and ${manyKinds}; ` +
    'an administrator can trust it by the setting `policies.trust_named_accounts`',
} as const

/** The question of an approver depends only on what contains a target, and on its tags where a rule reads it by its name. */
function toldApart(targets: readonly Resource[], literals: LiteralFacts): Resource[] {
  const keyOf = (target: Resource) => {
    const { type, id, parents, tags } = target
    return JSON.stringify([type, id, parents, literals.has(entityKey(target)) && tags])
  }
  return [...new Map(targets.map((target) => [keyOf(target), target])).values()]
}

/** Each account on which a permission set is requested, evaluated with the set as the action. */
export function setsAsActions(places: readonly Place[], accounts: ReadonlyMap<string, AccountPolicyView>): Resource[] {
  return places.flatMap(({ permission_set, ...place }) =>
    permission_set === undefined ? [] : [{ ...resourceIn(place, place.id, accounts), as_action: permission_set }],
  )
}

/** The time span of a search for decisions: after `since`, up to and including `until`. */
export type Span = { since: Date; until: Date }

/** What a replay shows of a past question. */
type Shown = {
  /** The id of the decision that answered it. */
  id: string
  /** Null where the request was refused: a refused request is not stored. */
  request_id: string | null
  decided_at: string
  requester_id: string
  question: Pick<RequestDecision['question'], 'resource' | 'action' | 'duration_seconds' | 'break_glass'>
}

/** A past question with what is needed to put it again: the recorded circumstances, and current people and accounts. */
export type Recording = {
  shown: Shown
  requester: Principal
  /** Null where no person decided. */
  deciding: { approver: Weighed; requester: Weighed } | null
  requested: RequestedAccess
  when: Circumstances
  known: Known
}

/** A question as it is put to policy. */
export type PutQuestion =
  | { kind: 'ask'; policyQuestion: AskQuestion }
  | { kind: 'approve'; policyQuestion: ApproveQuestion }

/** A past question as it is evaluated now. */
export type RecordedQuestion = Shown & PutQuestion

/** The past question, to be put again to rules that need these facts. */
export function recordedQuestion(
  { shown, requester, deciding, requested, when, ...recording }: Recording,
  facts: PolicyFacts,
): RecordedQuestion {
  const known = { ...recording.known, facts }
  if (deciding === null)
    return { ...shown, kind: 'ask', policyQuestion: askQuestion(requester, requested, when, known) }
  const policyQuestion = approveQuestion(deciding.approver, deciding.requester, requested, when, known)
  return { ...shown, kind: 'approve', policyQuestion }
}
