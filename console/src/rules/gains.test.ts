import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english as englishCore } from '../words/english.ts'
import { englishSetUp } from '../words/english-set-up.ts'
import { german as germanCore } from '../words/german.ts'
import { germanSetUp } from '../words/german-set-up.ts'
import { type Gains, gainsLines } from './gains.ts'
import type { Template } from './templates.ts'

const german = { ...germanCore, ...germanSetUp }
const english = { ...englishCore, ...englishSetUp }

const named = (count: number, ...names: string[]) => ({ count, names: names.map((name) => ({ id: name, name })) })
const change: Gains['changes'][number] = {
  ...{ action: 'ReadOnlyAccess', kind: 'gains', answer: 'at_once', emergency: false },
  ...{ people: named(12, 'Ada', 'Ben', 'Cara', 'Dana'), accounts: named(3, 'shop', 'play', 'data') },
}
const gains = (...changes: Partial<typeof change>[]): Gains => ({
  rule_set_version: '1',
  duration_seconds: 3_600,
  at: '2026-11-12T09:00:00Z',
  changes: changes.map((each) => ({ ...change, ...each })),
  examined: { people: 20, accounts: 3, actions: 1 },
  total: { people: 20, accounts: 3, actions: 1 },
  ...{ has_other_resources: false, is_complete: true },
})

suite('who gains', () => {
  const cases: [name: string, gains: Gains, lines: string[]][] = [
    ['many', gains({}), ['12 people gain ReadOnlyAccess on 3 accounts, at once: Ada, Ben and 10 more.']],
    [
      'one, on one account, with approval',
      gains({ people: named(1, 'Ada'), accounts: named(1, 'shop'), answer: 'by_approval' }),
      ['1 person gains ReadOnlyAccess on “shop”, with approval: Ada.'],
    ],
    [
      'three, in an emergency',
      gains({ people: named(3, 'Ada', 'Ben', 'Cara'), emergency: true }),
      ['3 people gain ReadOnlyAccess on 3 accounts in an emergency, at once: Ada, Ben and Cara.'],
    ],
    [
      'two need approval',
      gains({ kind: 'needs_approval', people: named(2, 'Ada', 'Ben') }),
      ['2 people need approval from now on for ReadOnlyAccess on 3 accounts: Ada and Ben.'],
    ],
    [
      'five changes',
      gains({}, {}, {}, {}, {}),
      [
        ...Array(3).fill('12 people gain ReadOnlyAccess on 3 accounts, at once: Ada, Ben and 10 more.'),
        'and 2 more changes',
      ],
    ],
    ['nobody', gains(), [english.rules.gains.nobody]],
    [
      'nobody, without accounts',
      { ...gains(), total: { people: 2, accounts: 0, actions: 1 } },
      [english.rules.gains.noAccounts],
    ],
    [
      'nobody, without people',
      { ...gains(), total: { people: 0, accounts: 0, actions: 1 } },
      [english.rules.gains.noPeople],
    ],
    [
      'of more than accounts',
      { ...gains(), has_other_resources: true, is_complete: false },
      [english.rules.gains.nobody, english.rules.gains.others],
    ],
    [
      'of everything there is, as far as there was time',
      { ...gains({}), examined: gains({}).total, is_complete: false },
      ['12 people gain ReadOnlyAccess on 3 accounts, at once: Ada, Ben and 10 more.', english.rules.gains.cut],
    ],
    [
      'as far as it was looked at',
      { ...gains({}), total: { people: 600, accounts: 3, actions: 1 }, is_complete: false },
      [
        '12 people gain ReadOnlyAccess on 3 accounts, at once: Ada, Ben and 10 more.',
        english.rules.gains.partly(20, 3),
      ],
    ],
  ]
  for (const [name, answer, lines] of cases)
    test(name, () => assert.deepEqual(gainsLines(answer, 'at_once', english), lines))

  const none: [Template, string][] = [
    ['approval', german.rules.gains.noChange],
    ['emergency', german.rules.gains.nobody],
  ]
  for (const [template, line] of none)
    test(`nobody by ${template}, in German`, () => assert.deepEqual(gainsLines(gains(), template, german), [line]))

  test('of databases, nothing is counted', () => {
    const answer = { ...gains(), has_other_resources: true, is_complete: false }
    assert.deepEqual(gainsLines(answer, 'working_hours', english), [english.rules.gains.others])
  })

  test('later, says from when', () =>
    assert.deepEqual(gainsLines(gains({}), 'at_once', english, 'Monday 09:00')[0], 'Not now, but from Monday 09:00:'))
  test('never, says no moment', () =>
    assert.deepEqual(gainsLines(gains(), 'at_once', english, 'Monday 09:00'), [english.rules.gains.nobody]))
})
