import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow, type Reading, since, type Watch } from './clock.ts'

const hour = 3_600_000

/** A reading `at` that moment of this process, of a clock that shows so much; `took`: how long the answer took. */
function reading(at: number, steady_ms: number, took = 1): Reading {
  return { asked_ms: at, answered_ms: at + took, steady_ms }
}
const watchOf = (first: Reading): Watch => ({ reading: first, behind_ms: 0, behind_since: undefined })

const pairs: readonly [string, Reading, Reading, { behind?: number; ahead?: number }][] = [
  ['both go on', reading(0, 100_000), reading(2_000, 102_000), {}],
  ['back by an hour', reading(0, hour), reading(2_001, 2_000), { behind: hour }],
  ['back by half a minute', reading(0, 100_000), reading(2_001, 72_000), { behind: 30_000 }],
  ['ahead by an hour', reading(0, 100_000), reading(2_000, 102_001 + hour), { ahead: hour }],
  ['ahead by half a minute', reading(0, 100_000), reading(2_000, 132_001), {}],
  ['no reading for an hour', reading(0, 100_000), reading(hour, 100_000 + hour), {}],
  ['back while no reading came for an hour', reading(0, 2 * hour), reading(hour + 1, 2 * hour), { behind: hour }],
  ['an answer that took a minute, of a clock read at its end', reading(0, 0), reading(2_000, 62_000, 60_000), {}],
  ['an answer that took a minute, of a clock read at once', reading(0, 59_000, 60_000), reading(60_001, 59_001), {}],
]
for (const [name, earlier, later, { behind = 0, ahead = 0 }] of pairs) {
  test(`the clock: ${name}`, () => {
    const { watch, ahead_ms } = follow(watchOf(earlier), later)
    assert.deepEqual([watch.behind_ms, ahead_ms], [behind, ahead])
    assert.equal(watch.behind_since, behind > 30_000 ? later.asked_ms : undefined)
  })
}

/** What is found at each reading, one a second; `clock`: what the clock shows at each. */
function found(clock: (second: number) => number, seconds: number) {
  let watch = watchOf(reading(0, clock(0)))
  const jumps: [number, number][] = []
  for (let second = 1; second <= seconds; second += 1) {
    const next = follow(watch, reading(second * 1_000, clock(second)))
    watch = next.watch
    if (next.back_ms > 0) jumps.push([second, Math.round(next.back_ms / 1_000)])
  }
  return jumps
}

test('a clock that was set back counts after ten seconds', () => {
  const jumps = found((second) => second * 1_000 - (second >= 3 ? hour : 0), 14)
  assert.deepEqual(jumps[0], [13, 3_600])
})

test('a clock that is corrected within ten seconds does not count', () => {
  const jumps = found((second) => second * 1_000 - (second >= 3 && second < 12 ? hour : 0), 40)
  assert.deepEqual(jumps, [])
})

test('many small steps back add up', () => {
  // Each second it goes on by one second, and back by five.
  assert.equal(found((second) => second * -4_000, 20)[0]?.[0], 17)
})

test('a clock that runs a little slower than this one is not behind', () => {
  assert.deepEqual(
    found((second) => second * 999.5, 100_000),
    [],
  )
})

test('what processes read before this one shows a jump back, and no jump ahead', () => {
  assert.equal(follow(since(2 * hour), reading(50, hour)).watch.behind_ms, hour)
  assert.equal(follow(since(hour), reading(50, 9 * hour)).ahead_ms, 0)
})

test('what another process adds is no longer missing', () => {
  const seen = follow(watchOf(reading(0, hour)), reading(1_000, 0)).watch
  assert.deepEqual(follow(seen, reading(2_000, hour + 2_000)).watch.behind_since, undefined)
  assert.equal(follow(seen, reading(2_000, hour + 2_000)).ahead_ms, 0)
})
