import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caughtUp, follow, type Reading, since, type Watch } from './clock.ts'

const hour = 3_600_000

/** A reading `at` that moment of this process, of a clock that shows so much; `took`: how long the answer took. */
function reading(at: number, clock_ms: number, { took = 1, back_ms = 0 } = {}): Reading {
  return { asked_ms: at, answered_ms: at + took, clock_ms, back_ms }
}
const watchOf = (first: Reading): Watch => ({ reading: first, behind_ms: 0 })

const jumps: readonly [string, Reading, Reading, number][] = [
  ['both go on', reading(0, 100_000), reading(2_000, 102_000), 0],
  ['back by an hour', reading(0, hour), reading(2_001, 2_000), -hour],
  ['back by half a minute', reading(0, 100_000), reading(2_001, 72_001), 0],
  ['back by a little more', reading(0, 100_000), reading(2_001, 71_999), -30_001],
  ['ahead by an hour', reading(0, 100_000), reading(2_000, 102_001 + hour), hour],
  ['ahead by half a minute', reading(0, 100_000), reading(2_000, 132_001), 0],
  ['no reading for an hour', reading(0, 100_000), reading(hour, 100_000 + hour), 0],
  ['back while no reading came for an hour', reading(0, 2 * hour), reading(hour + 1, 2 * hour), -hour],
  [
    'an answer that took a minute, of a clock read at its end',
    reading(0, 0),
    reading(2_000, 62_000, { took: 60_000 }),
    0,
  ],
  [
    'an answer that took a minute, of a clock read at once',
    reading(0, 59_000, { took: 60_000 }),
    reading(60_001, 59_001),
    0,
  ],
  ['another process has added it', reading(0, hour), reading(2_000, 2_000, { back_ms: hour }), 0],
]
for (const [name, earlier, later, expected] of jumps) {
  test(`the clock: ${name}`, () => {
    assert.equal(follow(watchOf(earlier), later).jump_ms, expected)
  })
}

test('many small steps back add up, and what was added counts no more', () => {
  let watch = watchOf(reading(0, 100_000))
  const found: number[] = []
  for (let step = 1; step <= 6; step += 1) {
    // Each step goes back by 10 s, and 1 s passes.
    const back_ms = watch.reading.back_ms
    const next = follow(watch, reading(step * 1_001, 100_000 - step * 9_000, { back_ms }))
    watch = next.watch
    if (next.jump_ms < 0) {
      watch = caughtUp(watch)
      found.push(next.jump_ms)
    }
  }
  assert.deepEqual(found, [-40_000])
  assert.equal(watch.behind_ms, 20_000)
})

test('a clock that runs a little slower than this one is not behind', () => {
  let watch = watchOf(reading(0, 0))
  for (let second = 1; second <= 100_000; second += 1) {
    const next = follow(watch, reading(second * 1_000, second * 999.5))
    assert.equal(next.jump_ms, 0)
    watch = next.watch
  }
})

test('what was seen before this process began shows a jump back, and no jump ahead', () => {
  assert.equal(follow(since(2 * hour, 0), reading(50, hour)).jump_ms, -hour)
  assert.equal(follow(since(hour, 0), reading(50, 9 * hour)).jump_ms, 0)
})
