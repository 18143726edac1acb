import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearMisses, nearMissWords, permitWhen, requester } from '../../../test/support/near-misses.ts'

/** A schedule is described by its coming start or end, in the tenant's time zone. */
const berlin = { now: new Date('2024-01-06T18:30:00Z'), time_zone: 'Europe/Berlin' }
const workingHours = 'context.weekday <= 5 && context.minute >= 540 && context.minute < 1020'
for (const [what, rules, context, expected] of [
  [
    'the coming start of a schedule of days and hours',
    [permitWhen(workingHours)],
    berlin,
    ['a rule permits this from Monday 09:00 (Europe/Berlin); it is Saturday 19:30'],
  ],
  [
    'the coming start where the clock is changed before',
    [permitWhen(workingHours)],
    { now: new Date('2024-03-30T12:00:00Z'), time_zone: 'Europe/Berlin' },
    ['a rule permits this from Monday 09:00 (Europe/Berlin); it is Saturday 13:00'],
  ],
  [
    'the start in a week with its date',
    [permitWhen('context.weekday == 1 && context.minute < 600')],
    {},
    ['a rule permits this from Monday 2024-01-08 00:00 (UTC); it is Monday 12:00'],
  ],
  [
    'the coming end of a forbid',
    ['permit (principal, action, resource);', 'forbid (principal, action, resource) when { context.weekday >= 6 };'],
    berlin,
    ['from Monday 00:00 (Europe/Berlin) no rule forbids this; it is Saturday 19:30'],
  ],
  [
    'the first coming end of a forbid of days and hours, only',
    ['permit (principal, action, resource);', `forbid (principal, action, resource) when { ${workingHours} };`],
    {},
    ['from Monday 17:00 (UTC) no rule forbids this; it is Monday 12:00'],
  ],
  [
    'the first end of a forbid that ends by any of its conditions',
    [
      'permit (principal, action, resource);',
      'forbid (principal, action, resource) when { context.weekday <= 5 } unless { context.minute >= 1320 && context.weekday != 1 };',
    ],
    {},
    ['from Tuesday 22:00 (UTC) no rule forbids this; it is Monday 12:00'],
  ],
  [
    'the first moment at which no other rule forbids it',
    [permitWhen('context.weekday <= 5'), `forbid (principal, action, resource) unless { ${workingHours} };`],
    berlin,
    ['a rule permits this from Monday 09:00 (Europe/Berlin); it is Saturday 19:30'],
  ],
  [
    'the coming end of a forbid outside office hours',
    [
      'permit (principal, action, resource);',
      'forbid (principal, action, resource) when { context.weekday > 5 || context.minute < 540 || context.minute >= 1020 };',
    ],
    berlin,
    ['from Monday 09:00 (Europe/Berlin) no rule forbids this; it is Saturday 19:30'],
  ],
  [
    'the first moment at which a forbid that is over now has not begun again',
    [permitWhen('context.weekday <= 5'), 'forbid (principal, action, resource) when { context.minute < 480 };'],
    berlin,
    ['a rule permits this from Monday 08:00 (Europe/Berlin); it is Saturday 19:30'],
  ],
  ['no window that is past', [permitWhen('context.now < datetime("2024-01-01")')], {}, []],
  [
    'no day of a window that ends before',
    [permitWhen('context.weekday == 3 && context.now < datetime("2024-01-02")')],
    {},
    [],
  ],
] as const) {
  test(`a requester is shown ${what}`, async () =>
    assert.deepEqual(await nearMissWords([...rules], { context }, requester), expected))
}

test('a requester who may read rules is shown the whole schedule of a forbid', async () => {
  const forbid = `forbid (principal, action, resource) when { ${workingHours} && context.has_reason };`
  const misses = await nearMisses(['permit (principal, action, resource);', forbid])
  assert.deepEqual(
    misses.map(({ kind, condition }) => [kind, condition]),
    [
      ['has_reason', 'when { context.has_reason }'],
      ['weekday', 'when { (context.weekday <= 5) && ((context.minute >= 540) && (context.minute < 1020)) }'],
    ],
  )
})

test('a requester who may read rules is shown no window that is past either', async () =>
  assert.deepEqual(await nearMissWords([permitWhen('context.now < datetime("2024-01-01")')]), []))
