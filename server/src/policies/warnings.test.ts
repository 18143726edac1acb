import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementFromInput } from '../policy-engine/cedar/statement.ts'
import type { RuleInput } from '../policy-engine/rule.ts'
import { type NeighbourRule, warningsFor } from './warnings.ts'

const group: RuleInput = {
  effect: 'permit',
  principal_scope_type: 'in',
  principal_entity_type: 'Group',
  principal_entity_id: 'g',
}
const auto = { approval_mode: 'auto' } as const
const emergency = { approval_mode: 'break_glass' } as const
const forbid = { effect: 'forbid' } as const
const wanting = { conditions: 'when { context.break_glass }' }
const leaving = { conditions: 'unless { context.break_glass }' }
const onAccount = (resource_entity_id: string): RuleInput => ({
  ...group,
  ...{ resource_scope_type: 'eq', resource_entity_type: 'cloud_account', resource_entity_id },
})
const prod = { conditions: 'when { resource.hasTag("prod") }' }

function warn(input: RuleInput, others: RuleInput[] = [], known: string[] = []): string {
  const { fields, warnings } = statementFromInput(input)
  const neighbours: NeighbourRule[] = others.map((other, index) => ({
    id: `other-${index}`,
    ...statementFromInput(other).fields,
  }))
  return warningsFor({ rule: fields, engine_warnings: warnings, others: neighbours, known_actions: known }).join('\n')
}

type Claim = [name: string, claim: RegExp | undefined, input: RuleInput, others?: RuleInput[], known?: string[]]
const claims: Claim[] = [
  ['an auto permit of everything approves everything', /every request of every user/, { effect: 'permit', ...auto }],
  ['an auto permit for one group does not approve everything', undefined, { ...group, ...auto }],
  ['an auto permit with conditions does not approve everything', undefined, { effect: 'permit', ...auto, ...prod }],
  [
    'a break_glass forbid affects only emergency requests',
    /only emergency requests/,
    { effect: 'forbid', approval_mode: 'break_glass' },
  ],
  [
    'an account number with a digit too few is never requested',
    /never match: `12345678901` must be an account number/,
    onAccount('12345678901'),
  ],
  ['a valid account number can be requested', undefined, onAccount('123456789012')],
  [
    'an action with a trailing space cannot be requested',
    /the action `Admin ` cannot be requested/,
    { effect: 'permit', action_scope_type: 'in', action_ids: ['Admin ', 'approve'] },
    [],
    ['Admin '],
  ],
  [
    'an ordinary rule',
    undefined,
    group,
    [
      { ...group, ...prod },
      { effect: 'forbid', ...prod },
    ],
  ],
  ['a duplicate rule decides nothing', /decides nothing: rule `other-0`/, group, [group]],
  [
    'a rule within a wider one of its kind decides nothing',
    /decides nothing/,
    { ...group, ...prod },
    [{ effect: 'permit' }],
  ],
  ['a forbid within a wider one of its kind decides nothing', /decides nothing/, { ...group, ...forbid }, [forbid]],
  ['a rule within another rule with conditions decides something', undefined, group, [{ effect: 'permit', ...prod }]],
  ['a duplicate rule with its own notice adds the notice', undefined, { ...group, notice: 'n' }, [group]],
  ['a duplicate rule with its own session audit adds the audit', undefined, { ...group, audit_session: true }, [group]],
  [
    'a duplicate auto permit counts for the user who saved the other',
    undefined,
    { ...group, ...auto },
    [{ ...group, ...auto }],
  ],
  ['a permit with another mode is another rule', undefined, { ...group, ...emergency }, [group]],
  [
    'a permit within a forbid is not a duplicate of it',
    undefined,
    { ...group, ...prod },
    [{ effect: 'forbid', ...auto }],
  ],
  [
    'a break_glass permit under a break_glass forbid has no effect',
    /no effect/,
    { ...group, ...emergency },
    [{ ...forbid, ...emergency }],
  ],
  ['a require permit under a break_glass forbid has an effect', undefined, group, [{ ...forbid, ...emergency }]],
  [
    'an auto permit under an auto forbid approves nothing at once',
    /nothing at once: rule `other-0`/,
    { ...group, ...auto },
    [{ ...forbid, ...auto }],
  ],
  [
    'an auto permit under an auto forbid with conditions may approve at once',
    undefined,
    { ...group, ...auto },
    [{ ...forbid, ...auto, ...prod }],
  ],
  ...(['require', 'auto'] as const).flatMap((approval_mode): Claim[] => [
    [
      `a ${approval_mode} permit that requires an emergency never matches`,
      /never match.*require one/,
      { ...group, approval_mode, ...wanting },
    ],
    [
      `a ${approval_mode} permit that excludes emergencies can match`,
      undefined,
      { ...group, approval_mode, ...leaving },
    ],
  ]),
  [
    'a break_glass permit that excludes emergencies never matches',
    /never match.*exclude them/,
    { ...group, ...emergency, ...leaving },
  ],
  ['a break_glass permit that requires an emergency can match', undefined, { ...group, ...emergency, ...wanting }],
  ['an auto forbid that requires an emergency never matches', /never match/, { ...forbid, ...auto, ...wanting }],
  ['a plain forbid that requires an emergency can match', undefined, { ...forbid, ...wanting }],
  ['a plain forbid that excludes emergencies can match', undefined, { ...forbid, ...leaving }],
  [
    'a permit that accepts an emergency as an alternative can match',
    undefined,
    { ...group, conditions: 'when { context.break_glass || context.has_reason }' },
  ],
  [
    'a permit that requires an emergency within brackets and a chain never matches',
    /never match/,
    { ...group, conditions: 'when { context.has_reason && !(!context.break_glass || false) }' },
  ],
  [
    'an approval rule may test whether the request is an emergency',
    undefined,
    { ...group, ...wanting, action_scope_type: 'eq', action_ids: ['approve'] },
  ],
  [
    'a rule whose conditions are false never matches',
    /can never match/,
    { effect: 'permit', conditions: 'when { false }' },
  ],
  ['a group cannot be the requester', /can never match/, { ...group, principal_scope_type: 'eq' }],
  ['a permit under a forbid of everything has no effect', /no effect: rule `other-0`/, group, [{ effect: 'forbid' }]],
  ['a permit under a conditional forbid may have an effect', undefined, group, [{ effect: 'forbid', ...prod }]],
  ['a require permit under an auto forbid has an effect', undefined, group, [{ effect: 'forbid', ...auto }]],
  [
    'an approval rule is not under a forbid of requests',
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
  ['a known action', undefined, { effect: 'permit', action_scope_type: 'eq', action_ids: ['a'] }, [], ['a']],
  [
    'an action similar to a known one',
    /nearest known is `ReadOnlyAccess`/,
    { effect: 'permit', action_scope_type: 'eq', action_ids: ['ReadOnlyAcess'] },
    [],
    ['Admin', 'ReadOnlyAccess'],
  ],
  [
    'an action unlike any known one',
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

test('a missing principal is reported by its type and id, with a hint if the id is a name', () => {
  const facts = { rule: statementFromInput(group).fields, engine_warnings: [], others: [], known_actions: [] }
  const missing = { type: 'Group', id: 'g', is_name: false }
  assert.match(warningsFor({ ...facts, missing }).join(), /no user: no group of the tenant has the id `g`$/)
  assert.match(warningsFor({ ...facts, missing: { ...missing, is_name: true } }).join(), /use its id instead$/)
})

test('a rule as stored, with null for absent fields, is compared like any other', () => {
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
