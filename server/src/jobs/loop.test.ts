import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Loop, startLoop } from './loop.ts'

/** The clock stands still until a test moves it on. */
let nowMs = 0
before(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
  mock.method(performance, 'now', () => nowMs)
})
after(() => {
  mock.timers.reset()
  mock.restoreAll()
})

let runs = 0
/** Ends the current run, which then requests another run after so many milliseconds. */
let endRun: (waitMs: number) => Promise<void>
let loop: Loop

beforeEach(async () => {
  runs = 0
  loop = startLoop(
    () => {
      runs += 1
      const { promise, resolve } = Promise.withResolvers<number>()
      endRun = (waitMs) => {
        resolve(waitMs)
        return nextTurn()
      }
      return promise
    },
    (error) => assert.fail(String(error)),
  )
  await nextTurn()
})

afterEach(async () => {
  const stopped = loop.stop()
  await endRun(never)
  await stopped
})

const never = Number.MAX_SAFE_INTEGER
/** Returns how many runs have begun after these milliseconds. */
async function pass(ms: number): Promise<number> {
  nowMs += ms
  mock.timers.tick(ms)
  await nextTurn()
  return runs
}

test('runs at once, again when the run requests it, and after a second at the latest', async () => {
  assert.equal(runs, 1)
  await endRun(500)
  assert.equal(await pass(400), 1)
  assert.equal(await pass(100), 2)
  await endRun(0)
  assert.equal(runs, 3)
  await endRun(never)
  assert.equal(await pass(900), 3)
  assert.equal(await pass(100), 4)
})

test('`wake` begins a run at once, or right after the current run', async () => {
  await endRun(never)
  loop.wake()
  await nextTurn()
  assert.equal(runs, 2)
  loop.wake()
  assert.equal(await pass(1_000), 2, 'runs do not overlap')
  await endRun(never)
  assert.equal(runs, 3)
})

test('`wakeSoon`, called many times, begins one run within 200 ms', async () => {
  await endRun(never)
  for (let ended = 0; ended < 100; ended += 1) loop.wakeSoon()
  assert.equal(await pass(200), 2)
  await endRun(never)
  assert.equal(await pass(200), 2, 'and no second one')
})

test('`wakeSoon` during a run begins another run within 200 ms', async () => {
  loop.wakeSoon()
  await endRun(never)
  assert.equal(await pass(200), 2)
})

test('`wakeSoon` does not delay a run that is due earlier', async () => {
  await endRun(1)
  loop.wakeSoon()
  assert.equal(await pass(1), 2)
})

test('`wakeInTurn` begins a run at once after a rest, and one for all that come right after a run', async () => {
  await endRun(never)
  for (let times = 0; times < 100; times += 1) loop.wakeInTurn()
  assert.equal(await pass(5), 1)
  assert.equal(await pass(5), 2)
  loop.wakeInTurn()
  await endRun(never)
  assert.equal(await pass(5), 2, 'also for what came during the run')
  assert.equal(await pass(5), 3)
  await endRun(never)
  await pass(500)
  loop.wakeInTurn()
  assert.equal(await pass(1), 4)
})
