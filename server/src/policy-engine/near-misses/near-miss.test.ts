import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearMisses, nearMissWords, permitWhen, requester } from '../../../test/support/near-misses.ts'
import { sampleAccount, sampleQuestion } from '../cedar/samples.ts'

/** The near misses that a requester is shown, depending on the requester's scopes. */
const long = { duration_seconds: 28_800 }

test('shows a forbid that another request would not match', async () => {
  const rules = [
    'permit (principal, action, resource);',
    '@notice("short") forbid (principal, action, resource) when { context.duration_seconds > 14400 };',
  ]
  const [miss] = await nearMisses(rules, { context: long })
  assert.equal(
    miss?.words,
    'for at most 4 hours no rule forbids this; you requested 8 hours; rule 1 of the policy “Accounts” (short) forbids that',
  )
  assert.deepEqual([miss?.duration_seconds, miss?.rule_id], [14_400, 'r2'])
  assert.deepEqual(await nearMissWords(rules.slice(1), { context: long }), [], 'nothing permits it')
})

test('shows a rule that would approve at once what a person decides', async () => {
  const rules = [
    'permit (principal, action, resource);',
    '@approval_mode("auto") permit (principal, action, resource) when { context.duration_seconds <= 600 };',
  ]
  assert.deepEqual(await nearMissWords(rules), [
    'rule 1 of the policy “Accounts” approves this at once for at most 10 minutes; you requested 1 hour',
  ])
  const held = [
    ...rules,
    '@approval_mode("auto") forbid (principal, action, resource) when { context.via == "token" };',
  ]
  assert.deepEqual(await nearMissWords(held, {}, requester), [
    'a rule approves this at once for at most 10 minutes and with an API key; you requested 1 hour, and you made the request with a token',
  ])
  assert.deepEqual(await nearMissWords(held, { context: { duration_seconds: 600 } }), [
    'with an API key no person has to decide this; you made the request with a token; rule 1 of the policy “Accounts” has a person decide that',
  ])
})

test('says of a rule whether it would approve at once, as the decision by it does', async () => {
  const rule = '@approval_mode("auto") permit (principal in Group::"sre", action, resource);'
  const [by, toMembers] = ['rule 1 of the policy “Accounts”', 'to members of the group `sre`; you are not']
  const atOnce = [`${by} approves this at once ${toMembers}`]
  assert.deepEqual(await nearMissWords([rule]), atOnce)
  const held = [rule, '@approval_mode("auto") forbid (principal, action, resource);']
  const [miss] = await nearMisses(held)
  assert.deepEqual([miss?.words, miss?.approval_mode], [`${by} permits this ${toMembers}`, 'require'])
  const own = { principal: { ...sampleQuestion.principal, id: 'editor' } }
  assert.deepEqual(await nearMissWords([rule], own), [`${by} permits this ${toMembers}`], 'who saved it last')
  assert.deepEqual(await nearMissWords([rule, 'permit (principal in Group::"ops", action, resource);']), [
    ...atOnce,
    `${by} permits this to members of the group \`ops\`; you are not`,
  ])
})

test('says of a rule that also names `approve` what it permits to request', async () => {
  const rule = 'permit (principal, action in [Action::"List", Action::"approve"], resource);'
  assert.deepEqual(await nearMissWords([rule]), [
    'rule 1 of the policy “Accounts” permits this for the action `List`; you requested `ReadOnlyAccess`',
  ])
  const byCondition = 'permit (principal, action in [Action::"ReadOnlyAccess", Action::"approve"], resource)'
  assert.deepEqual(await nearMissWords([`${byCondition} when { action in [Action::"approve", Action::"List"] };`]), [
    'rule 1 of the policy “Accounts” permits this for the action `List`; you requested `ReadOnlyAccess`',
  ])
  assert.deepEqual(await nearMissWords([`${byCondition} when { action == Action::"approve" };`]), [
    'rule 1 of the policy “Accounts” permits this when { action == Action::"approve" }; that is not so',
  ])
})

test('shows break-glass only if nothing else is permitted, never as the quicker way', async () => {
  const glass = '@approval_mode("break_glass") permit (principal, action, resource);'
  assert.deepEqual(await nearMissWords([glass], { context: { has_reason: false } }, requester), [
    'a rule approves this at once in an emergency, with a reason; your request is not marked as one',
  ])
  assert.deepEqual(await nearMissWords([glass, 'permit (principal, action, resource);']), [])
  assert.deepEqual(await nearMissWords(['permit (principal, action, resource);'], { context: { break_glass: true } }), [
    'rule 1 of the policy “Accounts” permits this outside an emergency; you requested it as one',
  ])
})

test('shows for several resources only changes that fix all of them, and other conditions by resource', async () => {
  const other = { ...sampleAccount, id: '210987654321', name: 'other', tags: { env: 'prod' } }
  const resources = [sampleAccount, other]
  const rules = [permitWhen('context.duration_seconds <= 600'), permitWhen('resource.getTag("env") == "dev"')]
  assert.deepEqual(await nearMissWords(rules, { resources }), [
    'rule 1 of the policy “Accounts” permits this for at most 10 minutes; you requested 1 hour',
    'rule 1 of the policy “Accounts” permits this on cloud_account `210987654321` (other) where the resource’s tag `env` is "dev"; it is "prod"',
  ])
  const half = [
    'permit (principal, action, resource == cloud_account::"123456789012");',
    'permit (principal, action, resource == cloud_account::"210987654321") when { context.duration_seconds <= 600 && resource.getTag("env") == "dev" };',
  ]
  assert.deepEqual(await nearMissWords(half, { resources }, requester), [])
})

test('shows no rule, network, tag or person to a requester who may not read rules', async () => {
  const rules = [
    ...[
      'context.duration_seconds <= 600',
      'context.duration_seconds <= 1200',
      'context.source_ip.isInRange(ip("10.0.0.0/8"))',
    ].map(permitWhen),
    ...['resource.getTag("env") == "prod"', 'principal in Group::"sre"', 'context.now < datetime("2023-01-01")'].map(
      permitWhen,
    ),
  ]
  assert.deepEqual(await nearMisses(rules, {}, requester), [
    {
      kind: 'duration_seconds',
      words: 'a rule permits this for at most 20 minutes; you requested 1 hour',
      wanted: 'for at most 20 minutes',
      given: 'you requested 1 hour',
      approval_mode: 'require',
      duration_seconds: 1_200,
    },
    {
      kind: 'source_ip',
      words: 'a rule permits this from another address; your address is 192.0.2.1',
      wanted: 'from another address',
      given: 'your address is 192.0.2.1',
      approval_mode: 'require',
    },
  ])
})

test('shows a rule only if it would give the access', async () => {
  const ended = 'context.weekday == 2 && context.now < datetime("2024-01-02")'
  const words = await nearMissWords([permitWhen(ended), permitWhen('context.weekday == 2')])
  assert.deepEqual(words, ['rule 1 of the policy “Accounts” permits this from Tuesday 00:00 (UTC); it is Monday 12:00'])
  const tooShort = 'forbid (principal, action, resource) when { context.duration_seconds < 1200 };'
  assert.deepEqual(await nearMissWords([permitWhen('context.duration_seconds <= 600'), tooShort]), [])
})

test('suggests no emergency without a reason, which cannot be requested', async () => {
  const unreasoned = permitWhen('!context.has_reason')
  const forbids = [
    'permit (principal, action, resource);',
    'forbid (principal, action, resource) when { context.has_reason };',
  ]
  for (const rules of [[unreasoned], forbids]) {
    assert.equal((await nearMissWords(rules)).length, 1)
    assert.deepEqual(await nearMissWords(rules, { context: { break_glass: true } }), [])
  }
})

test('names only durations that are permitted, as far as rules name durations', async () => {
  const short = permitWhen('context.duration_seconds <= 14400')
  const forbid = (condition: string) => `forbid (principal, action, resource) when { ${condition} };`
  const hours = 'context.duration_seconds > 3600 && context.duration_seconds < 7200'
  for (const [rules, wanted] of [
    [[short, forbid('context.duration_seconds < 1800')], 'a rule permits this for 30 minutes to 4 hours'],
    [[short, forbid(hours)], 'a rule permits this for 2 hours to 4 hours'],
    [
      [permitWhen('context.duration_seconds >= 1800'), forbid('context.duration_seconds > 3600')],
      'for 30 minutes to 1 hour no rule forbids this',
    ],
    [
      [
        '@approval_mode("auto") permit (principal, action, resource) when { context.duration_seconds <= 14400 };',
        '@approval_mode("auto") forbid (principal, action, resource) when { context.duration_seconds < 3600 };',
      ],
      'a rule approves this at once for 1 hour to 4 hours',
    ],
    [[short, forbid('context.duration_seconds != 14400')], 'a rule permits this for exactly 4 hours'],
    [
      [permitWhen('context.duration_seconds <= 14400 && context.via == "api_key"'), forbid(hours)],
      'a rule permits this for 2 hours to 4 hours and with an API key',
    ],
  ] as const) {
    const [words] = await nearMissWords([...rules], { context: long }, requester)
    assert.equal(words?.split(';')[0], wanted)
  }
  const byTag = permitWhen('context.duration_seconds <= 14400 && resource.hasTag("tier")')
  const [words] = await nearMissWords([byTag, forbid(hours)], { context: long })
  assert.match(words ?? '', / permits this for 2 hours to 4 hours and where the resource has a tag `tier`; /)
})

test('shows nothing if more forbids match than can be checked', async () => {
  const rules = (forbids: number) => [
    permitWhen('context.duration_seconds <= 600'),
    ...Array.from(
      { length: forbids },
      (_, n) => `forbid (principal, action, resource) when { resource.name == "${n}" };`,
    ),
  ]
  assert.equal((await nearMissWords(rules(60))).length, 1)
  assert.deepEqual(await nearMissWords(rules(61)), [])
})

test('shows a resource’s data only to a requester who may read accounts', async () => {
  const listener = { mayReadRules: true, mayReadAccounts: false }
  assert.deepEqual(await nearMissWords([permitWhen('resource.getTag("env") == "prod"')], {}, listener), [
    'rule 1 of the policy “Accounts” permits this where the resource’s tag `env` is "prod"; that is not so',
  ])
})

test('shows nothing of a condition that the requester cannot change, or if no change helps', async () => {
  const two = permitWhen('context.duration_seconds <= 600 && resource.getTag("env") == "prod"')
  assert.deepEqual(await nearMissWords([two], {}, requester), [])
  const never = 'forbid (principal, action, resource);'
  assert.deepEqual(await nearMissWords([permitWhen('context.duration_seconds <= 600'), never]), [])
  assert.deepEqual(await nearMissWords([permitWhen('resource.getTag("env") == "prod"'), never]), [])
  const failing = 'forbid (principal, action, resource) when { resource.getTag("gone") == "" };'
  assert.deepEqual(await nearMissWords([permitWhen('resource.getTag("env") == "prod"'), failing]), [])
  const inactive = { ...sampleQuestion.principal, active: false }
  assert.deepEqual(await nearMissWords([permitWhen('context.duration_seconds <= 600')], { principal: inactive }), [])
})
