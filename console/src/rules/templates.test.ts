import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { englishSetUp as english } from '../words/english-set-up.ts'
import { germanSetUp as german } from '../words/german-set-up.ts'
import { partsOf } from './sentence.ts'
import {
  faultOf,
  offeredLimits,
  type RuleFields,
  ruleOf,
  type Slots,
  slotsOf,
  startingSlots,
  type Template,
  templates,
} from './templates.ts'

const facts = { tags: ['development', 'production'], longest: 28_800 }
const filled = (template: Template, more: Partial<Slots> = {}) =>
  ruleOf(template, { ...startingSlots(template, facts), ...more })

suite('the rule of a sentence', () => {
  const accounts = { resource_scope_type: 'is', resource_entity_type: 'cloud_account' } as const
  const action = (id: string) => ({ action_scope_type: 'eq', action_ids: [id] }) satisfies Partial<RuleFields>
  const production = 'resource.hasTag("env") && resource.getTag("env") == "production"'
  const account = { kind: 'account', id: '111122223333' } as const
  const cases: [name: string, rule: RuleFields, expected: RuleFields][] = [
    [
      'read-only at once',
      filled('at_once'),
      {
        ...{ effect: 'permit', approval_mode: 'auto', ...accounts, ...action('ReadOnlyAccess') },
        conditions: 'when { context.duration_seconds <= 14400 }',
      },
    ],
    [
      'read-only at once, for a group on one account',
      filled('at_once', { who: { kind: 'group', id: 'g1' }, where: account, seconds: 900 }),
      {
        ...{ effect: 'permit', approval_mode: 'auto', ...action('ReadOnlyAccess') },
        ...{ principal_scope_type: 'in', principal_entity_type: 'Group', principal_entity_id: 'g1' },
        ...{ resource_scope_type: 'eq', resource_entity_type: 'cloud_account', resource_entity_id: account.id },
        conditions: 'when { context.duration_seconds <= 900 }',
      },
    ],
    [
      'production needs one approval: all of it, also what lies in the accounts',
      filled('approval'),
      { effect: 'forbid', approval_mode: 'auto', conditions: `when { ${production} }` },
    ],
    [
      'one account needs one approval, with what lies in it',
      filled('approval', { where: account }),
      {
        ...{ effect: 'forbid', approval_mode: 'auto' },
        ...{ resource_scope_type: 'in', resource_entity_type: 'cloud_account', resource_entity_id: account.id },
      },
    ],
    [
      'everything needs one approval',
      filled('approval', { where: { kind: 'all' } }),
      { effect: 'forbid', approval_mode: 'auto' },
    ],
    [
      'administrator rights',
      filled('administrator', { who: { kind: 'role', id: 'approver' } }),
      {
        ...{ effect: 'permit', approval_mode: 'require', ...accounts, ...action('AdministratorAccess') },
        ...{ principal_scope_type: 'in', principal_entity_type: 'Role', principal_entity_id: 'approver' },
        conditions: 'when { context.duration_seconds <= 3600 }',
      },
    ],
    [
      'emergency',
      filled('emergency'),
      {
        ...{ effect: 'permit', approval_mode: 'break_glass', ...accounts, ...action('AdministratorAccess') },
        conditions: 'when { context.duration_seconds <= 3600 }',
      },
    ],
    [
      'databases of production in working hours',
      filled('working_hours', { where: { kind: 'tag', value: 'production' } }),
      {
        ...{ effect: 'permit', approval_mode: 'auto', ...action('read') },
        ...{ resource_scope_type: 'is', resource_entity_type: 'cloud_db_instance' },
        conditions: `when { ${production} && context.weekday <= 5 && context.minute >= 540 && context.minute < 1020 && context.duration_seconds <= 14400 }`,
      },
    ],
    [
      'databases of one account in working hours',
      filled('working_hours', { where: account, from: 0, until: 1_440 }),
      {
        ...{ effect: 'permit', approval_mode: 'auto', ...action('read') },
        ...{ resource_scope_type: 'is_in', resource_entity_type: 'cloud_db_instance' },
        resource_entity_id: 'cloud_account::"111122223333"',
        conditions:
          'when { context.weekday <= 5 && context.minute >= 0 && context.minute < 1440 && context.duration_seconds <= 14400 }',
      },
    ],
  ]
  for (const [name, rule, expected] of cases) test(name, () => assert.deepEqual(rule, expected))

  test('quotes a tag, so that no value ends its string', () => {
    const { conditions } = filled('approval', { where: { kind: 'tag', value: 'x" || true || "\\' } })
    assert.equal(
      conditions,
      String.raw`when { resource.hasTag("env") && resource.getTag("env") == "x\" || true || \"\\" }`,
    )
  })
})

suite('what a template begins with', () => {
  const cases: [name: string, slots: Slots, expected: Partial<Slots>][] = [
    ['production by its tag', startingSlots('approval', facts), { where: { kind: 'tag', value: 'production' } }],
    [
      'the tag as it is written',
      startingSlots('approval', { ...facts, tags: ['Prod-eu'] }),
      { where: { kind: 'tag', value: 'Prod-eu' } },
    ],
    [
      'all accounts, where none is tagged',
      startingSlots('approval', { ...facts, tags: [] }),
      { where: { kind: 'all' } },
    ],
    ['4 hours', startingSlots('at_once', facts), { seconds: 14_400 }],
    [
      'no longer than the organization allows',
      startingSlots('at_once', { ...facts, longest: 7_200 }),
      { seconds: 7_200 },
    ],
    ['1 hour for administrators', startingSlots('administrator', facts), { seconds: 3_600 }],
  ]
  for (const [name, slots, expected] of cases) test(name, () => assert.deepEqual({ ...slots, ...expected }, slots))
})

suite('the longest times that a sentence offers', () => {
  const cases: [longest: number, chosen: number, offered: number[]][] = [
    [14_400, 3_600, [900, 1_800, 3_600, 7_200, 14_400]],
    [3_000, 3_000, [900, 1_800, 3_000]],
    [3_600, 28_800, [900, 1_800, 3_600, 28_800]],
  ]
  for (const [longest, chosen, offered] of cases)
    test(`up to ${longest} s, with ${chosen} s`, () => assert.deepEqual(offeredLimits(longest, chosen), offered))
})

suite('what keeps a sentence from being a rule', () => {
  const cases: [name: string, template: Template, slots: Partial<Slots>, fault: string | undefined][] = [
    ['no action', 'at_once', { action: '' }, 'action'],
    ['an action with a space after it', 'at_once', { action: 'Read ' }, 'action'],
    ['an action of two lines', 'at_once', { action: 'Read\nWrite' }, 'action'],
    ['the action of deciding', 'emergency', { action: 'approve' }, 'action'],
    ['a reserved action', 'administrator', { action: '__unnamed' }, 'action'],
    ['an action of 257 characters', 'at_once', { action: 'a'.repeat(257) }, 'action'],
    ['an end before the beginning', 'working_hours', { from: 1_020, until: 540 }, 'hours'],
    ['no time at all', 'working_hours', { from: 540, until: 540 }, 'hours'],
    ['nothing: an action of 256 characters', 'at_once', { action: 'a'.repeat(256) }, undefined],
    ['nothing: an approval needs no action', 'approval', { action: '' }, undefined],
    ['nothing: hours count for databases alone', 'at_once', { from: 2, until: 1 }, undefined],
  ]
  for (const [name, template, slots, fault] of cases)
    test(name, () => assert.equal(faultOf(template, { ...startingSlots(template, facts), ...slots }), fault))
})

suite('the sentence of each template', () => {
  for (const [language, { sentences }] of Object.entries({ English: english.rules, German: german.rules }))
    for (const template of templates)
      test(`${template} in ${language} has each of its slots once, begins with who, and is whole`, () => {
        const parts = partsOf(sentences[template])
        const slots = parts.flatMap((part) => ('slot' in part ? [part.slot] : []))
        assert.deepEqual([...slots].sort(), [...slotsOf[template]].sort())
        assert.equal(slots[0], 'who')
        const again = parts.map((part) => ('slot' in part ? `{${part.slot}}${part.marks}` : part.words)).join('')
        assert.equal(again, sentences[template])
      })

  test('keeps the marks after a slot beside it', () =>
    assert.deepEqual(partsOf('{who} may, for {seconds}, at once.'), [
      { slot: 'who', marks: '' },
      { words: ' may, for ' },
      { slot: 'seconds', marks: ',' },
      { words: ' at once.' },
    ]))
})
