import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { evaluator, readRulesOf, ruleSetOf, searchBudget } from '../../../test/support/invariant-search.ts'
import { sampleRule, sampleRuleSet } from '../../../test/support/sample-rule.ts'
import { decideAsk } from '../../policy-engine/deciding/decide.ts'
import { type Named, noAutoApproval } from './no-auto-approval.ts'
import { permitsNothingNew } from './permits-nothing-new.ts'

const prod: Named = { scope: { scope: 'in', type: 'cloud_organizational_unit', id: 'prod' }, tags: {} }

async function autoIn(texts: readonly string[], named: Named = prod) {
  const ruleSet = ruleSetOf(texts)
  return noAutoApproval(ruleSet, await readRulesOf(ruleSet), { named: [named], evaluator, budget: searchBudget() })
}

async function news(before: readonly string[], after: readonly string[]) {
  const [old, fresh] = [
    ruleSetOf(before),
    ruleSetOf(
      after,
      after.map((text, index) => `r${before.includes(text) ? before.indexOf(text) : `n${index}`}`),
    ),
  ]
  const compared = { before: old, after: fresh, old: await readRulesOf(old), changed: await readRulesOf(fresh) }
  return permitsNothingNew(compared, { evaluator, budget: searchBudget() })
}

const auto = '@approval_mode("auto") permit(principal, action,'
const emergency = '@approval_mode("break_glass") permit(principal, action,'
const inProd = 'resource in cloud_organizational_unit::"prod")'

suite('no automatic approval is', () => {
  const proved: [string, string[]][] = [
    ['proved for no rules', []],
    ['proved if a person decides', [`permit(principal, action, ${inProd};`]],
    [
      'proved if no such permit can cover a named resource',
      [`${auto} resource is cloud_permission_set);`, `${auto} resource == cloud_permission_set::"a");`],
    ],
    [
      'proved if the permit can match no user',
      [`@approval_mode("auto") permit(principal is Group, action, ${inProd};`],
    ],
    [
      'proved if a forbid covers everything',
      [
        `${auto} resource);`,
        `@approval_mode("auto") forbid(principal, action, ${inProd};`,
        `${emergency} resource);`,
        `@approval_mode("break_glass") forbid(principal, action, resource);`,
      ],
    ],
  ]
  for (const [what, texts] of proved)
    test(what, async () => assert.deepEqual(await autoIn(texts), { result: 'proved', tried: 0 }))

  const broken: [string, string[]][] = [
    ['refuted by a permit of everything', [`${auto} resource);`]],
    [
      'shown broken by an emergency',
      [`${emergency} resource is cloud_account);`, `@approval_mode("auto") forbid(principal, action, resource);`],
    ],
    [
      'refuted by a permit with conditions',
      [
        `${auto} resource) when { resource.hasTag("env") && resource.getTag("env") == "play" && context.duration_seconds > 7200 && context.duration_seconds <= 9000 && principal in Role::"oncall" && principal.scopes.contains("audit:read") };`,
      ],
    ],
    [
      'refuted by a permit for a time and an address',
      [
        `${auto} resource) when { context.weekday == 6 && context.minute >= 1200 && context.source_ip.isInRange(ip("10.0.0.0/8")) && context.via == "api_key" };`,
      ],
    ],
    [
      'refuted despite a forbid with conditions',
      [
        `${auto} resource);`,
        `forbid(principal, action, resource) unless { context.has_reason && context.duration_seconds < 60 };`,
      ],
    ],
    [
      'refuted by a permit for verified addresses',
      [`${auto} resource) when { principal.email like "*@corp.example" && principal.email_verified };`],
    ],
    [
      'refuted for unverified addresses, which a forbid spares',
      [`${auto} resource);`, 'forbid(principal, action, resource) when { principal.email_verified };'],
    ],
    [
      'refuted for verified addresses, which a forbid spares',
      [`${auto} resource);`, 'forbid(principal, action, resource) unless { principal.email_verified };'],
    ],
    [
      'refuted by a permit with alternative conditions',
      [
        `${auto} resource) when { principal.email like "*@corp.example" || principal.is_owner } unless { resource.name == "x" || resource.hasTag("y") };`,
      ],
    ],
  ]
  for (const [what, texts] of broken)
    test(what, async () => {
      const outcome = await autoIn(texts)
      assert.ok(outcome.result === 'counterexample', outcome.result)
      const { question, decision } = outcome.counterexample
      assert.ok(decision.allowed && decision.mode !== 'require')
      assert.deepEqual(decideAsk(ruleSetOf(texts), question).mode, decision.mode)
      const [resource] = question.resources
      assert.ok([resource, ...(resource?.parents ?? [])].some((one) => one?.id === 'prod'))
    })

  test('neither proved nor refuted if a condition opposes another', async () => {
    const texts = [
      `${auto} resource) when { resource.hasTag("env") };`,
      'forbid(principal, action, resource) when { resource.hasTag("env") };',
    ]
    assert.equal((await autoIn(texts)).result, 'not_found_in_search')
  })

  test('checked for resources with given tags', async () => {
    const tagged = { scope: { scope: 'any' }, tags: { env: 'production' } } as const
    const permit = (value: string) =>
      `${auto} resource) when { resource.hasTag("env") && resource.getTag("env") == "${value}" };`
    assert.equal((await autoIn([permit('play')], tagged)).result, 'not_found_in_search')
    const outcome = await autoIn([permit('production')], tagged)
    assert.ok(outcome.result === 'counterexample')
    assert.deepEqual(outcome.counterexample.question.resources[0]?.tags, { env: 'production' })
  })
})

suite('a permit may cover resources in', () => {
  const unit = { scope: 'in', type: 'cloud_organizational_unit', id: 'prod' } as const
  const account = { scope: 'in', type: 'cloud_account', id: '1' } as const
  const bucket = { scope: 'eq', type: 'cloud_storage_bucket', id: 'b' } as const
  const cases: [string, string, Named['scope'], boolean][] = [
    ['an account: a bucket', 'resource is cloud_storage_bucket', account, true],
    [
      'an account: a bucket of a unit',
      'resource is cloud_storage_bucket in cloud_organizational_unit::"dev"',
      account,
      true,
    ],
    ['an account: the account itself', 'resource is cloud_account', account, true],
    ['an account: not another account', 'resource == cloud_account::"2"', account, false],
    ['an account: not a resource of another account', 'resource in cloud_account::"2"', account, false],
    ['an account: not a unit', 'resource is cloud_organizational_unit', account, false],
    ['a unit: a bucket', 'resource is cloud_storage_bucket', unit, true],
    ['a unit: a unit', 'resource == cloud_organizational_unit::"dev"', unit, true],
    ['a unit: a resource that is also in another unit', 'resource in cloud_organizational_unit::"dev"', unit, true],
    ['a unit: not a permission set', 'resource is cloud_permission_set', unit, false],
    ['a bucket: the bucket itself, by its account', 'resource in cloud_account::"1"', bucket, true],
    ['a bucket: not another bucket', 'resource == cloud_storage_bucket::"c"', bucket, false],
    ['anything: not a request', 'resource is access_request', { scope: 'any' }, false],
  ]
  for (const [what, scope, named, may] of cases)
    test(what, async () => {
      const { result } = await autoIn([`${auto} ${scope});`], { scope: named, tags: {} })
      assert.equal(result, may ? 'counterexample' : 'proved')
    })
})

suite('that nothing new is permitted is', () => {
  const one = `permit(principal in Role::"a", action == Action::"x", ${inProd};`
  const wide = 'permit(principal, action, resource);'
  const when = ' when { context.has_reason };'
  const forbid = `forbid(principal, action, ${inProd};`
  const proved: [string, string[], string[]][] = [
    ['proved for the same rules', [one, wide, forbid], [one, wide, forbid]],
    ['proved for fewer permits and more forbids', [one, wide], [one, forbid]],
    ['proved for a narrower permit', [wide], [one]],
    [
      'proved for a permit that gets a further clause about the address',
      [wide],
      [wide.replace(';', ' when { principal.email_verified };')],
    ],
    ['proved for a permit that gets conditions', [wide], [one.replace(';', when)]],
    ['proved if a person now decides', [`@approval_mode("auto") ${one}`], [one]],
    ['proved for a wider forbid', [wide, forbid.replace(';', when)], [wide, forbid]],
  ]
  for (const [what, before, after] of proved)
    test(what, async () => assert.deepEqual(await news(before, after), { result: 'proved', tried: 0 }))

  const broken: [string, string[], string[]][] = [
    ['refuted by a wider permit', [one], [wide]],
    ['refuted by an approval that a person decided before', [one], [`@approval_mode("auto") ${one}`]],
    ['refuted by a removed forbid', [wide, forbid], [wide]],
    ['refuted by a narrower forbid', [wide, forbid], [wide, forbid.replace(';', when)]],
    ['refuted by a forbid with another mode', [wide, forbid], [wide, `@approval_mode("auto") ${forbid}`]],
    ['shown broken by an emergency', [wide], [wide, `${emergency} resource);`]],
    [
      'refuted by a permit that no longer wants a verified address',
      [wide.replace(';', ' when { principal.email like "*@corp.example" && principal.email_verified };')],
      [wide.replace(';', ' when { principal.email like "*@corp.example" };')],
    ],
    [
      'refuted by a longer duration',
      [wide.replace(';', ' when { context.duration_seconds <= 3600 };')],
      [wide.replace(';', ' when { context.duration_seconds <= 7200 };')],
    ],
  ]
  for (const [what, before, after] of broken)
    test(what, async () => {
      const outcome = await news(before, after)
      assert.ok(outcome.result === 'counterexample', outcome.result)
      const { question, decision, before: was } = outcome.counterexample
      assert.ok('resources' in question)
      const again = [decideAsk(ruleSetOf(before), question), decideAsk(ruleSetOf(after), question)].map(
        ({ allowed, mode }) => [allowed, mode],
      )
      assert.deepEqual(again, [
        [was?.allowed, was?.mode],
        [decision.allowed, decision.mode],
      ])
      assert.notDeepEqual(again[0], again[1])
    })

  test('neither proved nor refuted if other conditions mean the same', async () => {
    const [a, b] = ['context.duration_seconds < 61', 'context.duration_seconds <= 60'].map((condition) =>
      wide.replace(';', ` when { ${condition} };`),
    )
    assert.equal((await news([a ?? ''], [b ?? ''])).result, 'not_found_in_search')
  })

  test('refuted by an auto permit that another user saved: it now counts for the previous author', async () => {
    const permit = `${auto} resource);`
    const [mine, theirs] = ['somebody', 'another'].map((saved_by) =>
      sampleRuleSet([sampleRule('r', permit, { saved_by })]),
    )
    assert.ok(mine && theirs)
    const compared = { before: mine, after: theirs, old: await readRulesOf(mine), changed: await readRulesOf(theirs) }
    const outcome = await permitsNothingNew(compared, { evaluator, budget: searchBudget() })
    assert.ok(outcome.result === 'counterexample' && outcome.counterexample.question.principal.id === 'somebody')
  })
})
