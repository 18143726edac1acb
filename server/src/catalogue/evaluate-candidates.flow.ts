/** Which candidates may be requested now: the same questions to policy as those of a request, within what one page may ask. */
import { isGivenBySets } from '../actions/action.ts'
import type { Ctx } from '../kernel/context.ts'
import { periodicYield } from '../kernel/yield-to-event-loop.ts'
import type { AskQuestion } from '../policy-engine/cedar/question.ts'
import { type Decision, decideAskInPieces } from '../policy-engine/deciding/decide.ts'
import {
  type AskRule,
  type AskRules,
  askRulesOf,
  possibleActions,
  rulesAbout,
  rulesFor,
  rulesOn,
  withActions,
} from '../policy-engine/deciding/possible-requests.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import { findPolicyFacts, type PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import { accountInId } from '../policy-facts/resource.ts'
import { keyOfPlace } from '../provisioners/serving.ts'
import { findUnserved, placesOf } from '../requests/place.ts'
import { accountDoubt, askQuestion, type Circumstances } from '../requests/policy-question.ts'
import type { ResourceReference } from '../requests/request.ts'
import { maxPlaces } from '../requests/request.ts'
import { answerPair, planOf, questionsOf } from './answer-pair.ts'
import type { Batch, Candidate, Possible } from './candidates.flow.ts'
import type { FoundEntry } from './catalogue-entry.ts'
import { readSnapshot, type Snapshot } from './catalogue-store.ts'
import { evaluateInTurn } from './evaluation-semaphore.ts'
import type { Search } from './search.ts'
import { kindOf, type SharedAnswer, type SharedAnswers } from './shared-answers.ts'

/**
 * What one page may ask: questions, evaluations of a resource, pairs (many of which may share an answer), and milliseconds of policy. The
 * first pair is always answered.
 */
const most = { questions: 500, evaluations: 2_000, pairs: 100_000, ms: 5_000 } as const

export type Budget = {
  /** Counts one more pair, if it may be answered. */
  allowsPair(): boolean
  /** Whether so many questions about so many resources may still be asked. */
  allows(questions: number, resources: number): boolean
  took(ms: number): void
  spent(resources: number, ms: number): void
}

export function openBudget(): Budget {
  const asked = { questions: 0, evaluations: 0, pairs: 0, ms: 0 }
  return {
    allowsPair() {
      asked.pairs += 1
      return asked.pairs === 1 || (asked.pairs <= most.pairs && asked.ms < most.ms)
    },
    allows: (questions, resources) =>
      asked.questions === 0 ||
      (asked.questions + questions <= most.questions &&
        asked.evaluations + questions * resources <= most.evaluations &&
        asked.ms < most.ms),
    took(ms) {
      asked.ms += ms
    },
    spent(resources, ms) {
      asked.questions += 1
      asked.evaluations += resources
      asked.ms += ms
    },
  }
}

type Work = {
  budget: Budget
  answers: SharedAnswers
  /** What the page searches; it has to know the descriptions of actions. */
  search?: Search
  /** Called with each pair, in order; the entry is undefined where the pair may not be requested. False: that is enough. */
  onAnswer(candidate: Candidate, action: string, entry: FoundEntry | undefined): boolean
}

/** What policy decides by, read before its turn: no connection waits for it. */
type Known = Snapshot & Pick<Possible, 'sets'> & { ruleSet: RuleSet; facts: PolicyFacts; when: Circumstances }

/**
 * Answers the pairs of a batch.
 * @returns whether the page goes on; false where that was enough, or the budget is spent
 */
export async function evaluateCandidates(
  ctx: Ctx,
  user_id: string,
  { candidates, possible }: Batch,
  work: Work,
): Promise<boolean> {
  if (candidates.length === 0) return true
  const resources = candidates.map(({ resource }) => resource)
  const actions =
    work.search?.withoutDescription([
      ...(possible?.actions ?? []),
      ...candidates.flatMap(({ action }) => action ?? []),
    ]) ?? []
  const snapshot = await readWithRules(ctx.tx, () => readSnapshot(ctx.tx, user_id, resources, actions))
  work.search?.addDescriptions(actions, snapshot.descriptions)
  const accountUnknown = resources.some(
    (resource) => accountDoubt(placeless(resource), unconfirmed(snapshot)) !== undefined,
  )
  const facts = await findPolicyFacts(ctx.tx, [snapshot.ruleSet], { accountUnknown })
  const when = { now: ctx.now, via: ctx.via, source_ip: ctx.source_ip }
  const known = { ...snapshot, facts, when, sets: possible?.sets ?? [] }
  return evaluateInTurn({ tenant_id: ctx.tx.tenant_id, user_id }, () => answerAll(candidates, known, work))
}

/** Whether access is given in the account that a request names plays no part: these requests name none. */
const unconfirmed = <Of extends object>(of: Of) => ({ ...of, acts_in_named_account: false })

/** Such a request names no account: the only one that is known is that in the id. */
function placeless(resource: ResourceReference) {
  return { resource, home: accountInId(resource) }
}

async function answerAll(candidates: readonly Candidate[], known: Known, work: Work): Promise<boolean> {
  const yieldToEventLoop = periodicYield()
  const ask = askRulesOf(known.ruleSet)
  const withSets = withActions(ask, known.sets)
  const about = rulesAbout(ask.rules, known.principal)
  const { version, principal, settings, facts } = known
  work.answers.dependOn({ version, principal, settings, literals: [...facts.literals] })
  const decide = async (question: AskQuestion) => {
    const began = performance.now()
    const decision = await decideAskInPieces(known.ruleSet, question)
    work.budget.spent(question.resources.length, performance.now() - began)
    await yieldToEventLoop()
    return decision
  }
  const askOn = ({ type }: ResourceReference) => (isGivenBySets(type) ? withSets : ask)
  for (const candidate of candidates) {
    await yieldToEventLoop()
    const { resource } = candidate
    const cached = resource.type === 'cloud_account' ? known.accounts.get(resource.id) : undefined
    const foundName = known.foundNames.get(keyOfPlace(resource))
    const isElsewhere = { cache: cached !== undefined, inventory: foundName !== undefined }
    if (candidate.unlessIn !== undefined && isElsewhere[candidate.unlessIn]) continue
    const shown = { resource, resource_name: cached?.name || foundName || null }
    const one = { candidate, shown, subject: subjectOf(resource, known, about) }
    if (!(await answerOne(one, { known, ask: askOn(resource), work, decide, yieldToEventLoop }))) return false
  }
  return true
}

type One = {
  candidate: Candidate
  shown: Pick<FoundEntry, 'resource' | 'resource_name'>
  subject: Subject | undefined
}
type Evaluation = {
  known: Known
  ask: AskRules
  work: Work
  decide: (question: AskQuestion) => Promise<Decision>
  yieldToEventLoop: () => Promise<void>
}

/** Answers the pairs of one candidate; false where the page ends. */
async function answerOne({ candidate, shown, subject }: One, evaluation: Evaluation): Promise<boolean> {
  const { ask, work, yieldToEventLoop } = evaluation
  const { after = '' } = candidate
  const same = subject && work.answers.ofResources(subject.rules, subject.question)
  for (const action of actionsOf(candidate, subject, ask)) {
    if (action <= after) continue
    await yieldToEventLoop()
    if (!work.budget.allowsPair()) return false
    const found =
      subject === undefined ? unanswered : (same?.get(action) ?? (await answerOf(subject, action, evaluation)))
    if (found === undefined) return false
    same?.set(action, found)
    const { answer } = found
    if (!work.onAnswer(candidate, action, answer && { ...shown, action, ...answer })) return false
  }
  return true
}

const unanswered: SharedAnswer = { answer: undefined }

/** The answer to a pair, or that of another which no rule tells from it. Undefined: the budget does not suffice for it. */
async function answerOf(
  { question, rules }: Subject,
  action: string,
  { known, work: { answers, budget }, decide }: Evaluation,
): Promise<SharedAnswer | undefined> {
  const began = performance.now()
  const asked = { ...question, action }
  const concerned = rulesFor(rules, action)
  const kind = kindOf(concerned, asked)
  const before = answers.ofPairs.get(kind)
  const plan = planOf(concerned, known.settings)
  budget.took(performance.now() - began)
  if (before !== undefined) return before
  if (!budget.allows(questionsOf(plan), question.resources.length)) return undefined
  const found = { answer: await answerPair(plan, asked, decide) }
  answers.ofPairs.set(kind, found)
  return found
}

/** A resource as policy is asked about it. `rules`: those that can concern the caller and it. */
type Subject = { question: AskQuestion; rules: readonly AskRule[]; possible: readonly AskRule[] }

function actionsOf({ action }: Candidate, subject: Subject | undefined, ask: AskRules): readonly string[] {
  if (action !== undefined) return [action]
  return subject === undefined ? [] : possibleActions(subject.possible, ask)
}

/** Undefined where a request without metadata for this resource is not valid, could not be given, or has no answer. */
function subjectOf(resource: ResourceReference, known: Known, about: readonly AskRule[]): Subject | undefined {
  // Its request names the accounts to give it on.
  if (resource.type === 'cloud_permission_set') return undefined
  const under = known.under.get(resource.id) ?? []
  if (resource.type === 'cloud_organizational_unit' && (under.length === 0 || under.length > maxPlaces))
    return undefined
  const { home } = placeless(resource)
  const places = placesOf(resource, { home, touched: [] }, under)
  if (findUnserved(places, known.served) !== undefined) return undefined
  const requested = {
    ...{ resource, action: '', reason: null, duration_seconds: 0, break_glass: false, metadata: {} },
    ...{ places, home },
  }
  const question = askQuestion(known.principal, requested, known.when, unconfirmed(known))
  const [first, ...others] = question.resources
  if (question.unanswerable !== undefined || first === undefined) return undefined
  // Each of the resources has to be permitted, so that no more is possible than on the first.
  const possible = rulesOn(about, first)
  return { question, possible, rules: others.length === 0 ? possible : about }
}
