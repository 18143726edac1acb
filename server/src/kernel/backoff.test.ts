import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Backoff, backoffDelay, backoffDelays } from './backoff.ts'

const plain = { base: 100, max: 5_000 }
const half = { base: 10_000, max: 1_800_000, jitter: 0.5 }
const full = { base: 500, max: 60_000, jitter: 1 }

const delays: [backoff: Backoff, attempt: number, random: number | undefined, delay: number][] = [
  [plain, 0, undefined, 100],
  [plain, 1, undefined, 200],
  [plain, 5, undefined, 3_200],
  [plain, 6, undefined, 5_000],
  [plain, 2_000, undefined, 5_000],
  [half, 0, 0, 5_000],
  [half, 0, 0.5, 7_500],
  [half, 7, 0, 640_000],
  [half, 8, 0.9999, 1_799_910],
  [half, 2_000, 0, 900_000],
  [full, 0, 0, 0],
  [full, 3, 0.5, 2_000],
  [full, 3, 0.75, 3_000],
  [full, 2_000, 0.5, 30_000],
]

for (const [backoff, attempt, random, delay] of delays) {
  test(`${JSON.stringify(backoff)} waits ${delay} before attempt ${attempt} with random ${random}`, () => {
    assert.equal(backoffDelay(backoff, attempt, random), delay)
  })
}

for (const { base, max, all } of [
  { base: 1, max: 8, all: [1, 2, 4, 8] },
  { base: 1, max: 10, all: [1, 2, 4, 8, 10] },
  { base: 5, max: 5, all: [5] },
]) {
  test(`from ${base} to ${max} the delays are ${all.join(', ')}`, () => {
    assert.deepEqual(backoffDelays({ base, max }), all)
  })
}
