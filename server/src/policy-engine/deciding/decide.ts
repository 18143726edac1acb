/**
 * The decisions: which questions are evaluated, and how their answers are combined. Order never decides; it only chooses the text.
 *
 * | question | permits | forbids |
 * |---|---|---|
 * | `ordinary`: may the user request it? | require, auto | plain |
 * | `at_once`: if so, without a person? | auto | plain, auto |
 * | `emergency`: a request with break_glass | break_glass | plain, break_glass |
 * | `approve`: may this person decide it? | all that name approve | all that name approve |
 *
 * Some rights and facts of the two people may not count. `approve` is then evaluated without and with them, and both must be allowed.
 */

import { Problem } from '../../kernel/errors.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import {
  type ApproveQuestion,
  type AskQuestion,
  actionAskedOn,
  approveOf,
  askOf,
  type Principal,
  type Resource,
} from '../cedar/question.ts'
import { approveAction } from '../cedar/schema.ts'
import type { ApprovalMode } from '../rule.ts'
import { allowedText, deniedText, notOffered, ownRequest } from './decision-text.ts'
import {
  type Answer,
  evaluate,
  evaluateBoth,
  type PolicyEvaluator,
  policyEvaluator,
  type RuleError,
} from './evaluate.ts'
import { atOnce, inPieces } from './pieces.ts'
import { inOrder, type PolicyRule, type RuleSet } from './rule-set.ts'
import type { Subject, Verdict } from './verdict.ts'

/** Policy's decision, and why. */
export type Decision = {
  allowed: boolean
  /** How an allowed request is approved; null when denied, and for `approve`. */
  mode: ApprovalMode | null
  audit_session: boolean
  notices: string[]
  /** The reason, as text for people. */
  reasoning: string
  /** The first permit behind the decision; null when denied. */
  governing_rule_id: string | null
  /** The rules that matched and decided: permits when allowed, forbids when denied; in order. */
  rule_ids: string[]
  /** The rules that require a person's decision although others would have approved at once; in order. */
  held_by_rule_ids: string[]
  errors: RuleError[]
  rule_set_version: string
}

/**
 * The facts of a decision for the audit log: ids only, because the engine's error messages may contain a name. A failure with the id
 * null is the engine's own. The messages are stored with the decision.
 */
export function factsOf({ rule_ids, errors }: Decision): { rule_ids: string[]; failed_rule_ids?: (string | null)[] } {
  return { rule_ids, ...(errors.length > 0 && { failed_rule_ids: errors.map(({ rule_id }) => rule_id) }) }
}

/** May the principal have the access, and by which approval mode? Never throws: a question that cannot be answered is denied. */
export function decideAsk(ruleSet: RuleSet, question: AskQuestion, evaluator = policyEvaluator): Decision {
  return atOnce(asking(ruleSet, question, evaluator))
}

/**
 * The same, in pieces: a question about very many resources takes long, and other work runs between two of them. Such questions of
 * one tenant wait for each other.
 * @throws Problem 503 when too many of the tenant wait
 */
export function decideAskInPieces(
  ruleSet: RuleSet,
  question: AskQuestion,
  evaluator = policyEvaluator,
): Promise<Decision> {
  const decide = () => inPieces(asking(ruleSet, question, evaluator))
  return inTurn(ruleSet, question.resources.length, decide)
}

/** May the principal decide the request? Never their own. Never throws: a question that cannot be answered is denied. */
export function decideApprove(ruleSet: RuleSet, question: ApproveQuestion, evaluator = policyEvaluator): Decision {
  return atOnce(approving(ruleSet, question, evaluator))
}

/** The same, in pieces and in turn, as `decideAskInPieces`. */
export function decideApproveInPieces(
  ruleSet: RuleSet,
  question: ApproveQuestion,
  evaluator = policyEvaluator,
): Promise<Decision> {
  const decide = () => inPieces(approving(ruleSet, question, evaluator))
  return inTurn(ruleSet, evaluationsOf(question), decide)
}

/** The number of evaluations that the question takes at most. */
export function evaluationsOf({ targets, whole }: ApproveQuestion): number {
  return targets.length * (1 + (whole?.length ?? 0))
}

/** A question about more resources than this takes so long that those of one tenant take turns. */
const manyResources = 10

const turns = createSemaphore({
  limit: 1,
  maxWaiting: 100,
  refusal: () =>
    new Problem('unavailable', 'too many questions about many accounts wait for their turn; try again in a moment'),
})

function inTurn<Result>({ tenant_id }: RuleSet, resources: number, decide: () => Promise<Result>): Promise<Result> {
  return resources > manyResources ? turns.run(decide, { key: tenant_id }) : decide()
}

function* asking(ruleSet: RuleSet, question: AskQuestion, evaluator: PolicyEvaluator): Generator<undefined, Decision> {
  const { principal, action, resources, context } = question
  if (ruleSet.suspended === true) return refused(ruleSet, notOffered.suspended)
  const refusal =
    principal.active !== true
      ? notOffered.deactivated
      : action === approveAction
        ? notOffered.approve
        : question.unanswerable
  if (refusal !== undefined) return refused(ruleSet, refusal)
  const judge = context.break_glass === true ? judgeEmergency : judgeOrdinary
  const verdicts = yield* judgeEach(resources, (resource) => judge(evaluator, ruleSet, question, resource))
  return decided(ruleSet, verdicts, { principal, act: `\`${action}\``, emergency: context.break_glass === true })
}

function* approving(
  ruleSet: RuleSet,
  question: ApproveQuestion,
  evaluator: PolicyEvaluator,
): Generator<undefined, Decision> {
  const { principal, request, targets } = question
  if (ruleSet.suspended === true) return refused(ruleSet, notOffered.suspended)
  if (principal.active !== true) return refused(ruleSet, notOffered.deactivated)
  if (principal.id === request.requester.id) return refused(ruleSet, ownRequest)
  if (question.unanswerable !== undefined) return refused(ruleSet, question.unanswerable)
  const verdicts = yield* judgeEach(targets, (target) => judgeApproval(evaluator, ruleSet, question, target))
  return decided(ruleSet, verdicts, { principal, act: 'deciding the request', emergency: false })
}

/** INVARIANT: what does not count permits nothing (the first question), and lifts no forbid about those who have it (the others). */
function judgeApproval(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  question: ApproveQuestion,
  target: Resource,
): Verdict {
  const judge = (principal: Principal, requester: Principal) => {
    const put = () => approveOf({ ...question, principal, request: { ...request, requester } }, target)
    return verdictOf(target, evaluate(evaluator, ruleSet, 'approve', approveAction, put, question.literals), null)
  }
  const { principal, request, whole = [] } = question
  let verdict = judge(principal, request.requester)
  for (const people of whole) {
    if (!verdict.allowed) break
    const other = judge(people.principal, people.requester)
    const errors = [...verdict.errors, ...other.errors]
    verdict = other.allowed ? { ...verdict, errors } : { ...other, errors }
  }
  return verdict
}

/**
 * The verdicts on the resources, one after another. A resource of an unknown account is denied wherever it is denied first: more would
 * cost time, and its notices would tell what rules say of accounts that nobody asked about.
 */
function* judgeEach(
  resources: readonly Resource[],
  judge: (resource: Resource) => Verdict,
): Generator<undefined, Verdict[]> {
  const verdicts: Verdict[] = []
  for (const resource of resources) {
    const verdict = judge(resource)
    verdicts.push(verdict)
    if (resource.as_if !== undefined && !verdict.allowed) break
    yield
  }
  return verdicts
}

function judgeEmergency(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  question: AskQuestion,
  resource: Resource,
): Verdict {
  const put = (action: string) => askOf(question, resource, action)
  const asked = actionAskedOn(question, resource)
  const answer = evaluate(evaluator, ruleSet, 'emergency', asked, put, question.literals)
  return verdictOf(resource, answer, 'break_glass')
}

function judgeOrdinary(
  evaluator: PolicyEvaluator,
  ruleSet: RuleSet,
  question: AskQuestion,
  resource: Resource,
): Verdict {
  const { literals } = question
  const asked = actionAskedOn(question, resource)
  const put = (action: string) => askOf(question, resource, action)
  const { ordinary: answer, atOnce } = evaluateBoth(evaluator, ruleSet, asked, put, literals)
  const ordinary = verdictOf(resource, answer, 'require')
  if (!answer.permits.some((rule) => rule.approval_mode === 'auto') || !ordinary.allowed) return ordinary

  const errors = [...ordinary.errors, ...atOnce.errors]
  // A rule never approves a request of the user who saved the rule last.
  const decisive = atOnce.permits.filter((rule) => rule.saved_by !== question.principal.id)
  if (atOnce.allowed && decisive.length > 0) return { ...ordinary, mode: 'auto', decisive, errors }
  const heldBy = [...atOnce.forbids, ...atOnce.failedForbids]
  return { ...ordinary, errors, heldBy }
}

function verdictOf(resource: Resource, answer: Answer, mode: ApprovalMode | null): Verdict {
  const { allowed, permits: decisive, errors } = answer
  return { resource, allowed, mode: allowed ? mode : null, answer, decisive, heldBy: [], errors }
}

/** Every question must be allowed; the strictest mode wins; session audit and notices are combined. */
function decided(ruleSet: RuleSet, verdicts: Verdict[], subject: Subject): Decision {
  const [first] = verdicts
  if (first === undefined) return refused(ruleSet, notOffered.nothing)
  const denied = verdicts.filter((verdict) => !verdict.allowed)
  const errors = unique(verdicts.flatMap((verdict) => verdict.errors))
  const base = { errors, rule_set_version: ruleSet.version }
  if (denied.length > 0) {
    const forbids = united(denied.flatMap(({ answer }) => answer.forbids))
    const failed = denied.flatMap(({ answer }) => answer.failedForbids)
    return {
      ...base,
      allowed: false,
      mode: null,
      audit_session: false,
      notices: noticesOf(forbids),
      reasoning: deniedText(denied, first.resource, subject),
      governing_rule_id: null,
      rule_ids: united([...forbids, ...failed]).map((rule) => rule.id),
      held_by_rule_ids: [],
    }
  }
  const mode = strictest(verdicts)
  const matched = united(verdicts.flatMap(({ answer }) => answer.permits))
  const strict = verdicts.filter((verdict) => verdict.mode === mode)
  const heldBy = united(strict.flatMap((verdict) => verdict.heldBy))
  const governing = united(strict.flatMap((verdict) => verdict.decisive))[0]
  return {
    ...base,
    allowed: true,
    mode,
    audit_session: mode === 'break_glass' || matched.some((rule) => rule.audit_session),
    notices: noticesOf(governing === undefined ? matched : [governing, ...matched]),
    reasoning: allowedText(mode, governing, heldBy, strict.length < verdicts.length ? strict : []),
    governing_rule_id: governing?.id ?? null,
    rule_ids: matched.map((rule) => rule.id),
    held_by_rule_ids: heldBy.map((rule) => rule.id),
  }
}

/** A person's decision is the strictest. Emergencies and `approve` have one mode each. */
function strictest(verdicts: Verdict[]): ApprovalMode | null {
  if (verdicts.some((verdict) => verdict.mode === 'require')) return 'require'
  return verdicts[0]?.mode ?? null
}

function refused(ruleSet: RuleSet, reasoning: string): Decision {
  return {
    allowed: false,
    mode: null,
    audit_session: false,
    notices: [],
    reasoning,
    governing_rule_id: null,
    rule_ids: [],
    held_by_rule_ids: [],
    errors: [],
    rule_set_version: ruleSet.version,
  }
}

function united(rules: PolicyRule[]): PolicyRule[] {
  return [...new Map(rules.map((rule) => [rule.id, rule])).values()].sort(inOrder)
}

function noticesOf(rules: PolicyRule[]): string[] {
  return [...new Set(rules.flatMap((rule) => rule.notice || []))]
}

function unique(errors: RuleError[]): RuleError[] {
  return [...new Map(errors.map((error) => [JSON.stringify(error), error])).values()]
}
