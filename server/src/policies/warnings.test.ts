import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementFromInput } from './cedar/statement.ts'
import type { RuleInput } from './rule.ts'
import { type NeighbourRule, nearestName, warningsFor } from './warnings.ts'

const group: RuleInput = {
  effect: 'permit',
  principal_scope_type: 'in',
  principal_entity_type: 'Group',
  principal_entity_id: 'g',
}
const auto = { approval_mode: 'auto' } as const
const prod = { conditions: 'when { resource.hasTag("prod") }' }

function warn(input: RuleInput, others: RuleInput[] = [], known: string[] = []): string {
  const { fields, warnings } = statementFromInput(input)
  const neighbours: NeighbourRule[] = others.map((other, index) => ({
    id: `other-${index}`,
    ...statementFromInput(other).fields,
  }))
  return warningsFor({ rule: fields, engine_warnings: warnings, others: neighbours, known_actions: known }).join('\n')
}

const claims: [name: string, claim: RegExp | undefined, input: RuleInput, others?: RuleInput[], known?: string[]][] = [
  ['an auto permit of everything approves everything', /every request of everyone/, { effect: 'permit', ...auto }],
  ['an auto permit of one group does not', undefined, { ...group, ...auto }],
  ['an auto permit under conditions does not', undefined, { effect: 'permit', ...auto, ...prod }],
  [
    'a break_glass forbid leaves asking alone',
    /emergency road alone/,
    { effect: 'forbid', approval_mode: 'break_glass' },
  ],
  ['an ordinary rule is not warned of', undefined, group, [group, { effect: 'forbid', ...prod }]],
  [
    'a rule whose conditions are false can never match',
    /can never match/,
    { effect: 'permit', conditions: 'when { false }' },
  ],
  ['a group cannot ask', /can never match/, { ...group, principal_scope_type: 'eq' }],
  ['a permit under a plain forbid of all has no effect', /no effect: rule `other-0`/, group, [{ effect: 'forbid' }]],
  ['a permit under a conditional forbid may have', undefined, group, [{ effect: 'forbid', ...prod }]],
  ['a permit under an auto forbid has', undefined, group, [{ effect: 'forbid', ...auto }]],
  [
    'a rule about approve is not under a forbid of asking',
    undefined,
    { effect: 'permit', action_scope_type: 'eq', action_ids: ['approve'] },
    [{ effect: 'forbid' }],
  ],
  [
    'an auto permit over a narrower require permit',
    /`other-0`.*without a person.*forbid/s,
    { ...group, ...auto },
    [{ ...group, ...prod }],
  ],
  [
    'a require permit under a wider auto permit',
    /`other-0`.*without a person/s,
    group,
    [{ effect: 'permit', ...auto, ...prod }],
  ],
  [
    'an auto permit beside a require permit of another group',
    undefined,
    { ...group, ...auto },
    [{ ...group, principal_entity_id: 'h' }],
  ],
  ['an auto permit under a wider require permit', undefined, { ...group, ...auto }, [{ effect: 'permit' }]],
  ['an action that is known', undefined, { effect: 'permit', action_scope_type: 'eq', action_ids: ['a'] }, [], ['a']],
  [
    'an action that is almost known',
    /nearest known is `ReadOnlyAccess`/,
    { effect: 'permit', action_scope_type: 'eq', action_ids: ['ReadOnlyAcess'] },
    [],
    ['Admin', 'ReadOnlyAccess'],
  ],
  [
    'an action that is like nothing known',
    /`Power` before$/,
    { effect: 'permit', action_scope_type: 'eq', action_ids: ['Power'] },
    [],
    ['Admin'],
  ],
]
for (const [name, claim, input, others, known] of claims)
  test(`${name}: ${claim === undefined ? 'no warning' : 'a warning'}`, () => {
    const warnings = warn(input, others, known)
    if (claim === undefined) assert.equal(warnings, '')
    else assert.match(warnings, claim)
  })

test('a rule as its row has it, with null for what is absent, is compared like any other', () => {
  const row = {
    id: 'row',
    ...statementFromInput({ effect: 'forbid' }).fields,
    principal_entity_type: null,
    approval_mode: null,
  }
  const { fields } = statementFromInput(group)
  const facts = { rule: fields, engine_warnings: [], known_actions: [] }
  assert.match(warningsFor({ ...facts, others: [row] }).join(), /no effect/)
})

test('the nearest name is the one with the fewest edits, if any is near', () => {
  assert.equal(nearestName('readonlyaccess', ['ReadOnlyAccess', 'ReadWriteAccess']), 'ReadOnlyAccess')
  assert.equal(nearestName('x', ['y']), undefined)
})
