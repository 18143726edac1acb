/** Compares a draft with the current rules, beside the main thread. */
import { createLruCache } from '../../kernel/lru-cache.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { Draft } from '../../policies/drafts/draft.ts'
import type { DraftOf, Present } from '../../policies/drafts/draft-work.ts'
import { applyDraft, type Drafted } from '../../policies/drafts/drafted.ts'
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import { type EntityReference, unitedReadings } from '../../policy-engine/cedar/reading.ts'
import { draftEvaluator, readingOfRules } from '../../policy-engine/deciding/evaluate.ts'
import { requireFewLiterals } from '../../policy-facts/literals.ts'
import { accountKinds, actionsAlike, peopleAlike } from './alike.ts'
import { type Field, type Gains, most, type Wanted } from './gains.ts'
import { type Asked, tryMoments } from './moments.ts'
import { actionsOf, concerning, mayConcernOthers, ownRules, type Sides, sidesOf } from './touched-rules.ts'
import type { Budget, Compared } from './trial.ts'

/** For calls of these functions beside the main thread. */
export const draftGainsModule = import.meta.url

/**
 * Evaluations, and milliseconds of this thread's own time, that one comparison takes, about: it ends after the pair that passes them. What else the
 * machine does makes an answer later, and no shorter.
 */
const bounds = { evaluations: 20_000, milliseconds: 1_200 }

/** What is known of the tenant and of the circumstances. */
type Known = Field & { literals: LiteralFacts; asked: Asked }

/** What has to be read for a draft. `literals`: the entities that the rules of both sets read by name. */
export async function readDraft(
  present: Present,
  draft: Draft,
  of: DraftOf,
): Promise<Wanted & { literals: readonly EntityReference[] }> {
  const drafted = await read(present, draft, of)
  const sides = sidesOf(drafted, draftEvaluator)
  const named = actionsOf(sides)
  const rules = rulesOf(concerning(sides, named.actions))
  const { traits } = unitedReadings(rules.map((rule) => ({ literals: [], traits: rule.traits, reads_scopes: false })))
  const names = rules.some(({ readsName }) => readsName)
  const readings = [drafted.before, drafted.after].map((ruleSet) => readingOfRules(draftEvaluator, ruleSet))
  return { literals: unitedReadings(readings).literals, traits: { ...traits, names }, ...named }
}

/** Without the version, which the caller knows. */
type Found = Omit<Gains, 'rule_set_version' | 'at'> & { at: Date }

/** Who gains and who loses. */
export async function compareDraft(present: Present, draft: Draft, of: DraftOf, known: Known): Promise<Found> {
  const drafted = await read(present, draft, of)
  const { before, after } = drafted
  const { budget, evaluator } = openBudget()
  const sides = sidesOf(drafted, draftEvaluator)
  const named = actionsOf(sides)
  const actions = [...named.actions, ...known.described.actions].slice(0, most.actions)
  const concerned = concerning(sides, named.actions)
  const compared: Compared = {
    ...{ before, after, sides: concerned, literals: known.literals, evaluator },
    people: peopleAlike(known.people.people, rulesOf(concerned), [before, after]),
    accounts: accountKinds(known.accounts.kinds),
    actions: actionsAlike(actions, rulesOf(concerned)),
  }
  const { trial, is_complete } = await tryMoments(compared, known.asked, budget)
  const examined = { people: known.people.people.length, accounts: trial.accounts, actions: actions.length }
  const total = {
    people: known.people.total,
    accounts: known.accounts.total,
    actions: named.actions.length + known.described.total,
  }
  const has_other_resources = ownRules(sides).some(mayConcernOthers)
  const isAll = (['people', 'accounts', 'actions'] as const).every((what) => examined[what] === total[what])
  const isNoAction = named.any_action && actions.length === 0
  return {
    at: trial.when.now,
    duration_seconds: trial.when.duration_seconds,
    changes: trial.tally.changes(),
    ...{ examined, total, has_other_resources },
    is_complete: is_complete && isAll && !has_other_resources && !isNoAction,
  }
}

/** The drafts that were read and are to be compared next, by their ids: many rules take longer to read than to compare. */
const drafts = createLruCache<Drafted>(2)

/** The two rule sets, read. */
async function read(present: Present, draft: Draft, of: DraftOf): Promise<Drafted> {
  const before = drafts.get(of.id)
  if (before !== undefined) {
    drafts.delete(of.id)
    return before
  }
  const drafted = await applyDraft(present, draft, of)
  await requireFewLiterals(draftEvaluator, drafted.before, drafted.after)
  drafts.set(of.id, drafted)
  return drafted
}

function rulesOf({ before, after }: Sides) {
  return [...before.rules, ...after.rules]
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function openBudget() {
  const began = cpuMs()
  let evaluations = 0
  const onAnswer = () => {
    evaluations += 1
  }
  const isSpent = () => evaluations >= bounds.evaluations || cpuMs() - began > bounds.milliseconds
  return {
    evaluator: { ...draftEvaluator, onAnswer },
    budget: { isSpent, yieldToEventLoop: periodicYield() } satisfies Budget,
  }
}
