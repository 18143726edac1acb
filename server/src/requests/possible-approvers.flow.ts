import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { periodicGiveWay, periodicYield } from '../kernel/yield-to-event-loop.ts'
import type { ApproveQuestion, Weighed } from '../policy-engine/cedar/question.ts'
import { alikeApprovers } from '../policy-engine/deciding/alike.ts'
import { decideApproveInPieces, evaluationsOf } from '../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import type { PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import type { EvaluatedRequest } from './evaluate-request.flow.ts'
import { allFactsCount, approveQuestion, approveQuestions, asTheyAre, type Circumstances } from './policy-question.ts'
import { findFactsFor } from './reauthorize-request.flow.ts'
import type { AccessRequest, Deciders } from './request.ts'
import { type Batch, type Deciding, readApprovers, readManyWithApprovers, readWithApprovers } from './request-store.ts'
import { previewTurns } from './tenant-turns.ts'

/** The number of possible approvers read in one round trip. */
const batchSize = 500
/** The number of possible approvers examined at most. */
const maxExamined = 10_000
/** To show who may decide: possible approvers who are examined, evaluations, and names. */
const maxShown = { examined: 100, evaluations: 2_000, names: 20 }
/** The number of evaluations at most: a request of an unknown account takes up to 200 for each approver. */
const maxEvaluations = 20_000

/**
 * The users who may decide the request at that moment, as far as is known before they decide: by scope and by policy, never the
 * requester. A user who could not be evaluated within the limit counts as one who may. In batches by their ids: one round trip for
 * each batch, one more where the rules changed, and one where they need further facts.
 */
export function whoMayDecide(tx: Tx, request_id: string, at: Date): AsyncGenerator<string[]> {
  return whoMayDecideFrom(tx, { request_id, at }, { after: null, count: 0 })
}

/** Which request somebody may decide at which moment. */
type AskedDecision = { request_id: string; at: Date }

/** How far the possible approvers were examined: up to the id `after` (null: none of them), `count` in all. */
type Examined = { after: string | null; count: number }

async function* whoMayDecideFrom(tx: Tx, { request_id, at }: AskedDecision, from: Examined): AsyncGenerator<string[]> {
  const permitted = permittedAmong()
  let { after } = from
  for (let { count } = from; count < maxExamined; count += batchSize) {
    const batch: Batch = { after, limit: batchSize }
    const found = await readWithRules(tx, () => readWithApprovers(tx, request_id, batch))
    if (found === undefined) return
    const known = { ...found, facts: await findFactsFor(tx, found.ruleSet, [found]) }
    yield await permitted(found.ruleSet, questionsOf(known, found.approvers, at))
    after = found.approvers.at(-1)?.whole.id ?? null
    if (found.approvers.length < batchSize) return
  }
}

/** Of the questions about one request, batch by batch, the users who may decide, or could not be evaluated within the limit. */
function permittedAmong() {
  let evaluations = 0
  return async (
    ruleSet: RuleSet,
    questions: Iterable<ApproveQuestion>,
    yieldToEventLoop = periodicGiveWay(),
  ): Promise<string[]> => {
    const isAllowed = allowedAlike(ruleSet)
    const may: string[] = []
    for (const question of questions) {
      const isPermitted = await isAllowed(question, () => {
        evaluations += evaluationsOf(question)
        return evaluations <= maxEvaluations
      })
      if (isPermitted !== false) may.push(question.principal.id)
      await yieldToEventLoop()
    }
    return may
  }
}

/**
 * Whether policy allows each of these questions, which differ in their approvers alone; approvers who are alike are evaluated once. Undefined
 * where it had to be evaluated and was not, because `mayEvaluate` said so.
 */
function allowedAlike(ruleSet: RuleSet) {
  const profileOf = alikeApprovers(ruleSet)
  const answers = new Map<string, boolean>()
  return async (question: ApproveQuestion, mayEvaluate: () => boolean): Promise<boolean | undefined> => {
    const profile = profileOf(question)
    const known = profile === undefined ? undefined : answers.get(profile)
    if (known !== undefined || !mayEvaluate()) return known
    const { allowed, errors } = await decideApproveInPieces(ruleSet, question)
    // A failure of the engine itself is nobody else's answer.
    if (profile !== undefined && errors.every(({ rule_id }) => rule_id !== null)) answers.set(profile, allowed)
    return allowed
  }
}

/**
 * `whoMayDecide` of each of these requests, in their order, batch by batch of the possible approvers: these are read once for all requests, but
 * for a request whose requester gave or wrote anything since. One round trip for each batch, with the exceptions named there.
 */
export async function* whoMayDecideEach(tx: Tx, asked: readonly AskedDecision[]): AsyncGenerator<string[][]> {
  let left: (AskedDecision & { index: number; permitted: ReturnType<typeof permittedAmong> })[] = asked.map(
    (one, index) => ({ ...one, index, permitted: permittedAmong() }),
  )
  let after: string | null = null
  for (let count = 0; count < maxExamined && left.length > 0; count += batchSize) {
    const ids = [...new Set(left.map(({ request_id }) => request_id))]
    const found = await readWithRules(tx, () => readManyWithApprovers(tx, ids, { after, limit: batchSize }))
    if (found === undefined) return
    const { requests, approvers, ruleSet } = found
    const facts = await findFactsFor(tx, ruleSet, [...requests.values()])
    const existing = left.flatMap((one) => {
      const request = requests.get(one.request_id)
      return request === undefined ? [] : [{ ...one, known: { ...request, facts } }]
    })
    const shared = approvers.every(allFactsCount) ? existing.filter(({ known }) => !known.differs) : []
    const may = asked.map((): string[] => [])
    // Here, since the time of the reads is none of the evaluations'.
    const yieldToEventLoop = periodicGiveWay()
    for (const { index, known, at, permitted } of shared)
      may[index] = await permitted(ruleSet, questionsOf(known, approvers, at), yieldToEventLoop)
    yield may
    for (const one of existing.filter((one) => !shared.includes(one))) {
      for await (const ids of whoMayDecideFrom(tx, one, { after, count }))
        yield asked.map((_, index) => (index === one.index ? ids : []))
    }
    left = shared
    after = approvers.at(-1)?.whole.id ?? null
    if (approvers.length < batchSize) return
  }
}

/** The questions whether each of these users may decide the request, but for its requester: one by one, since there may be many. */
function* questionsOf(
  known: Omit<Deciding, 'approver'> & { facts: PolicyFacts },
  approvers: readonly Weighed[],
  at: Date,
): Generator<ApproveQuestion> {
  const when = approvalCircumstances(known.when, at)
  const questionFor = approveQuestions(known.weighed_requester, known.requested, when, known)
  for (const approver of approvers) if (approver.whole.id !== known.requester.id) yield questionFor(approver)
}

/** Who may decide a request that is not made yet. One round trip. */
export async function findDeciders(tx: Tx, evaluated: EvaluatedRequest): Promise<Deciders> {
  const { requester, requester_id, ruleSet, when } = evaluated
  const request = { ...evaluated.requested, id: newId() }
  const { approvers } = await readApprovers(tx, requester_id, { after: null, limit: maxShown.examined + 1 })
  const at = approvalCircumstances(when, when.now)
  const questionFor = approveQuestions(asTheyAre(requester), request, at, evaluated)
  return decidersAmong(requester_id, ruleSet, approvers.map(asTheyAre).map(questionFor))
}

/**
 * Who may decide a pending request at that moment; undefined where there is no such request. `caller`: who asks. One round trip, or as
 * `whoMayDecide`.
 */
export async function findDecidersOf(
  tx: Tx,
  request_id: string,
  { at, caller }: { at: Date; caller: string },
): Promise<Deciders | undefined> {
  const batch = { after: null, limit: maxShown.examined + 1 }
  const found = await readWithRules(tx, () => readWithApprovers(tx, request_id, batch))
  if (found === undefined) return undefined
  const { ruleSet, weighed_requester, requested } = found
  const known = { ...found, facts: await findFactsFor(tx, ruleSet, [found]) }
  const when = approvalCircumstances(found.when, at)
  const questionFor = approveQuestions(weighed_requester, requested, when, known)
  return decidersAmong(caller, ruleSet, found.approvers.map(questionFor))
}

/** Of more questions than are examined, the last says only that there are more people. */
async function decidersAmong(
  user_id: string,
  ruleSet: RuleSet,
  questions: readonly ApproveQuestion[],
): Promise<Deciders> {
  const names: string[] = []
  let [examined, evaluations] = [0, 0]
  await previewTurns({ tenant_id: ruleSet.tenant_id, user_id }, async () => {
    const yieldToEventLoop = periodicYield()
    const isAllowed = allowedAlike(ruleSet)
    for (const question of questions.slice(0, maxShown.examined)) {
      const isPermitted = await isAllowed(question, () => {
        evaluations += evaluationsOf(question)
        return evaluations <= maxShown.evaluations
      })
      if (isPermitted === undefined) break
      examined += 1
      if (isPermitted) names.push(question.principal.name)
      await yieldToEventLoop()
    }
  })
  const shown = names.toSorted((one, other) => one.localeCompare(other)).slice(0, maxShown.names)
  return { names: shown, count: names.length, is_complete: examined === questions.length }
}

/** A recorded request, some of its possible approvers, and whether one of them may decide it, as a question to rules that need `facts`. */
type PossibleApprovers = {
  request: AccessRequest
  approvers: readonly Weighed[]
  questionFor: (approver: Weighed, facts: PolicyFacts) => ApproveQuestion
}

/**
 * The possible approvers of a recorded request, as `whoMayDecide` takes them, in batches, at least one.
 * The questions are asked in the circumstances of the request.
 */
export async function* possibleApprovers(tx: Tx, request_id: string): AsyncGenerator<PossibleApprovers> {
  let after: string | null = null
  for (;;) {
    const found = await readWithApprovers(tx, request_id, { after, limit: batchSize })
    if (found === undefined) return
    const { request, weighed_requester: requester, requested, approvers } = found
    const when = approvalCircumstances(found.when, found.when.now)
    yield {
      ...{ request, approvers },
      questionFor: (approver, facts) => approveQuestion(approver, requester, requested, when, { ...found, facts }),
    }
    after = approvers.at(-1)?.whole.id ?? null
    if (approvers.length < batchSize) return
  }
}

/** The sizes of the first and the second batch: the first permitted approver is nearly always in the first batch. */
const warningBatchSizes = [50, 450]

/** `not_joined`: nobody who has joined holds the right to decide requests, and somebody who was invited does. */
export type Unapprovable = 'by_nobody' | 'not_joined'

/**
 * Whether it is certain that no user may decide this new request, by the current rules and roles. One round trip; two where no
 * approver of the first batch may. Undefined, because nothing is certain, in these cases: there are more possible approvers than the
 * two batches hold or than can be evaluated, the engine failed, or a rule tests when, how or from where an approver decides.
 */
export async function whyUnapprovable(tx: Tx, evaluated: EvaluatedRequest): Promise<Unapprovable | undefined> {
  const { requester, requester_id, ruleSet } = evaluated
  const when = approvalCircumstances(evaluated.when, evaluated.when.now)
  const questionFor = approveQuestions(asTheyAre(requester), { ...evaluated.requested, id: newId() }, when, evaluated)
  const yieldToEventLoop = periodicYield()
  let [count, evaluations] = [0, 0]
  let after: string | null = null
  for (const limit of warningBatchSizes) {
    const { approvers, awaits } = await readApprovers(tx, requester_id, { after, limit })
    for (const approver of approvers) {
      const question = questionFor(asTheyAre(approver))
      evaluations += evaluationsOf(question)
      if (evaluations > maxEvaluations) return undefined
      const { allowed, errors } = await decideApproveInPieces(ruleSet, question)
      if (allowed || errors.some(({ rule_id }) => rule_id === null)) return undefined
      await yieldToEventLoop()
    }
    count += approvers.length
    after = approvers.at(-1)?.id ?? null
    if (count === 0) return awaits ? 'not_joined' : 'by_nobody'
    if (approvers.length < limit) return byNobodyUnlessTimed(ruleSet)
  }
  return undefined
}

function byNobodyUnlessTimed(ruleSet: RuleSet): Unapprovable | undefined {
  return checksApproval(ruleSet) ? undefined : 'by_nobody'
}

/** Attributes that are known only when an approver decides. */
const approvalAttributes = /\b(now|weekday|minute|via|source_ip)\b/

/** Whether an approval rule tests when, how or from where the approver decides. A text search, which may answer true too often. */
function checksApproval(ruleSet: RuleSet): boolean {
  return ruleSet.rules.some(
    ({ policy_text }) => policy_text.includes('"approve"') && approvalAttributes.test(policy_text),
  )
}

/** Assumes that a person decides by token, at that moment, and from the requester's address, since the approver's is not known. */
function approvalCircumstances({ source_ip }: Circumstances, now: Date): Circumstances {
  return { now, via: 'token', source_ip }
}
