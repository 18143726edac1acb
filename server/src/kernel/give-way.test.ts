import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWays, restWhereCrowded } from './give-way.ts'

/** A thread with a clock that only pauses move. `shares`: how busy it is during each pause; the last one holds on. */
function openThread(shares: readonly number[]) {
  let now = 1_000
  const rests: number[] = []
  const ways = openWays({
    now: () => now,
    async pause(ms) {
      now += ms
      rests.push(ms)
    },
    measureBusy: () => () => shares[Math.min(rests.length, shares.length) - 1] ?? 0,
  })
  return { ...ways, rests, wait: (ms: number) => (now += ms) }
}

const rows: { what: string; shares: number[]; noted?: number; workedMs: number; rests: number[] }[] = [
  { what: 'nothing was ever urgent: no rest', shares: [1], workedMs: 10, rests: [] },
  { what: 'it was too long ago: no rest', shares: [1], noted: 200, workedMs: 10, rests: [] },
  { what: 'the thread has time: one rest', shares: [0.5], noted: 0, workedMs: 10, rests: [10] },
  { what: 'the thread has time after a while', shares: [0.9, 0.7, 0.3], noted: 0, workedMs: 10, rests: [10, 10, 10] },
  {
    what: 'the thread is always busy: four times as long',
    shares: [1],
    noted: 0,
    workedMs: 10,
    rests: [10, 10, 10, 10],
  },
  { what: 'until nothing is urgent', shares: [1], noted: 185, workedMs: 10, rests: [10, 10] },
  { what: 'a short part: rests of 5 ms', shares: [1], noted: 0, workedMs: 1, rests: [5] },
  { what: 'a long part: rests of 50 ms', shares: [1, 1, 0], noted: 0, workedMs: 400, rests: [50, 50, 50] },
  { what: 'a very long part: 400 ms', shares: [1], noted: 0, workedMs: 3_000, rests: Array(4).fill(50) },
  { what: 'a part of no time: no rest', shares: [1], noted: 0, workedMs: 0, rests: [] },
]

for (const { what, shares, noted, workedMs, rests } of rows)
  test(what, async () => {
    const thread = openThread(shares)
    if (noted !== undefined) {
      thread.noteUrgentWork()
      thread.wait(noted)
    }
    await thread.giveWay(workedMs)
    assert.deepEqual(thread.rests, rests)
  })

test('a thread beside others rests as long as a piece in which it lacked a processor', async () => {
  const rests: number[] = []
  let used = 100
  const rest = restWhereCrowded({ processorMs: () => used, pause: async (ms) => rests.push(ms) })
  for (const [processorMs, workedMs] of [
    [10, 10],
    [5, 12],
    [9, 11],
    [2, 10],
    [20, 400],
  ] as const) {
    used += processorMs
    await rest(workedMs)
  }
  assert.deepEqual(rests, [12, 10, 50])
})
