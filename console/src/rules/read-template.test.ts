import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readTemplate, type StoredRule } from './read-template.ts'
import { ruleOf, type Slots, slotsOf, startingSlots, templates, type Where, type Who } from './templates.ts'

const odd = [
  'production',
  '',
  'a b',
  'x" || true || "',
  'ends with \\',
  '\\"',
  '(bracket)',
  ') || (',
  '&& "',
  'Zürich 🏔',
  'resource.getTag("env") == "other"',
  '{who}',
]

/** Texts that look like others. */
const deceptive = ['zwei\nZeilen', '\u202eesrever', 'production\u200b', ' production']

const people: Who[] = [
  { kind: 'everyone' },
  ...odd.flatMap((id): Who[] => [
    { kind: 'group', id },
    { kind: 'role', id },
  ]),
]
const places: Where[] = [
  { kind: 'all' },
  ...odd.flatMap((value): Where[] => [
    { kind: 'tag', value },
    { kind: 'account', id: value },
  ]),
]

/** As the service answers it: with all of its defaults. */
const stored = (rule: StoredRule): StoredRule => ({
  principal_scope_type: 'any',
  action_scope_type: 'any',
  action_ids: [],
  resource_scope_type: 'any',
  audit_session: false,
  ...rule,
})

test('a text that looks like another is shown in no sentence', () => {
  const base = startingSlots('at_once', { tags: [], longest: 86_400 })
  for (const value of deceptive) {
    const variants: Slots[] = [
      { ...base, action: value },
      { ...base, where: { kind: 'tag', value } },
      { ...base, who: { kind: 'group', id: value } },
    ]
    for (const slots of variants) assert.equal(readTemplate(stored(ruleOf('at_once', slots))), undefined)
  }
})

suite('a sentence, its rule, and the sentence again', () => {
  for (const template of templates) {
    const base = startingSlots(template, { tags: [], longest: 86_400 })
    const variants: Slots[] = [
      ...people.map((who) => ({ ...base, who })),
      ...places.map((where) => ({ ...base, where })),
      ...odd.map((action) => ({ ...base, action })),
      ...[60, 900, 5_400, 86_400].map((seconds) => ({ ...base, seconds })),
      { ...base, from: 0, until: 1_440 },
      { ...base, from: 450, until: 1_111 },
    ]
    test(`${template}: ${variants.length} sentences`, () => {
      for (const slots of variants) {
        const found = readTemplate(stored(ruleOf(template, slots)))
        const used = (of: Slots | undefined) => of && slotsOf[template].map((slot) => of[slot])
        assert.deepEqual([found?.template, used(found?.slots)], [template, used(slots)], JSON.stringify(slots))
      }
    })
  }

  test('no two sentences of different meaning are one rule', () => {
    const seen = new Map<string, string>()
    for (const template of templates)
      for (const where of places) {
        const slots = { ...startingSlots(template, { tags: [], longest: 86_400 }), where }
        const rule = JSON.stringify(ruleOf(template, slots))
        assert.equal(seen.get(rule), undefined)
        seen.set(rule, template)
      }
  })
})

suite('a stored rule', () => {
  const accounts = { resource_scope_type: 'is', resource_entity_type: 'cloud_account' }
  const base = stored({
    effect: 'permit',
    approval_mode: 'auto',
    action_scope_type: 'eq',
    action_ids: ['Read'],
    ...accounts,
  })
  const limit = 'context.duration_seconds <= 3600'
  const tagged = 'resource.hasTag("env") && resource.getTag("env") == "test"'
  const cases: [name: string, rule: StoredRule, template: string | undefined][] = [
    ['as the console writes it', { ...base, conditions: `when { ${limit} }` }, 'at_once'],
    ['as the engine prints it', { ...base, conditions: `when { ${tagged} && (${limit}) }` }, 'at_once'],
    ['over two lines', { ...base, conditions: `when {\n  ${tagged} &&\n  ${limit}\n}` }, 'at_once'],
    [
      'with a tag in another spelling',
      { ...base, conditions: `when { resource.hasTag("env") && resource.getTag("env") == "\\x74est" && ${limit} }` },
      'at_once',
    ],
    [
      'without a mode, which means with approval',
      { ...base, approval_mode: undefined, conditions: `when { ${limit} }` },
      'administrator',
    ],
    [
      'that is a forbid of everything',
      { ...base, effect: 'forbid', approval_mode: undefined, conditions: `when { ${limit} }` },
      undefined,
    ],
    ['without a limit', base, undefined],
    ['with another condition', { ...base, conditions: `when { ${limit} && principal.active }` }, undefined],
    ['with `or`', { ...base, conditions: `when { ${limit} || ${tagged} }` }, undefined],
    ['with `unless`', { ...base, conditions: `unless { ${limit} }` }, undefined],
    ['with a second clause', { ...base, conditions: `when { ${limit} } when { ${tagged} }` }, undefined],
    ['with not', { ...base, conditions: `when { !(${limit}) }` }, undefined],
    [
      'with another tag',
      { ...base, conditions: `when { resource.hasTag("team") && resource.getTag("team") == "a" && ${limit} }` },
      undefined,
    ],
    [
      'with the test of one tag and the value of another',
      { ...base, conditions: `when { resource.hasTag("team") && resource.getTag("env") == "test" && ${limit} }` },
      undefined,
    ],
    [
      'of two actions',
      { ...base, action_scope_type: 'in', action_ids: ['Read', 'Write'], conditions: `when { ${limit} }` },
      undefined,
    ],
    [
      'for one user',
      {
        ...base,
        principal_scope_type: 'eq',
        principal_entity_type: 'User',
        principal_entity_id: 'u',
        conditions: `when { ${limit} }`,
      },
      undefined,
    ],
    ['with a notice', { ...base, notice: 'Ask first.', conditions: `when { ${limit} }` }, undefined],
    ['with session audit', { ...base, audit_session: true, conditions: `when { ${limit} }` }, undefined],
    [
      'about buckets',
      { ...base, resource_entity_type: 'cloud_storage_bucket', conditions: `when { ${limit} }` },
      undefined,
    ],
    [
      'of an account and a tag',
      {
        ...base,
        resource_scope_type: 'eq',
        resource_entity_id: '111122223333',
        conditions: `when { ${tagged} && ${limit} }`,
      },
      undefined,
    ],
    [
      'on every day',
      {
        ...base,
        resource_entity_type: 'cloud_db_instance',
        conditions: `when { context.minute >= 540 && context.minute < 1020 && ${limit} }`,
      },
      undefined,
    ],
  ]
  const hours = (from: number, until: number) => ({
    ...base,
    resource_entity_type: 'cloud_db_instance',
    conditions: `when { context.weekday <= 5 && context.minute >= ${from} && context.minute < ${until} && ${limit} }`,
  })
  cases.push(
    ['until the end of a day', hours(0, 1_440), 'working_hours'],
    ['until a minute after it', hours(540, 1_441), undefined],
    ['until 5000 minutes after midnight', hours(540, 5_000), undefined],
    ['from five to nine', hours(1_020, 540), undefined],
  )
  for (const [name, rule, template] of cases)
    test(`${name} is ${template ?? 'no sentence'}`, () => assert.equal(readTemplate(rule)?.template, template))
})
