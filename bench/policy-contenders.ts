import { createMongoAbility, type MongoAbility, type RawRuleOf, subject } from '@casl/ability'
import { type Enforcer, newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import { createEngine } from '../server/src/policy-engine/cedar/engine.ts'
import { parseStatement } from '../server/src/policy-engine/cedar/parse.ts'
import { decideAsk } from '../server/src/policy-engine/deciding/decide.ts'
import { createPolicyEvaluator } from '../server/src/policy-engine/deciding/evaluate.ts'
import { atOnce } from '../server/src/policy-engine/deciding/pieces.ts'
import { type RuleSet, sortRules } from '../server/src/policy-engine/deciding/rule-set.ts'
import { asAskQuestion, asPolicyRule, type PlainQuestion, type PlainRule } from './policy-rules.ts'

/** Evaluates questions; `ask(index)` returns whether the question at that index is allowed. */
export type PolicyContender = { allows(index: number): boolean }

/** A policy evaluator as in the service. */
export const newEvaluator = () => createPolicyEvaluator(createEngine())

export function ruleSetOf(rules: readonly PlainRule[], version: string): RuleSet {
  return { tenant_id: 'bench', version, rules: rules.map(asPolicyRule) }
}

/** The service: the whole decision, with its reasons and messages. */
export function ours(
  ruleSet: RuleSet,
  questions: readonly PlainQuestion[],
  evaluator = newEvaluator(),
): PolicyContender {
  const askQuestions = questions.map(asAskQuestion)
  return {
    allows: (index) =>
      decideAsk(ruleSet, askQuestions[index % askQuestions.length] as (typeof askQuestions)[number], evaluator).allowed,
  }
}

/** The same engine with all rules in one set, otherwise unchanged. */
export function unsliced(ruleSet: RuleSet, questions: readonly PlainQuestion[]): PolicyContender {
  const evaluator = newEvaluator()
  const whole = { mostWhole: Number.POSITIVE_INFINITY, maxJoined: 0, maxPicked: 0, asksTwins: true } as const
  const sorted = atOnce(sortRules(ruleSet.rules, (rule) => parseStatement(rule.policy_text), undefined, whole))
  return ours(ruleSet, questions, { ...evaluator, rules: { ...evaluator.rules, sorted: () => sorted } })
}

// ── casbin ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const casbinModel = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[role_definition]
g = _, _
g2 = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = (p.sub == '*' || g(r.sub, p.sub)) && (p.obj == '*' || g2(r.obj, p.obj)) && names(p.act, r.act)
`

/** Its role-based model: users in groups and roles, accounts in units. A list of actions is one policy. */
export async function casbin(
  rules: readonly PlainRule[],
  questions: readonly PlainQuestion[],
): Promise<PolicyContender> {
  const name = (entity: { type: string; id: string } | null) => (entity === null ? '*' : `${entity.type}/${entity.id}`)
  const lines = rules.map(({ effect, holder, actions, place }) =>
    ['p', name(holder), name(place), actions?.join('|') ?? '*', effect === 'permit' ? 'allow' : 'deny'].join(', '),
  )
  const links = new Set(
    questions.flatMap(({ user, groups, roles, account, units }) => [
      ...groups.map((id) => `g, User/${user}, Group/${id}`),
      ...roles.map((id) => `g, User/${user}, Role/${id}`),
      ...units.map((id) => `g2, cloud_account/${account}, cloud_organizational_unit/${id}`),
    ]),
  )
  const adapter = new StringAdapter([...lines, ...links].join('\n'))
  const enforcer: Enforcer = await newEnforcer(newModelFromString(casbinModel), adapter)
  await enforcer.addFunction(
    'names',
    (listed: string, act: string) => listed === '*' || listed.split('|').includes(act),
  )
  return {
    allows(index) {
      const { user, account, action } = questions[index % questions.length] as PlainQuestion
      return enforcer.enforceSync(`User/${user}`, `cloud_account/${account}`, action)
    },
  }
}

// ── CASL ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

type CaslRule = RawRuleOf<MongoAbility>
const placesOf = ({ account, units }: PlainQuestion) => [account, ...units]
const holdersOf = ({ user, groups, roles }: PlainQuestion) => [
  `User ${user}`,
  ...groups.map((id) => `Group ${id}`),
  ...roles.map((id) => `Role ${id}`),
]

function caslRule({ effect, holder, actions, place }: PlainRule, withHolder: boolean): CaslRule {
  const conditions = {
    ...(place !== null && { places: place.id }),
    ...(withHolder && holder !== null && { holders: `${holder.type} ${holder.id}` }),
  }
  return {
    action: actions ?? 'manage',
    subject: 'account',
    inverted: effect === 'forbid',
    ...(Object.keys(conditions).length > 0 && { conditions }),
  }
}

/** In CASL the last matching rule decides: forbids go last. */
const forbidsLast = (rules: readonly PlainRule[]) =>
  rules.toSorted((one, other) => Number(one.effect === 'forbid') - Number(other.effect === 'forbid'))

/** The ability is built at each call, from all rules; the holder of a rule is one of its conditions. */
export function caslOfAll(rules: readonly PlainRule[], questions: readonly PlainQuestion[]): PolicyContender {
  const raw = forbidsLast(rules).map((rule) => caslRule(rule, true))
  return {
    allows(index) {
      const question = questions[index % questions.length] as PlainQuestion
      const account = { places: placesOf(question), holders: holdersOf(question) }
      return createMongoAbility(raw).can(question.action, subject('account', account))
    },
  }
}

/** The ability is built at each call, from the requester's rules, which a loop over all rules selects. */
export function caslOfRequester(rules: readonly PlainRule[], questions: readonly PlainQuestion[]): PolicyContender {
  const filed = forbidsLast(rules).map((rule) => ({
    holder: rule.holder === null ? null : `${rule.holder.type} ${rule.holder.id}`,
    raw: caslRule(rule, false),
  }))
  return {
    allows(index) {
      const question = questions[index % questions.length] as PlainQuestion
      const holders = new Set(holdersOf(question))
      const own = filed.filter(({ holder }) => holder === null || holders.has(holder)).map(({ raw }) => raw)
      return createMongoAbility(own).can(question.action, subject('account', { places: placesOf(question) }))
    },
  }
}
