/** Everybody's requests at one moment, answered by the current rules and by those of a draft. */
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { type AskRule, rulesAbout, rulesOn } from '../../policy-engine/deciding/possible-requests.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { AccountKind, ActionKind, PersonKind } from './alike.ts'
import { type Circumstances, openAnswers } from './answers.ts'
import { changeOf, openTally, type Pair, type Tally } from './tally.ts'
import type { Side, Sides } from './touched-rules.ts'

export type Compared = {
  before: RuleSet
  after: RuleSet
  /** The rules that concern the actions. */
  sides: Sides
  people: readonly PersonKind[]
  accounts: readonly AccountKind[]
  actions: readonly ActionKind[]
  literals: LiteralFacts
  evaluator: PolicyEvaluator
}

/** What one comparison may take. */
export type Budget = { isSpent(): boolean; yieldToEventLoop(): Promise<void> }

/** `accounts`: how many were examined for everybody. `is_complete`: whether all were. `is_empty`: whether there was nothing to answer. */
export type Trial = { when: Circumstances; tally: Tally; accounts: number; is_complete: boolean; is_empty: boolean }

/**
 * Compares the answers, account by account. Where no own rule of a set fits, nothing can change, and nothing is evaluated. When the
 * budget is spent it ends; what was found until then counts.
 */
export async function tryAt(compared: Compared, when: Circumstances, budget: Budget): Promise<Trial> {
  const trial: Trial = { when, tally: openTally(), accounts: 0, is_complete: false, is_empty: true }
  const answersTo = openAnswers(compared, when)
  const people = compared.people.map((person) => {
    return { person, about: narrowed(compared.sides, (rules) => rulesAbout(rules, person.person)) }
  })
  for (const account of compared.accounts) {
    const on = narrowed(compared.sides, (rules) => rulesOn(rules, account.resource))
    const sets = { before: setsOf(on.before), after: setsOf(on.after) }
    for (const { person, about } of people) {
      if (budget.isSpent()) return trial
      const fitting = both(about, sets)
      if (fitting === undefined) continue
      for (const action of compared.actions) compareOne({ person, account, action }, fitting, answersTo, trial)
      await budget.yieldToEventLoop()
    }
    trial.accounts += account.count
  }
  trial.is_complete = true
  return trial
}

/** An ordinary request, and an emergency. */
function compareOne(pair: Pair, fitting: Sides, answersTo: ReturnType<typeof openAnswers>, trial: Trial): void {
  for (const emergency of [false, true]) {
    const answers = answersTo(pair, fitting, emergency)
    if (answers === undefined) continue
    trial.is_empty = false
    const change = changeOf(answers.before, answers.after)
    if (change !== undefined) trial.tally.add(pair, { ...change, emergency })
  }
}

function narrowed({ before, after }: Sides, fit: (rules: readonly AskRule[]) => AskRule[]): Sides {
  const of = ({ rules, own }: Side): Side => ({ rules: fit(rules), own: fit(own) })
  return { before: of(before), after: of(after) }
}

type Sets = { rules: ReadonlySet<AskRule>; own: ReadonlySet<AskRule> }

function setsOf({ rules, own }: Side): Sets {
  return { rules: new Set(rules), own: new Set(own) }
}

/** Undefined where no own rule fits. */
function both({ before, after }: Sides, on: { before: Sets; after: Sets }): Sides | undefined {
  const own = { before: common(before.own, on.before.own), after: common(after.own, on.after.own) }
  if (own.before.length + own.after.length === 0) return undefined
  return {
    before: { rules: common(before.rules, on.before.rules), own: own.before },
    after: { rules: common(after.rules, on.after.rules), own: own.after },
  }
}

function common(rules: readonly AskRule[], on: ReadonlySet<AskRule>): AskRule[] {
  return rules.filter((rule) => on.has(rule))
}
