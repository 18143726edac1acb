import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule } from '../../../test/support/sample-rule.ts'
import { createEngine } from '../cedar/engine.ts'
import { sampleQuestion } from '../cedar/samples.ts'
import { decideAsk } from './decide.ts'
import { createPolicyEvaluator } from './evaluate.ts'
import type { RuleSet, Subset } from './rule-set.ts'
import { createRuleSetCache, type RuleSetCache } from './rule-set-cache.ts'

/** A condition that holds. No two rules have the same, or one of them would be evaluated for both. */
const distinct = (index: number) => `when { context.minute < ${1440 + index} }`

const tenant = (tenant_id: string, count: number, effect = 'permit'): RuleSet => ({
  tenant_id,
  version: '1',
  rules: Array.from({ length: count }, (_, index) =>
    sampleRule(`r${index}`, `${effect}(principal, action, resource) ${distinct(index)};`),
  ),
})

const slotOf = (cache: RuleSetCache, ruleSet: RuleSet, subset: Subset = 'ordinary') => {
  const { whole } = cache.sorted(ruleSet).subsets[subset]
  assert.ok(whole)
  return cache.slot(ruleSet.tenant_id, whole)
}

test('a subset of rules is preparsed once for all versions in which it is the same', async () => {
  const cache = createRuleSetCache(createEngine(), 1_000_000)
  const one = tenant('a', 3)
  const slot = slotOf(cache, one)
  assert.equal(slotOf(cache, one), slot)
  assert.notEqual(slotOf(cache, one, 'emergency'), slot)
  const next = { ...one, version: '2', rules: one.rules.map((rule) => ({ ...rule, ordinal: 5 })) }
  await cache.prepare(next, one)
  assert.equal(slotOf(cache, next), slot)
  const changed = { ...one, version: '3', rules: tenant('a', 3, 'forbid').rules }
  await cache.prepare(changed, next)
  assert.notEqual(slotOf(cache, changed), slot)
})

test('tenants never share rules, whatever their ids and versions (T14)', () => {
  const evaluator = createPolicyEvaluator(createEngine())
  assert.equal(decideAsk(tenant('a', 1), sampleQuestion, evaluator).allowed, true)
  assert.equal(decideAsk(tenant('b', 1, 'forbid'), sampleQuestion, evaluator).allowed, false)
  assert.equal(decideAsk({ ...tenant('x', 1, 'forbid'), tenant_id: 'a","1' }, sampleQuestion, evaluator).allowed, false)
  assert.equal(decideAsk(tenant('a', 1), sampleQuestion, evaluator).allowed, true)
})

test('the least recently used rules are evicted, and memory stays bounded', () => {
  const engine = createEngine()
  const evaluator = createPolicyEvaluator(engine, { bytes: 640_000, schemas: 4 })
  let settled = 0
  for (let round = 0; round < 60; round += 1) {
    const question = { ...sampleQuestion, action: `action ${round}` }
    assert.equal(decideAsk(tenant(`tenant ${round}`, 50), question, evaluator).allowed, true)
    assert.ok(evaluator.rules.held() <= 640_000)
    if (round === 20) settled = engine.memoryBytes()
  }
  assert.equal(engine.memoryBytes(), settled)
})

test('memory stays bounded, however many different questions use a large set', () => {
  const engine = createEngine()
  const evaluator = createPolicyEvaluator(engine, { bytes: 120_000, schemas: 4 })
  const rules = Array.from({ length: 300 }, (_, index) =>
    sampleRule(`r${index}`, `permit(principal in Group::"${index % 60}", action, resource) ${distinct(index)};`),
  )
  const ruleSet = { tenant_id: 't', version: '1', rules }
  let settled = 0
  for (let round = 0; round < 240; round += 1) {
    const group_ids = [round % 60, (round + 1 + Math.floor(round / 60)) % 60].map(String)
    const decision = decideAsk(
      ruleSet,
      { ...sampleQuestion, principal: { ...sampleQuestion.principal, group_ids } },
      evaluator,
    )
    assert.equal(decision.rule_ids.length, 10)
    assert.ok(evaluator.rules.held() <= 120_000)
    if (round === 80) settled = engine.memoryBytes()
  }
  assert.equal(engine.memoryBytes(), settled)
})

test('a set is prepared once, in pieces, for all callers that wait for it', async () => {
  const engine = createEngine()
  const cache = createRuleSetCache(engine, 10_000_000)
  const text = (at: number) => `permit(principal, action, resource) ${distinct(at)};`
  const ruleSet = {
    tenant_id: 't',
    version: '1',
    rules: Array.from({ length: 600 }, (_, at) => sampleRule(`r${at}`, text(at))),
  }
  let ticks = 0
  let ready = false
  const counting = () => {
    ticks += 1
    if (!ready) setImmediate(counting)
  }
  setImmediate(counting)
  const waiting = [cache.prepare(ruleSet), cache.prepare(ruleSet)].map((one) => one.then(() => ticks))
  const [one, other] = await Promise.all(waiting)
  ready = true
  assert.ok((one ?? 0) > 1, 'other work ran meanwhile')
  assert.equal(one, other)
  const sorted = cache.sorted(ruleSet)
  await cache.prepare(ruleSet)
  assert.equal(cache.sorted(ruleSet), sorted)
  // Every question evaluates all of them, so they are also preparsed, in each of their subsets.
  assert.ok(cache.held() >= 600 * 1_000)
})

test('a rule set larger than the limit is held until the next', () => {
  const evaluator = createPolicyEvaluator(createEngine(), { bytes: 10_000, schemas: 4 })
  for (const name of ['a', 'b', 'a']) assert.equal(decideAsk(tenant(name, 30), sampleQuestion, evaluator).allowed, true)
  assert.deepEqual([evaluator.rules.held(), evaluator.rules.preparsed()], [0, 3])
  decideAsk(tenant('a', 30), sampleQuestion, evaluator)
})

test('more actions than the limit of schemas are evaluated one after another', () => {
  const evaluator = createPolicyEvaluator(createEngine(), { bytes: 1_000_000, schemas: 2 })
  const ids = ['a', 'b', 'c', 'd']
  const rules = ids.map((id) => sampleRule(id, `permit(principal, action == Action::"${id}", resource);`))
  for (const action of [...ids, ...ids]) {
    const decision = decideAsk({ tenant_id: 't', version: '1', rules }, { ...sampleQuestion, action }, evaluator)
    assert.equal(decision.governing_rule_id, action)
  }
})

test('after the loss of an instance everything is preparsed again', () => {
  const engine = createEngine()
  const evaluator = createPolicyEvaluator(engine)
  const rules = tenant('a', 3)
  decideAsk(rules, sampleQuestion, evaluator)
  assert.throws(() =>
    engine.use(() => {
      throw new RangeError('stack')
    }),
  )
  assert.equal(decideAsk(rules, sampleQuestion, evaluator).allowed, true)
})

test('an evicted slot is empty', () => {
  const engine = createEngine()
  const cache = createRuleSetCache(engine, 75_000)
  const slots = ['a', 'b', 'c'].map((name) => slotOf(cache, tenant(name, 5)))
  const taken = slotOf(cache, tenant('d', 39))
  for (const preparsedPolicySetId of slots.filter((name) => name !== taken)) {
    const uid = { type: 'X', id: 'x' }
    const question = { principal: uid, action: { type: 'Action', id: 'a' }, resource: uid, context: {}, entities: [] }
    const answer = engine.use((cedar) => cedar.statefulIsAuthorized({ ...question, preparsedPolicySetId }))
    assert.equal(answer.type === 'success' && answer.response.decision, 'deny')
  }
})

/** A rule of some 6.7 KB for anybody, as one may write to take much of the engine. */
const longRule = (at: number) => {
  const words = Array.from({ length: 1_150 }, (_, word) => `"${word}"`).join()
  const text = `permit(principal, action, resource) when { context.minute < ${1440 + at} && ![${words}].contains(context.via) };`
  return sampleRule(`r${at}`, text)
}

test('a tenant with long rules that asks in a loop evicts nothing of another, and stays within the limit', () => {
  const engine = createEngine()
  const limit = 6 * 2 ** 20
  const evaluator = createPolicyEvaluator(engine, { bytes: limit, schemas: 4 })
  const attacker = { tenant_id: 'attacker', version: '1', rules: Array.from({ length: 300 }, (_, at) => longRule(at)) }
  const others = ['a', 'b', 'c'].map((name) => tenant(name, 50))
  const preparsedBy = (ruleSet: RuleSet) => {
    const before = evaluator.rules.preparsed()
    decideAsk(ruleSet, sampleQuestion, evaluator)
    return evaluator.rules.preparsed() - before
  }
  assert.deepEqual(others.map(preparsedBy), [1, 1, 1])
  for (let round = 0; round < 2; round += 1) {
    assert.ok(preparsedBy(attacker) > 0, 'the rules of the attacker do not fit')
    assert.deepEqual(others.map(preparsedBy), [0, 0, 0])
    assert.ok(evaluator.rules.held() <= limit)
  }
  // What is held, one part that passes, and what reading and evaluating take for a moment.
  assert.ok(engine.memoryBytes() < limit + 12 * 2 ** 20, `${engine.memoryBytes()}`)
})
