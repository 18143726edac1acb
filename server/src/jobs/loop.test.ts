import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Loop, startLoop } from './loop.ts'

/** Time stands still, and moves on where a test says so. */
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
/** Ends the run that is under way, which then wants to run again after so many milliseconds. */
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
/** Answers how many runs have begun after these milliseconds. */
async function pass(ms: number): Promise<number> {
  nowMs += ms
  mock.timers.tick(ms)
  await nextTurn()
  return runs
}

test('it runs at once, again when the run says so, and after a second whatever that says', async () => {
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

test('`wake` while it waits begins a run at once, and while it runs another after it', async () => {
  await endRun(never)
  loop.wake()
  await nextTurn()
  assert.equal(runs, 2)
  loop.wake()
  assert.equal(await pass(1_000), 2, 'runs do not overlap')
  await endRun(never)
  assert.equal(runs, 3)
})

test('`wakeSoon` begins one run within moments for all that ended until then', async () => {
  await endRun(never)
  for (let ended = 0; ended < 100; ended += 1) loop.wakeSoon()
  assert.equal(await pass(200), 2)
  await endRun(never)
  assert.equal(await pass(200), 2, 'and no second one')
})

test('`wakeSoon` while it runs begins another run within moments: that one could not know', async () => {
  loop.wakeSoon()
  await endRun(never)
  assert.equal(await pass(200), 2)
})

test('`wakeSoon` puts off no run that is due before', async () => {
  await endRun(1)
  loop.wakeSoon()
  assert.equal(await pass(1), 2)
})
