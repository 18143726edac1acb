import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { nearMisses } from '../../../test/support/near-misses.ts'
import { rounds } from '../../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import type { NearMissExplanation } from '../../requests/near-miss-explanation.ts'
import type { AskQuestion, Principal, Resource } from '../cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../cedar/samples.ts'
import { decideAsk } from '../deciding/decide.ts'

/** A reader of rules is told where a rule permits the request. Where the words are made true, the rule does. */

const unit = 'cloud_organizational_unit::"ou-ab12-00000009"'
const scopes = {
  principal: ['principal in Group::"ops"', 'principal == User::"eve"', 'principal is User in Role::"admin"'],
  action: ['action in [Action::"List", Action::"Get"]', 'action in [Action::"approve", Action::"List"]'],
  resource: [
    ...['resource is cloud_storage_bucket', 'resource == cloud_account::"210987654321"', `resource in ${unit}`],
    `resource is cloud_account in ${unit}`,
  ],
}
const conditions = {
  principal: [
    ...['principal in [Group::"ops", Role::"admin", User::"eve"]', 'principal is User in Group::"ops"'],
    ...['principal.is_owner', 'principal.email_verified == true', '!(principal.name == "Ada")'],
    ...['principal.email like "*@corp.example"', 'principal.scopes.contains("audit:read")'],
    ...['!principal.scopes.contains("requests:create")', '["Eve", "Bob"].contains(principal.name)'],
    ...[
      'principal has department && principal.department == "Finance"',
      'principal has title',
      '!(principal has manager)',
    ],
    ...['!(principal has department && principal.department == "Sales")', 'principal has manager'],
    'principal has title && principal.title like "*lead"',
    'principal has manager && principal.manager == User::"grace"',
  ],
  action: ['action == Action::"List"', 'action in [Action::"List", Action::"Get"]'],
  resource: ['resource is cloud_storage_bucket', `resource in ${unit}`, 'resource == cloud_account::"210987654321"'],
  tag: [
    ...['resource.hasTag("tier")', '!resource.hasTag("env")', '["a", "b"].contains(resource.getTag("tier"))'],
    ...['resource.hasTag("env") && resource.getTag("env") == "prod"', 'resource.getTag("env") like "p*d"'],
    '!(resource.hasTag("env") && resource.getTag("env") == "dev")',
  ],
  name: ['resource.name == "shop"', '"shop" == resource.name', 'resource.name like "shop-*"'],
  reason: ['context.has_reason', '!context.has_reason'],
  via: ['context.via == "token"'],
}
type Subject = keyof typeof conditions

/** A permit of which each subject is tested once, so that its conditions do not contradict its scope. */
const anyPermit = fc
  .record({
    mode: fc.constantFrom('', '@approval_mode("auto") ', '@approval_mode("auto") ', '@approval_mode("break_glass") '),
    scope: fc.subarray<keyof typeof scopes>(['principal', 'action', 'resource'], { maxLength: 2 }),
    subjects: fc.subarray<Subject>(Object.keys(conditions) as Subject[], { maxLength: 3 }),
    pick: fc.nat(1_000),
    unless: fc.boolean(),
  })
  .map(({ mode, scope, subjects, pick, unless }) => {
    const of = (some: readonly string[]) => some[pick % some.length] as string
    const head = (['principal', 'action', 'resource'] as const).map((side) =>
      scope.includes(side) ? of(scopes[side]) : side,
    )
    const parts = subjects.filter((one) => !(scope as string[]).includes(one)).map((one) => `(${of(conditions[one])})`)
    const body = unless
      ? `unless { ${parts.map((part) => `!${part}`).join(' || ')} }`
      : `when { ${parts.join(' && ')} }`
    const isAlsoOfApprove = head[1]?.includes('approve')
    if (isAlsoOfApprove && parts.some((part) => /getTag|hasTag|resource\.name|resource is|"2109/.test(part)))
      return undefined
    return `${isAlsoOfApprove ? '' : mode}permit (${head.join(', ')}) ${parts.length === 0 ? '' : body};`
  })
  .filter((text) => text !== undefined)
const anyForbid = fc.constantFrom(
  ...[
    '@approval_mode("auto") forbid (principal, action, resource);',
    'forbid (principal, action, resource) when { context.weekday == 7 };',
  ],
  '@approval_mode("auto") forbid (principal, action, resource) when { context.via == "api_key" };',
)
const anyQuestion = fc
  .record({
    has_reason: fc.boolean(),
    via: fc.constantFrom('token' as const, 'api_key' as const),
    id: fc.constantFrom('ada', 'editor'),
  })
  .map(({ id, ...context }) => {
    const facts = id === 'ada' ? { department: 'Sales', manager: 'eve' } : {}
    return { principal: { ...sampleQuestion.principal, id, ...facts }, context }
  })

type World = { principal: Principal; action: string; resource: Resource; context: AskQuestion['context'] }
const valuesIn = (words: string) =>
  [...words.matchAll(/"(?:[^"\\]|\\.)*"|true|false/g)].map(([text]) => JSON.parse(text) as unknown)
const withPerson = (world: World, change: Partial<Principal>): World => ({
  ...world,
  principal: { ...world.principal, ...change },
})
const without = ({ principal, ...world }: World, fact: 'department' | 'manager'): World => {
  const { [fact]: _, ...person } = principal
  return { ...world, principal: person }
}
const withResource = (world: World, change: object): World => ({ ...world, resource: { ...world.resource, ...change } })
const withTag = (world: World, key: string, value: unknown) =>
  withResource(world, { tags: { ...world.resource.tags, [key]: value } })
const within = (world: World, type: string, id: string) =>
  withResource(world, { parents: [...world.resource.parents, { type, id }] })

/** For each form of words, the worlds in which they are true. */
const forms: [words: RegExp, worlds: (world: World, ...found: string[]) => World[]][] = [
  [/^with a reason$/, (world) => [{ ...world, context: { ...world.context, has_reason: true } }]],
  [/^without a reason$/, (world) => [{ ...world, context: { ...world.context, has_reason: false } }]],
  [/^with a token$/, (world) => [{ ...world, context: { ...world.context, via: 'token' } }]],
  [/^in an emergency/, (world) => [{ ...world, context: { ...world.context, break_glass: true, has_reason: true } }]],
  [/^where the resource has a tag `(.*)`$/, (world, key = '') => [withTag(world, key, 'any')]],
  [
    /^where the resource has no tag `(.*)`$/,
    (world, key = '') => [
      withResource(world, {
        tags: Object.fromEntries(Object.entries(world.resource.tags).filter(([one]) => one !== key)),
      }),
    ],
  ],
  [/^where the resource’s tag `(.*)` is not ".*"$/, (world, key = '') => [withTag(world, key, 'any')]],
  [
    /^where the resource’s tag `(.*?)` is like "(.*)"$/,
    (world, key = '', like = '') => [withTag(world, key, like.replaceAll('*', 'x'))],
  ],
  [
    /^where the resource’s tag `(.*?)` is (.*)$/,
    (world, key = '', values = '') => valuesIn(values).map((value) => withTag(world, key, value)),
  ],
  [
    /^where the resource’s name is like "(.*)"$/,
    (world, like = '') => [withResource(world, { name: like.replaceAll('*', 'x') })],
  ],
  [
    /^where the resource’s name is (.*)$/,
    (world, values = '') => valuesIn(values).map((name) => withResource(world, { name })),
  ],
  [/^where your `name` is not .*$/, (world) => [withPerson(world, { name: 'any' })]],
  [
    /^where your `(.*)` is like "(.*)"$/,
    (world, key = '', like = '') => [withPerson(world, { [key]: like.replaceAll('*', 'x') })],
  ],
  [
    /^where your `(.*)` is (.*)$/,
    (world, key = '', values = '') => valuesIn(values).map((value) => withPerson(world, { [key]: value })),
  ],
  [
    /^where your department is not .*$/,
    (world) => [withPerson(world, { department: 'any' }), without(world, 'department')],
  ],
  [
    /^where your job title is like "(.*)"$/,
    (world, like = '') => [withPerson(world, { title: like.replaceAll('*', 'x') })],
  ],
  [
    /^where your (department) is (.*)$/,
    (world, key = '', values = '') => valuesIn(values).map((value) => withPerson(world, { [key]: value })),
  ],
  [/^to users whose job title is known$/, (world) => [withPerson(world, { title: 'any' })]],
  [/^to users whose manager is known$/, (world) => [withPerson(world, { manager: 'any' })]],
  [/^to users whose manager is not known$/, (world) => [without(world, 'manager')]],
  [/^to users whose manager is the user `(.*)`$/, (world, manager = '') => [withPerson(world, { manager })]],
  [/^to users whose e-mail address is verified$/, (world) => [withPerson(world, { email_verified: true })]],
  [/^to users who hold the scope `(.*)`$/, (world, scope = '') => [withPerson(world, { scopes: [scope] })]],
  [/^to users who do not hold the scope `.*`$/, (world) => [withPerson(world, { scopes: [] })]],
  [
    /^(to .*)$/,
    (world, words = '') =>
      words.split(/, | or /).map((one) => {
        const [, id = ''] = /`(.*)`/.exec(one) ?? []
        if (one.startsWith('to members of the group')) return withPerson(world, { group_ids: [id] })
        return one.startsWith('to holders of the role')
          ? withPerson(world, { role_ids: [id] })
          : withPerson(world, { id })
      }),
  ],
  [
    /^for the action (.*)$/,
    (world, words = '') => [...words.matchAll(/`(.*?)`/g)].map(([, action = '']) => ({ ...world, action })),
  ],
  [
    /^on each (\w+) in (\w+) `(.*)`$/,
    (world, type = '', above = '', id = '') => [within(withResource(world, { type }), above, id)],
  ],
  [/^on each (\w+)$/, (world, type = '') => [withResource(world, { type, parents: [] })]],
  [/^on (\w+) `(.*)`$/, (world, type = '', id = '') => [withResource(world, { type, id })]],
  [/^in (\w+) `(.*)`$/, (world, type = '', id = '') => [within(world, type, id)]],
]

function worldsWhere(wanted: string, world: World): World[] {
  for (const [words, worlds] of forms) {
    const found = words.exec(wanted)
    if (found !== null) return worlds(world, ...found.slice(1))
  }
  return assert.fail(`no world for: ${wanted}`)
}

type Asked = typeof anyQuestion extends fc.Arbitrary<infer Value> ? Value : never
type Rules = ReturnType<typeof sampleRule>[]

/** Fails unless the rule that the explanation names permits the request wherever all its words are true. */
function requireTrue({ rule_id, words, wanted, also, approval_mode }: NearMissExplanation, rules: Rules, asked: Asked) {
  const rule = rules.find(({ id }) => id === rule_id) ?? assert.fail(words)
  const { principal } = asked
  const context = { ...sampleQuestion.context, ...asked.context }
  const start: World = { principal, action: sampleQuestion.action, resource: sampleAccount, context }
  const first = worldsWhere(wanted, start)
  const worlds = also === undefined ? first : first.flatMap((world) => worldsWhere(also.wanted, world))
  for (const { resource, ...world } of worlds) {
    const question = { ...world, resources: [resource] }
    const told = `${words}\n${rules.map(({ policy_text }) => policy_text).join('\n')}`
    assert.ok(decideAsk(sampleRuleSet([rule]), question).allowed, told)
    const { allowed, mode, rule_ids } = decideAsk(sampleRuleSet(rules), question)
    // Another person is not the one who saved the rule.
    if (world.principal.id === principal.id && approval_mode === 'auto')
      assert.deepEqual([allowed, mode, rule_ids.includes(rule.id)], [true, 'auto', true], told)
  }
}

test('where the words of an explanation are true, the rule permits the request, and approves it as they say', async (t) => {
  const tally: Record<string, number> = {}
  const anyRules = fc.tuple(fc.array(anyPermit, { minLength: 1, maxLength: 3 }), fc.option(anyForbid))
  const property = fc.asyncProperty(anyRules, anyQuestion, async ([permits, forbid], asked) => {
    const texts = [...permits, ...(forbid === null ? [] : [forbid])]
    const rules = texts.map((text, at) => sampleRule(`r${at + 1}`, text))
    const isPermit = ({ rule_id }: NearMissExplanation) => rules.find(({ id }) => id === rule_id)?.effect === 'permit'
    for (const miss of (await nearMisses(texts, asked)).filter(isPermit)) {
      // A condition without words is shown as its code.
      if (miss.kind === 'condition' || miss.also?.kind === 'condition') continue
      requireTrue(miss, rules, asked)
      tally[miss.kind] = (tally[miss.kind] ?? 0) + 1
    }
  })
  await fc.assert(property, { numRuns: rounds(120).length })
  t.diagnostic(JSON.stringify(tally))
  assert.ok(Object.keys(tally).length > 6)
})
