import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fc } from '../../../test/support/chance.ts'
import { longVariable, rounds } from '../../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { createEngine, type EntityJson } from '../cedar/engine.ts'
import { parseStatement } from '../cedar/parse.ts'
import { askOf, type LiteralFacts, type Principal, type Resource } from '../cedar/question.ts'
import { entityKey, readingOf } from '../cedar/reading.ts'
import { sampleQuestion } from '../cedar/samples.ts'
import { schemaWith, unnamedAction } from '../cedar/schema.ts'
import { createPolicyEvaluator, evaluate } from './evaluate.ts'
import { atOnce } from './pieces.ts'
import { sortRules } from './rule-set.ts'

/**
 * The engine itself, with every rule and with everything that a tenant knows, answers as Sallyport does with the rules that fit, the
 * entities of the question and those that the rules read.
 */

const userIds = ['ann', 'bob', 'cy']
const accountIds = ['100000000001', '100000000002', '100000000003']
const units = ['ou-ab12-00000001', 'ou-ab12-00000002']
const databaseIn = (account: string) => `arn:aws:rds:eu-west-1:${account}:db:orders`

const anyTags = fc.dictionary(fc.constantFrom('env', 'team', '__proto__x'), fc.constantFrom('prod', 'dev', 'ann'), {
  maxKeys: 2,
})
const anyWorld = fc.record({
  users: fc.tuple(
    ...userIds.map((id) =>
      fc.record({
        id: fc.constant(id),
        email: fc.constantFrom('a@x.example', 'b@x.example'),
        is_owner: fc.boolean(),
        group_ids: fc.subarray(['ops', 'dev']),
        role_ids: fc.subarray(['admin']),
      }),
    ),
  ),
  accounts: fc.tuple(
    ...accountIds.map((id) =>
      fc.record({ id: fc.constant(id), name: fc.constantFrom('', 'shop'), tags: anyTags, units: fc.subarray(units) }),
    ),
  ),
})
type World = typeof anyWorld extends fc.Arbitrary<infer Value> ? Value : never

const [ann, , gone] = ['User::"ann"', 'User::"bob"', 'User::"gone"']
const [one, two, uncached] = ['cloud_account::"100000000001"', 'cloud_account::"100000000002"', 'cloud_account::"999"']
const database = `cloud_db_instance::"${databaseIn('100000000002')}"`
const conditions = [
  'true',
  `${ann}.is_owner`,
  `User::"bob".email == principal.email`,
  `${ann} in Group::"ops"`,
  `${ann} is User in Role::"admin"`,
  `[${ann}, User::"bob"].contains(principal)`,
  `${gone}.is_owner`,
  `${gone} in Group::"ops"`,
  `${gone} has email`,
  `(if context.has_reason then ${ann} else principal).is_owner`,
  `{who: User::"cy"}.who.is_owner`,
  `{who: if principal.is_owner then User::"cy" else ${gone}}.who has email`,
  `${one}.hasTag("env") && ${one}.getTag("env") == "prod"`,
  `${two}.getTag("env") == "prod"`,
  `${one}.hasTag("env") && resource.hasTag("env") && resource.getTag("env") == ${one}.getTag("env")`,
  `${one} in cloud_organizational_unit::"${units[0]}"`,
  `${two} in [cloud_organizational_unit::"${units[0]}", cloud_organizational_unit::"${units[1]}"]`,
  `${two}.name == "shop"`,
  `${uncached}.name == ""`,
  `${uncached}.hasTag("env")`,
  `${database}.hasTag("env")`,
  `${database} in cloud_organizational_unit::"${units[1]}" && ${database} in ${two}`,
  `cloud_storage_bucket::"elsewhere".hasTag("env")`,
  `cloud_storage_bucket::"logs".hasTag("env")`,
  'resource.hasTag("team") && resource.getTag("team") == principal.email',
  'resource.getTag("env") == "prod"',
  `resource in cloud_organizational_unit::"${units[0]}"`,
  `resource in ${two}`,
]
const anyRule = fc.record({
  effect: fc.constantFrom('permit', 'permit', 'forbid'),
  principal: fc.constantFrom('principal', `principal == ${ann}`, 'principal in Group::"ops"'),
  resource: fc.constantFrom('resource', `resource in ${one}`, 'resource is cloud_storage_bucket', `resource == ${two}`),
  negated: fc.boolean(),
  condition: fc.constantFrom(...conditions),
})
type Drawn = typeof anyRule extends fc.Arbitrary<infer Value> ? Value : never
const textOf = ({ effect, principal, resource, negated, condition }: Drawn) =>
  `${effect}(${principal}, action, ${resource}) ${negated ? 'unless' : 'when'} { ${condition} };`

const personOf = (drawn: World['users'][number]): Principal => ({ ...sampleQuestion.principal, ...drawn })
const within = (ids: readonly string[]) => ids.map((id) => ({ type: 'cloud_organizational_unit' as const, id }))

/** Every resource of the world; the bucket lies in the third account, which only the question says. */
function resourcesOf({ accounts }: World): Resource[] {
  return accounts.flatMap(({ id, name, tags, units: above }): Resource[] => {
    const parents = [{ type: 'cloud_account' as const, id }, ...within(above)]
    return [
      { type: 'cloud_account', id, name, tags, parents: within(above) },
      { type: 'cloud_db_instance', id: databaseIn(id), name: 'orders', tags, parents },
      ...(id === accountIds[2]
        ? [{ type: 'cloud_storage_bucket' as const, id: 'logs', name: 'logs', tags, parents }]
        : []),
    ]
  })
}

/** The whole graph, as the engine takes it; written here once more, independently of what builds questions. */
function graphOf(world: World, asked: Resource): EntityJson[] {
  const people = world.users.map(personOf).map(({ group_ids, role_ids, scopes, id, ...attrs }) => ({
    uid: { type: 'User', id },
    attrs: { ...attrs, scopes: [...scopes] },
    parents: [
      ...group_ids.map((one) => ({ type: 'Group', id: one })),
      ...role_ids.map((one) => ({ type: 'Role', id: one })),
    ],
  }))
  const resources = resourcesOf(world)
    .filter(({ type }) => type !== 'cloud_storage_bucket' || asked.type === type)
    .map(({ type, id, name, tags, parents }) => ({ uid: { type, id }, attrs: { name }, tags, parents: [...parents] }))
  return [...people, ...resources]
}

/** What is known of each entity that the rules read. */
function factsOf(world: World, texts: readonly string[]): LiteralFacts {
  const people = new Map(world.users.map((drawn) => [drawn.id, personOf(drawn)]))
  const resources = new Map(resourcesOf(world).map((one) => [entityKey(one), one]))
  const named = texts.flatMap((text) => readingOf(parseStatement(text)).literals)
  return new Map(
    named.map((one) => {
      const user = one.type === 'User' ? people.get(one.id) : undefined
      const resource = one.type === 'cloud_storage_bucket' ? undefined : resources.get(entityKey(one))
      return [entityKey(one), user !== undefined ? { user } : resource !== undefined ? { resource } : null]
    }),
  )
}

const [rawEngine, ownEngine] = [createEngine(), createEngine()]
const schema = schemaWith([unnamedAction])

for (const round of rounds(1))
  test(`rules that read entities get the answers of the engine with every rule and the whole graph (${round})`, async () => {
    // Reports the test before.
    await nextTurn()
    let [matched, failed, asked] = [0, 0, 0]
    const evaluator = createPolicyEvaluator(ownEngine)
    const property = fc.property(
      fc.array(anyRule, { minLength: 4, maxLength: 30, size: 'max' }),
      anyWorld,
      fc.array(fc.record({ who: fc.nat(2), what: fc.nat(6), has_reason: fc.boolean() }), {
        minLength: 10,
        maxLength: 10,
      }),
      (drawn, world, questions) => {
        const texts = drawn.map(textOf)
        const rules = texts.map((text, index) => sampleRule(`rule-${index}`, text))
        const sizes = { mostWhole: 0, maxJoined: 4, maxPicked: 8 }
        const sorted = atOnce(sortRules(rules, (rule) => parseStatement(rule.policy_text), undefined, sizes))
        const sliced = { ...evaluator, rules: { ...evaluator.rules, sorted: () => sorted } }
        const facts = factsOf(world, texts)
        const [ruleSet, resources] = [sampleRuleSet(rules), resourcesOf(world)]
        for (const { who, what, has_reason } of questions) {
          const principal = personOf(world.users[who] as World['users'][number])
          const resource = resources[what] as Resource
          const question = { ...sampleQuestion, principal, context: { ...sampleQuestion.context, has_reason } }
          const put = (action: string) => askOf(question, resource, action)
          const own = evaluate(sliced, ruleSet, 'ordinary', 'Read', put, facts)
          const raw = rawEngine.use((cedar) =>
            cedar.isAuthorized({
              ...put(unnamedAction),
              entities: graphOf(world, resource),
              schema,
              validateRequest: true,
              policies: { staticPolicies: Object.fromEntries(rules.map(({ id, policy_text }) => [id, policy_text])) },
            }),
          )
          assert.equal(raw.type, 'success', JSON.stringify(raw))
          if (raw.type !== 'success') return
          const { decision, diagnostics } = raw.response
          const failedForbid = diagnostics.errors.some(({ policyId }) =>
            texts[Number(policyId.slice(5))]?.startsWith('forbid'),
          )
          assert.equal(own.fault, undefined)
          assert.equal(own.allowed, decision === 'allow' && !failedForbid)
          assert.deepEqual(
            [...own.permits, ...own.forbids].map(({ id }) => id).toSorted(),
            diagnostics.reason.toSorted(),
          )
          assert.deepEqual(
            own.errors.map(({ rule_id }) => rule_id).toSorted(),
            diagnostics.errors.map(({ policyId }) => policyId).toSorted(),
          )
          asked += 1
          if (diagnostics.reason.length > 0) matched += 1
          if (diagnostics.errors.length > 0) failed += 1
        }
      },
    )
    fc.assert(property, { numRuns: process.env[longVariable] === undefined ? 25 : 360 })
    // Enough rules must have matched and failed for the comparison to mean something.
    assert.ok(matched > asked / 3 && failed > asked / 8, `${matched} matched and ${failed} failed of ${asked}`)
  })

test('an entity that a rule reads and that was not loaded leaves the question without an answer', () => {
  const ruleSet = sampleRuleSet([
    sampleRule('one', 'permit(principal, action, resource);'),
    sampleRule('two', 'forbid(principal, action, resource) when { User::"ann".is_owner };'),
  ])
  const [resource] = sampleQuestion.resources
  const put = (action: string) => askOf(sampleQuestion, resource as Resource, action)
  const answer = evaluate(createPolicyEvaluator(ownEngine), ruleSet, 'ordinary', 'Read', put)
  assert.equal(answer.allowed, false)
  assert.match(answer.fault ?? '', /`User::"ann"`, which a rule reads, were not loaded/)
})

test('where a rule reads the principal of the question by name, the facts of the question count', () => {
  const rule = sampleRule('one', 'permit(principal, action, resource) when { User::"ann".is_owner };')
  const principal = { ...sampleQuestion.principal, id: 'ann', is_owner: false }
  const [resource] = sampleQuestion.resources
  const put = (action: string) => askOf({ ...sampleQuestion, principal }, resource as Resource, action)
  const stale = new Map([['User::"ann"', { user: { ...principal, is_owner: true } }]])
  const answer = evaluate(createPolicyEvaluator(ownEngine), sampleRuleSet([rule]), 'ordinary', 'Read', put, stale)
  assert.deepEqual([answer.allowed, answer.fault], [false, undefined])
})
