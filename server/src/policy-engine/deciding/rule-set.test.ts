import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleRule } from '../../../test/support/sample-rule.ts'
import { parseStatement } from '../cedar/parse.ts'
import { atOnce } from './pieces.ts'
import { inOrder, type PolicyRule, type ReadRule, sortRules, takesPart } from './rule-set.ts'

const sort = (rules: PolicyRule[], earlier?: ReadonlyMap<string, ReadRule>) =>
  atOnce(sortRules(rules, ({ policy_text }) => parseStatement(policy_text), earlier))

const rows: [
  effect: PolicyRule['effect'],
  mode: PolicyRule['approval_mode'],
  ordinary: boolean,
  atOnce: boolean,
  emergency: boolean,
][] = [
  ['permit', null, true, false, false],
  ['permit', 'require', true, false, false],
  ['permit', 'auto', true, true, false],
  ['permit', 'break_glass', false, false, true],
  ['forbid', null, true, true, true],
  ['forbid', 'auto', false, true, false],
  ['forbid', 'break_glass', false, false, true],
]
for (const [effect, approval_mode, ordinary, atOnce, emergency] of rows)
  test(`a ${effect} with the mode ${approval_mode} takes part as in the question table`, () => {
    const rule = { effect, approval_mode }
    assert.deepEqual(
      [takesPart(rule, 'ordinary'), takesPart(rule, 'at_once'), takesPart(rule, 'emergency')],
      [ordinary, atOnce, emergency],
    )
  })

test('rules are in order by priority, then ordinal, then id', () => {
  const rule = (id: string, priority: number, ordinal: number) =>
    sampleRule(id, 'permit(principal, action, resource);', { priority, ordinal })
  const sorted = [rule('b', 1, 1), rule('a', 2, 0), rule('a', 1, 2), rule('a', 1, 1)].sort(inOrder)
  assert.deepEqual(
    sorted.map(({ id, priority, ordinal }) => [id, priority, ordinal]),
    [
      ['a', 1, 1],
      ['b', 1, 1],
      ['a', 1, 2],
      ['a', 2, 0],
    ],
  )
})

test('a rule that names approve and other actions takes part in both rule sets', () => {
  const both = sampleRule('both', 'forbid(principal, action in [Action::"approve", Action::"a"], resource);')
  const { subsets, namedActions } = sort([both])
  assert.deepEqual([subsets.approve.whole?.rules.length, subsets.ordinary.whole?.rules.length], [1, 1])
  assert.deepEqual([...namedActions].sort(), ['a', 'approve'])
})

test('a rule whose column has another effect than its text makes the set undecidable', () => {
  const rule = sampleRule('r', 'permit(principal, action, resource);', { effect: 'forbid' })
  assert.throws(() => sort([rule]), /is a permit by its text/)
})

test('a parsed rule is kept until its text changes', () => {
  const text = 'permit(principal, action, resource);'
  const rule = sampleRule('r', text)
  const earlier = sort([rule, sampleRule('gone', text)]).read
  const moved = sort([{ ...rule, ordinal: 7 }], earlier)
  assert.equal(moved.read.get('r'), earlier.get('r'))
  assert.equal(moved.byId.get('r')?.ordinal, 7)
  assert.deepEqual([...moved.read.keys()], ['r'])
  const changed = sort([sampleRule('r', text.replace('permit', 'forbid'))], earlier).read.get('r')
  assert.equal(changed?.effect, 'forbid')
  assert.notEqual(changed?.serial, earlier.get('r')?.serial)
  assert.equal(changed?.place, earlier.get('r')?.place)
})
