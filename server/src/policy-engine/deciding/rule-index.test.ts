import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStatement } from '../cedar/parse.ts'
import { approveOf, askOf } from '../cedar/question.ts'
import { sampleAccount, sampleApproval, sampleQuestion } from '../cedar/samples.ts'
import { scopeFromEngine } from '../cedar/scope.ts'
import { fits, keyedScope, reachesOf } from './keyed-scope.ts'
import { narrowingOf } from './narrowing.ts'
import { atOnce } from './pieces.ts'
import { combinationsOf, groupsFor, indexRules as indexing, type Sizes, sharedGroups } from './rule-index.ts'

const scopeOf = (head: string) => keyedScope(scopeFromEngine(parseStatement(`permit(${head});`)))

/** Ada, an engineer, requests ReadOnlyAccess on an account in a unit. */
const question = askOf(sampleQuestion, sampleAccount, 'ReadOnlyAccess')
const asking = reachesOf(question)
/** Grace decides that request. */
const approving = reachesOf(approveOf(sampleApproval, sampleAccount))
const unit = 'cloud_organizational_unit::"ou-ab12-12345678"'
const account = 'cloud_account::"123456789012"'

const table: [head: string, asking: boolean, approving: boolean][] = [
  ['principal, action, resource', true, true],
  ['principal == User::"ada", action, resource', true, false],
  ['principal == User::"grace", action, resource', false, true],
  ['principal == Group::"engineers", action, resource', false, false],
  ['principal in User::"ada", action, resource', true, false],
  ['principal in Group::"engineers", action, resource', true, true],
  ['principal in Role::"engineers", action, resource', false, false],
  ['principal in Role::"user", action, resource', true, true],
  ['principal is User, action, resource', true, true],
  ['principal is Group, action, resource', false, false],
  ['principal is User in Group::"engineers", action, resource', true, true],
  ['principal is Role in Group::"engineers", action, resource', false, false],
  ['principal, action == Action::"ReadOnlyAccess", resource', true, false],
  ['principal, action in [Action::"Admin", Action::"approve"], resource', false, true],
  [`principal, action, resource == ${account}`, true, false],
  [`principal, action, resource in ${account}`, true, true],
  [`principal, action, resource == ${unit}`, false, false],
  [`principal, action, resource in ${unit}`, true, true],
  ['principal, action, resource is cloud_account', true, false],
  ['principal, action, resource is access_request', false, true],
  [`principal, action, resource is cloud_account in ${unit}`, true, false],
  [`principal, action, resource is access_request in ${account}`, false, true],
]
for (const [head, fitsRequest, fitsApproval] of table)
  test(`\`${head}\` fits a request: ${fitsRequest}; fits an approval: ${fitsApproval}`, () => {
    const scope = scopeOf(head)
    assert.deepEqual([fits(scope, asking), fits(scope, approving)], [fitsRequest, fitsApproval])
  })

test('an id is never read as type and id, and a parent’s ancestors are the child’s ancestors', () => {
  const uid = { type: 'Group', id: 'a' }
  const entities = [
    { uid: { type: 'User', id: 'u' }, attrs: {}, parents: [{ __entity: uid }] },
    { uid, attrs: {}, parents: [{ type: 'Role', id: 'b' }] },
  ]
  const reaches = reachesOf({
    principal: { type: 'User', id: 'u' },
    action: { type: 'Action', id: 'x' },
    resource: { type: 'cloud_account', id: 'Group a' },
    context: {},
    entities,
  })
  assert.equal(fits(scopeOf('principal in Role::"b", action, resource'), reaches), true)
  assert.equal(fits(scopeOf('principal, action, resource in Group::"a"'), reaches), false)
})

const indexRules = (held: ReturnType<typeof rules>, of: Sizes) => atOnce(indexing(held, of))

let serial = 0
/** Rules, no two of which are alike unless `text` says so. */
const rules = (
  count: number,
  head: (index: number) => string,
  tail = (index: number) => `when { ${index} < context.minute }`,
) =>
  Array.from({ length: count }, (_, index) => {
    serial += 1
    const { conditions, ...statement } = parseStatement(`permit(${head(index)}) ${tail(index)}\n;`)
    const scope = keyedScope(scopeFromEngine(statement))
    const narrowing = narrowingOf(conditions)
    const like = `${head(index)} ${tail(index)}`
    return {
      id: `rule-${serial}`,
      serial,
      place: serial,
      like,
      scope,
      narrowing,
      ways: combinationsOf(scope, narrowing),
    }
  })
const sizes = { mostWhole: 10, maxJoined: 4, maxPicked: 8 }
const groupSizes = (held: ReturnType<typeof rules>[]) =>
  groupsFor(indexRules(held.flat(), sizes), question).map((group) => group.rules.length)

test('a few rules are one group without an index', () => {
  assert.deepEqual(groupSizes([rules(10, () => 'principal == User::"nobody", action, resource')]), [10])
})

test('only the rules whose scope fits are evaluated, if there are many rules', () => {
  const teams = rules(60, (index) => `principal in Group::"team ${index % 20}", action, resource`)
  assert.deepEqual(groupSizes([teams]), [0])
  assert.deepEqual(groupSizes([teams, rules(3, () => 'principal in Group::"engineers", action, resource')]), [3])
})

test('small buckets are joined, larger ones are separate groups, and very large ones are split', () => {
  const own = rules(2, () => 'principal == User::"ada", action, resource')
  const there = rules(2, () => `principal, action, resource == ${account}`)
  const team = rules(6, () => 'principal in Group::"engineers", action, resource')
  const broad = rules(30, () => 'principal, action, resource')
  const groups = groupSizes([own, there, team, broad])
  assert.deepEqual(groups.toSorted(), [4, 6, 7, 7, 8, 8])
})

test('the groups of a question hold every rule that fits, and no rule twice', () => {
  const all = [
    ...rules(30, (index) => `principal, action in [Action::"ReadOnlyAccess", Action::"${index % 3}"], resource`),
    ...rules(9, () => `principal in Group::"engineers", action, resource in ${unit}`),
    ...rules(9, (index) => `principal is User, action, resource is ${index % 2 ? 'cloud_account' : 'access_request'}`),
  ]
  const many = Array.from({ length: 9 }, (_, index) => `Action::"${index}"`)
  all.push(...rules(3, () => `principal, action in [Action::"ReadOnlyAccess", ${many}], resource`))
  const found = groupsFor(indexRules(all, sizes), question).flatMap((group) => group.rules.map((rule) => rule.serial))
  assert.equal(new Set(found).size, found.length)
  const fitting = all.filter((rule) => fits(rule.scope, asking)).map((rule) => rule.serial)
  assert.deepEqual(
    fitting.filter((one) => !found.includes(one)),
    [],
  )
})

test('a changed rule changes only one piece of the rules that every question evaluates', () => {
  const broad = rules(60, () => 'principal, action, resource')
  const before = [...sharedGroups(indexRules(broad, sizes))]
  const changed = broad.map((rule, index) => (index === 7 ? { ...rule, serial: rule.serial + 1_000 } : rule))
  const after = [...sharedGroups(indexRules(changed, sizes))]
  const keys = new Set(before.map(({ key }) => key))
  assert.equal(before.length, 8)
  assert.equal(after.filter(({ key }) => !keys.has(key)).length, 1)
})

test('only the rules whose conditions begin with what the question has are evaluated', () => {
  const anything = () => 'principal, action, resource'
  const tagged = rules(60, anything, (at) => `when { resource.hasTag("env") && resource.getTag("env") == "${at}" }`)
  const grouped = rules(60, anything, (at) => `when { context.has_reason && principal in Group::"${at}" }`)
  assert.deepEqual(groupSizes([tagged, grouped]), [0])
  const env = rules(
    2,
    anything,
    (at) => `when { resource.hasTag("env") && resource.getTag("env") == "dev" && ${at} < 9 }`,
  )
  const engineers = rules(
    2,
    anything,
    (at) => `unless { context.break_glass } when { principal in Group::"engineers" && ${at} < 9 }`,
  )
  assert.deepEqual(groupSizes([tagged, grouped, env, engineers]), [4])
})

test('of rules with one text, one is evaluated', () => {
  const all = [
    ...rules(
      60,
      () => 'principal, action, resource',
      () => '',
    ),
    ...rules(3, () => 'principal, action, resource'),
  ]
  const { whole, twins } = indexRules(all, sizes)
  assert.deepEqual(whole?.rules, [all[0], ...all.slice(60)])
  assert.deepEqual([...twins], [[all[0]?.id, all.slice(1, 60).map(({ id }) => id)]])
})

test('the pieces of all actions together hold no more rules than there are', () => {
  const listed = Array.from({ length: 16 }, (_, at) => `Action::"${at}"`).join(', ')
  const head = () => `principal, action in [${listed}], resource`
  const distinct = rules(60, head)
  const twice = distinct.flatMap((rule) => [rule, { ...rule, id: `${rule.id} again`, serial: rule.serial + 1_000 }])
  for (const all of [distinct, twice.map((rule) => ({ ...rule, body: rule.like, like: String(rule.serial) }))]) {
    const groups = new Map([...sharedGroups(indexRules(all, sizes))].map((group) => [group.key, group.rules.length]))
    assert.equal(
      [...groups.values()].reduce((sum, length) => sum + length, 0),
      all.length,
    )
  }
})
