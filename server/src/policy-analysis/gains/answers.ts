/** The answers to a pair of person and account by both rule sets: with as few evaluations as make them certain. */
import type { AskQuestion, LiteralFacts, RequestContext } from '../../policy-engine/cedar/question.ts'
import { decideAsk } from '../../policy-engine/deciding/decide.ts'
import type { PolicyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { type AskRule, accountAsRead, rulesFor } from '../../policy-engine/deciding/possible-requests.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import { type Outcome, outcomeOf, type Pair } from './tally.ts'
import { type Sides, takesPartIn } from './touched-rules.ts'

/** The moment and the duration of the requests, beside what stays the same. */
export type Circumstances = Omit<RequestContext, 'break_glass'>

export type Answers = { before: Outcome; after: Outcome }
type RuleSets = { before: RuleSet; after: RuleSet; literals: LiteralFacts; evaluator: PolicyEvaluator }

/**
 * Answers pairs at one moment. `fitting`: the rules that fit the person and the account. Undefined where nothing can change, because no own
 * rule of a set fits. Pairs get one answer where the same rules fit them, and nothing that these read tells them apart.
 */
export function openAnswers(ruleSets: RuleSets, when: Circumstances) {
  const known = new Map<string, Answers>()
  return (pair: Pair, fitting: Sides, emergency: boolean): Answers | undefined => {
    const { before, after } = takingPart(fitting, pair.action.action, emergency)
    if (before.own.length + after.own.length === 0) return undefined
    const key = kindOf(pair, { before, after }, emergency)
    let answers = known.get(key)
    if (answers === undefined) {
      const question = questionOf(pair, when, emergency, ruleSets.literals)
      answers = answer({ before, after }, (side) => outcomeOf(decideAsk(ruleSets[side], question, ruleSets.evaluator)))
      known.set(key, answers)
    }
    return answers
  }
}

function takingPart({ before, after }: Sides, action: string, emergency: boolean): Sides {
  const of = (rules: readonly AskRule[]) => rulesFor(rules, action).filter((rule) => takesPartIn(rule, emergency))
  const [former, coming] = [of(before.own), of(after.own)]
  if (former.length + coming.length === 0) return { before: { rules: [], own: [] }, after: { rules: [], own: [] } }
  return { before: { rules: of(before.rules), own: former }, after: { rules: of(after.rules), own: coming } }
}

function questionOf(
  { person, account, action }: Pair,
  when: Circumstances,
  break_glass: boolean,
  literals: LiteralFacts,
): AskQuestion {
  const context = { ...when, break_glass }
  return { principal: person.person, action: action.action, resources: [account.resource], context, literals }
}

/**
 * Without a permit that fits, a set denies. What a set that only permits more denies, the other denies too, and the other way round: then
 * one evaluation is enough.
 */
function answer({ before, after }: Sides, decide: (side: 'before' | 'after') => Outcome): Answers {
  const permits = (rules: readonly AskRule[]) => rules.some(({ effect }) => effect === 'permit')
  const forbids = (rules: readonly AskRule[]) => rules.some(({ effect }) => effect === 'forbid')
  const of = (side: 'before' | 'after') => (permits({ before, after }[side].rules) ? decide(side) : 'denied')
  const permitsMore = !permits(before.own) && !forbids(after.own)
  const permitsLess = !forbids(before.own) && !permits(after.own)
  if (permitsMore) {
    const coming = of('after')
    return { before: coming === 'denied' ? 'denied' : of('before'), after: coming }
  }
  const former = of('before')
  return { before: former, after: permitsLess && former === 'denied' ? 'denied' : of('after') }
}

/** Equal for pairs that the fitting rules, which are all that can matter, do not tell apart. */
function kindOf({ person, account, action }: Pair, { before, after }: Sides, emergency: boolean): string {
  const rules = [...before.rules, ...after.rules]
  const reads = (what: AskRule['readsPerson']) => rules.some(({ readsPerson }) => readsPerson === what)
  return JSON.stringify([
    emergency,
    before.rules.map(({ serial }) => serial),
    after.rules.map(({ serial }) => serial),
    rules.some(({ readsAction }) => readsAction) && action.action,
    person.author,
    reads('identity') ? person.person.id : reads('rights') && person.rights,
    accountAsRead(rules, account.resource),
  ])
}
