/**
 * Approvers who get the same answer to a question, so that one of them is evaluated for all. To the engine an id is a name that can only be
 * compared with others: two people whom neither a rule nor the question names otherwise, and who have the same in all that a rule can read,
 * can be exchanged.
 */
import type { ApproveQuestion, LiteralFacts, Principal } from '../cedar/question.ts'
import { type PolicyEvaluator, policyEvaluator } from './evaluate.ts'
import type { RuleSet, SortedRules } from './rule-set.ts'

type Trait = Exclude<keyof Principal, 'id' | 'active' | 'group_ids' | 'role_ids'>

/** All that a question says of a person, but for ids: what is missing here does not compile. */
const traits = Object.keys({
  ...{ email: true, email_verified: true, name: true, auth_provider: true, is_owner: true, scopes: true },
  ...{ department: true, title: true, manager: true },
} satisfies Record<Trait, true>) as Trait[]

/** What the rules about decisions read of people. `profiles`: of people who were asked about before. */
type PeopleReading = {
  ids: ReadonlySet<string>
  traits: readonly Trait[]
  profiles: WeakMap<Principal, string | undefined>
}

const readings = new WeakMap<SortedRules, PeopleReading>()

/**
 * A text for the approver of a question: those with the same text get the same answer to a question that is the same but for the approver.
 * Undefined for an approver who must be evaluated alone.
 */
export function alikeApprovers(
  ruleSet: RuleSet,
  evaluator: PolicyEvaluator = policyEvaluator,
): (question: ApproveQuestion) => string | undefined {
  let reading: PeopleReading
  try {
    reading = peopleReading(evaluator.rules.sorted(ruleSet))
  } catch {
    // Every question is denied: the decision says why.
    return () => undefined
  }
  return (question) => {
    const { principal, whole } = question
    if (whole !== undefined || namesOtherwise(question, principal.id)) return undefined
    if (!reading.profiles.has(principal)) reading.profiles.set(principal, profileOf(principal, reading))
    return reading.profiles.get(principal)
  }
}

function peopleReading(sorted: SortedRules): PeopleReading {
  const known = readings.get(sorted)
  if (known !== undefined) return known
  const [ids, attributes] = [new Set<string>(), new Set<string>()]
  for (const { sets, reading } of sorted.read.values()) {
    if (!sets.includes('approve')) continue
    for (const id of reading.people_ids) ids.add(id)
    for (const name of reading.attributes) attributes.add(name)
  }
  const found = {
    ids,
    traits: traits.filter((name) => attributes.has(name)),
    profiles: new WeakMap<Principal, string | undefined>(),
  }
  readings.set(sorted, found)
  return found
}

function profileOf(principal: Principal, { ids, traits }: PeopleReading): string | undefined {
  const { id, manager, active, group_ids, role_ids } = principal
  if (ids.has(id) || manager === id) return undefined
  const named = (of: readonly string[]) => of.filter((one) => ids.has(one)).sort()
  return JSON.stringify([active, named(group_ids), named(role_ids), ...traits.map((name) => principal[name] ?? null)])
}

/** Whether the question names the person in another part than the approver. */
function namesOtherwise({ request: { requester }, literals }: ApproveQuestion, id: string): boolean {
  return requester.id === id || requester.manager === id || (literals !== undefined && namedIn(literals).has(id))
}

const idsOf = new WeakMap<LiteralFacts, ReadonlySet<string>>()

function namedIn(literals: LiteralFacts): ReadonlySet<string> {
  const known = idsOf.get(literals)
  if (known !== undefined) return known
  const ids = new Set<string>()
  for (const fact of literals.values()) {
    if (fact === null || !('user' in fact)) continue
    ids.add(fact.user.id)
    if (fact.user.manager !== undefined) ids.add(fact.user.manager)
  }
  idsOf.set(literals, ids)
  return ids
}
