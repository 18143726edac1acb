import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  begun,
  type Counts,
  countedOf,
  hasChanges,
  isConfirmable,
  nextOf,
  type Outcome,
  outcomeOf,
  pollAfter,
  pollRunAfter,
  progressOf,
  type Run,
  type RunDetail,
  underWay,
  waiting,
} from './run.ts'

const now = Date.parse('2026-11-26T13:30:00Z')
const at = (time: string) => `2026-11-26T${time}:00Z`
const ended: Partial<Run> = { status: 'synced', requested_by: 'u1', finished_at: at('12:00'), due_at: null }
const run = (more: Partial<Run>) =>
  ({ dry_run: false, needs_confirmation: false, confirms: null, ...ended, ...more }) as Run

const scheduled = run({ status: 'pending', requested_by: null, finished_at: null, due_at: at('14:00') })
const asked = run({ status: 'pending', finished_at: null, due_at: at('13:30') })
const going = run({ status: 'syncing', requested_by: null, finished_at: null })
const stopped = run({ status: 'failed', needs_confirmation: true })
const failed = run({ status: 'failed' })
const done = run({})

suite('the runs', () => {
  test('that began are all but the next one by the schedule', () => {
    assert.deepEqual(begun([scheduled, done, failed]), [done, failed])
    assert.equal(nextOf([scheduled, done]), scheduled)
    assert.equal(nextOf([asked, done]), undefined)
  })

  const cases: [what: string, runs: Run[], expected: Run | undefined][] = [
    ['is one that is read', [going, done], going],
    ['is one that a person asked for', [asked, done], asked],
    ['is not the next one by the schedule', [scheduled, done], undefined],
    ['is none where all ended', [done, failed], undefined],
  ]
  for (const [what, runs, expected] of cases) test(`under way ${what}`, () => assert.equal(underWay(runs), expected))
})

suite('a run that was stopped', () => {
  const later = { finished_at: at('13:00') }
  const cases: [what: string, others: Run[], expected: boolean][] = [
    ['can be confirmed', [], true],
    ['can be confirmed after one that failed', [run({ ...later, status: 'failed' })], true],
    ['can be confirmed after a look', [run({ ...later, dry_run: true })], true],
    ['can be confirmed after one that was read before it', [run({ finished_at: at('11:00') })], true],
    ['cannot be confirmed after one that was read', [run(later)], false],
  ]
  for (const [what, others, expected] of cases)
    test(what, () => assert.equal(isConfirmable(stopped, [...others, stopped]), expected))

  test('cannot be confirmed before it ended, and another one cannot at all', () => {
    assert.equal(isConfirmable({ ...stopped, finished_at: null }, []), false)
    assert.equal(isConfirmable(done, [done]), false)
  })

  test('waits as long as no other has ended', () => {
    assert.equal(waiting([scheduled, stopped, done]), stopped)
    assert.equal(waiting([going, stopped]), stopped)
    assert.equal(waiting([run({ ...later, status: 'failed' }), stopped]), undefined)
    assert.equal(waiting([]), undefined)
  })

  test('waits also where only a look found it', () => {
    const look = run({ dry_run: true, needs_confirmation: true })
    assert.equal(waiting([look, done]), look)
  })
})

suite('the outcome of a run', () => {
  const cases: [run: Run, expected: Outcome][] = [
    [asked, 'waits'],
    [going, 'going'],
    [stopped, 'stopped'],
    [failed, 'failed'],
    [run({ dry_run: true }), 'looked'],
    [run({ dry_run: true, needs_confirmation: true }), 'looked'],
    [run({ dry_run: true, status: 'failed' }), 'failed'],
    [done, 'read'],
  ]
  for (const [of, expected] of cases)
    test(`${JSON.stringify([of.status, of.dry_run, of.needs_confirmation])} is ${expected}`, () =>
      assert.equal(outcomeOf(of), expected))
})

test('what a run came to leaves out what is none', () => {
  const counts = { people: 9, unchanged: 6, added: 2, disabled: 1, groups: 3, groups_emptied: 1 } as Counts
  const all = new Proxy(counts, { get: (known, name) => known[name as keyof Counts] ?? 0 })
  assert.deepEqual(countedOf(all), {
    people: [
      ['added', 2],
      ['disabled', 1],
    ],
    groups: [['groups_emptied', 1]],
  })
  assert.equal(hasChanges({ counts: all }), true)
  assert.equal(hasChanges({ counts: new Proxy(counts, { get: () => 0 }) }), false)
  assert.equal(hasChanges({ counts: null }), false)
})

suite('runs are loaded again', () => {
  const cases: [what: string, runs: Run[] | undefined, polls: number, expected: number | false][] = [
    ['while one goes on', [going, done], 1, 1_500],
    ['while one that a person asked for waits', [asked], 1, 1_500],
    ['when the next one is due', [scheduled, done], 1, 300_000],
    ['soon where the next one is overdue', [{ ...scheduled, due_at: at('13:29') }], 1, 1_500],
    ['not where all ended', [done], 1, false],
    ['not without end', [going], 2_000, false],
    ['not before they were loaded', undefined, 0, false],
  ]
  for (const [what, runs, polls, expected] of cases)
    test(what, () => assert.equal(pollAfter(runs, polls, now), expected))
})

suite('one run is loaded again', () => {
  const detail = (more: Partial<Run>, grants: number, gone: number) =>
    ({ ...run(more), access: { grants, gone, slowest_seconds: null } }) as RunDetail
  const cases: [what: string, run: RunDetail | undefined, expected: boolean][] = [
    ['while it goes on', detail({ status: 'syncing', finished_at: null }, 0, 0), true],
    ['while access that it ended is still there', detail({}, 3, 2), true],
    ['not once all access is gone', detail({}, 3, 3), false],
    ['not before it was loaded', undefined, false],
  ]
  for (const [what, of, expected] of cases) test(what, () => assert.equal(pollRunAfter(of, 1) !== false, expected))
})

test('the progress of a run is where it is', () => {
  const of = (status: Run['status'], phase: Run['progress']['phase']) =>
    progressOf(run({ status, progress: { phase, people_read: 0, groups_read: 0, done: 0, total: null } }))
  assert.deepEqual(
    [
      of('pending', null),
      of('syncing', null),
      of('syncing', 'reading'),
      of('syncing', 'people'),
      of('syncing', 'groups'),
    ],
    ['begins', 'begins', 'reading', 'writing', 'writing'],
  )
})
