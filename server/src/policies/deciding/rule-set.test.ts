import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStatement } from '../cedar/parse.ts'
import { inOrder, type PolicyRule, sortRules, takesPart } from './rule-set.ts'
import { sampleRule } from './sample-rule.ts'

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
  test(`a ${effect} with the mode ${approval_mode} takes part where the table says`, () => {
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

test('a rule that names approve beside other actions takes part in both rule sets', () => {
  const both = sampleRule('both', 'forbid(principal, action in [Action::"approve", Action::"a"], resource);')
  const { subsets, namedActions } = sortRules([both], (rule) => parseStatement(rule.policy_text))
  assert.deepEqual([subsets.approve.length, subsets.ordinary.length], [1, 1])
  assert.deepEqual([...namedActions].sort(), ['a', 'approve'])
})

test('a rule whose column says another effect than its text leaves the set undecidable', () => {
  const rule = sampleRule('r', 'permit(principal, action, resource);', { effect: 'forbid' })
  assert.throws(() => sortRules([rule], ({ policy_text }) => parseStatement(policy_text)), /is a permit by its text/)
})
