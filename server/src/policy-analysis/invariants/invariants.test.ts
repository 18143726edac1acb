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
    ['proved of no rules', []],
    ['proved where a person decides', [`permit(principal, action, ${inProd};`]],
    [
      'proved where no such permit can be in there',
      [`${auto} resource is cloud_permission_set);`, `${auto} resource == cloud_permission_set::"a");`],
    ],
    ['proved where nobody can be meant', [`@approval_mode("auto") permit(principal is Group, action, ${inProd};`]],
    [
      'proved where a forbid has it all',
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
    ['shown broken by a permit of everything', [`${auto} resource);`]],
    [
      'shown broken by an emergency',
      [`${emergency} resource is cloud_account);`, `@approval_mode("auto") forbid(principal, action, resource);`],
    ],
    [
      'shown broken under conditions',
      [
        `${auto} resource) when { resource.hasTag("env") && resource.getTag("env") == "play" && context.duration_seconds > 7200 && context.duration_seconds <= 9000 && principal in Role::"oncall" && principal.scopes.contains("audit:read") };`,
      ],
    ],
    [
      'shown broken at a time, from an address',
      [
        `${auto} resource) when { context.weekday == 6 && context.minute >= 1200 && context.source_ip.isInRange(ip("10.0.0.0/8")) && context.via == "api_key" };`,
      ],
    ],
    [
      'shown broken past a forbid with conditions',
      [
        `${auto} resource);`,
        `forbid(principal, action, resource) unless { context.has_reason && context.duration_seconds < 60 };`,
      ],
    ],
    [
      'shown broken by what either of two says',
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

  test('not found where a condition stands against a condition: nothing is proved of it', async () => {
    const texts = [
      `${auto} resource) when { resource.hasTag("env") };`,
      'forbid(principal, action, resource) when { resource.hasTag("env") };',
    ]
    assert.equal((await autoIn(texts)).result, 'not_found_in_search')
  })

  test('asked of resources by their tags', async () => {
    const tagged = { scope: { scope: 'any' }, tags: { env: 'production' } } as const
    const permit = (value: string) =>
      `${auto} resource) when { resource.hasTag("env") && resource.getTag("env") == "${value}" };`
    assert.equal((await autoIn([permit('play')], tagged)).result, 'not_found_in_search')
    const outcome = await autoIn([permit('production')], tagged)
    assert.ok(outcome.result === 'counterexample')
    assert.deepEqual(outcome.counterexample.question.resources[0]?.tags, { env: 'production' })
  })
})

suite('of the resources that a permit speaks of, some may be in', () => {
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
    ['an account: itself', 'resource is cloud_account', account, true],
    ['an account: no other account', 'resource == cloud_account::"2"', account, false],
    ['an account: nothing of another account', 'resource in cloud_account::"2"', account, false],
    ['an account: no unit', 'resource is cloud_organizational_unit', account, false],
    ['a unit: a bucket', 'resource is cloud_storage_bucket', unit, true],
    ['a unit: a unit', 'resource == cloud_organizational_unit::"dev"', unit, true],
    ['a unit: what is in another unit too', 'resource in cloud_organizational_unit::"dev"', unit, true],
    ['a unit: no permission set', 'resource is cloud_permission_set', unit, false],
    ['a bucket: itself, by its account', 'resource in cloud_account::"1"', bucket, true],
    ['a bucket: no other one', 'resource == cloud_storage_bucket::"c"', bucket, false],
    ['anything: no request', 'resource is access_request', { scope: 'any' }, false],
  ]
  for (const [what, scope, named, may] of cases)
    test(what, async () => {
      const { result } = await autoIn([`${auto} ${scope});`], { scope: named, tags: {} })
      assert.equal(result, may ? 'counterexample' : 'proved')
    })
})

suite('nothing new is', () => {
  const one = `permit(principal in Role::"a", action == Action::"x", ${inProd};`
  const wide = 'permit(principal, action, resource);'
  const when = ' when { context.has_reason };'
  const forbid = `forbid(principal, action, ${inProd};`
  const proved: [string, string[], string[]][] = [
    ['proved of the same rules', [one, wide, forbid], [one, wide, forbid]],
    ['proved of fewer permits and more forbids', [one, wide], [one, forbid]],
    ['proved of a narrower permit', [wide], [one]],
    ['proved of a permit with conditions where there were none', [wide], [one.replace(';', when)]],
    ['proved of a person where there was none', [`@approval_mode("auto") ${one}`], [one]],
    ['proved of a wider forbid', [wide, forbid.replace(';', when)], [wide, forbid]],
  ]
  for (const [what, before, after] of proved)
    test(what, async () => assert.deepEqual(await news(before, after), { result: 'proved', tried: 0 }))

  const broken: [string, string[], string[]][] = [
    ['shown broken by a wider permit', [one], [wide]],
    ['shown broken by what a person decided before', [one], [`@approval_mode("auto") ${one}`]],
    ['shown broken by a forbid that is gone', [wide, forbid], [wide]],
    ['shown broken by a forbid that stops less', [wide, forbid], [wide, forbid.replace(';', when)]],
    ['shown broken by a forbid of another mode', [wide, forbid], [wide, `@approval_mode("auto") ${forbid}`]],
    ['shown broken by an emergency', [wide], [wide, `${emergency} resource);`]],
    [
      'shown broken by a longer duration',
      [wide.replace(';', ' when { context.duration_seconds <= 3600 };')],
      [wide.replace(';', ' when { context.duration_seconds <= 7200 };')],
    ],
  ]
  for (const [what, before, after] of broken)
    test(what, async () => {
      const outcome = await news(before, after)
      assert.ok(outcome.result === 'counterexample', outcome.result)
      const { question, decision, before: was } = outcome.counterexample
      const again = [decideAsk(ruleSetOf(before), question), decideAsk(ruleSetOf(after), question)].map(
        ({ allowed, mode }) => [allowed, mode],
      )
      assert.deepEqual(again, [
        [was?.allowed, was?.mode],
        [decision.allowed, decision.mode],
      ])
      assert.notDeepEqual(again[0], again[1])
    })

  test('not found where the same is said in other conditions', async () => {
    const [a, b] = ['context.duration_seconds < 61', 'context.duration_seconds <= 60'].map((condition) =>
      wide.replace(';', ` when { ${condition} };`),
    )
    assert.equal((await news([a ?? ''], [b ?? ''])).result, 'not_found_in_search')
  })

  test('told by who saved a permit: whom it approved nothing for, it approves nothing for', async () => {
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
