import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../test/support/chance.ts'
import { openBuckets, rateLimited } from './bucket.ts'

const limit = { name: 'test', quota: 10, seconds: 5 } as const

/** Buckets, and the clock that they use. */
function stage(keys?: number) {
  const at = { ms: 12_345.678_9 }
  return { at, buckets: openBuckets(limit, { clock: () => at.ms, ...(keys !== undefined && { keys }) }) }
}

test('a quota can be taken at once, then as fast as it is refilled', () => {
  const { at, buckets } = stage()
  for (let left = 9; left >= 0; left -= 1) {
    const { allowed, remaining, retrySeconds } = buckets.take('anna')
    assert.deepEqual([allowed, remaining, retrySeconds], [true, left, left === 0 ? 1 : 0])
  }
  assert.deepEqual(buckets.take('anna'), { allowed: false, remaining: 0, retrySeconds: 1, fullSeconds: 5 })
  assert.equal(buckets.take('ben').allowed, true, 'each key has its own bucket')
  at.ms += 490
  assert.equal(buckets.take('anna').allowed, false)
  at.ms += 10
  assert.equal(buckets.take('anna').allowed, true)
  assert.equal(buckets.take('anna').allowed, false, 'a refused take costs nothing')
  at.ms += 5_000
  assert.deepEqual(buckets.peek('anna'), { allowed: true, remaining: 10, retrySeconds: 0, fullSeconds: 0 })
})

test('no sequence of takes gets more than the quota and what was refilled since', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1_500 }), { maxLength: 200 }), (pauses) => {
      const { at, buckets } = stage()
      const began = at.ms
      let taken = 0
      for (const pause of pauses) {
        at.ms += pause
        const before = buckets.peek('anna')
        const { allowed } = buckets.take('anna')
        assert.equal(before.allowed, allowed)
        if (allowed) taken += 1
        const given = ((at.ms - began) / 1_000) * (limit.quota / limit.seconds)
        assert.ok(taken <= limit.quota + given + 0.011, `${taken} taken, ${given} refilled`)
      }
    }),
  )
})

test('a quota of any size can be taken completely at any moment, in spite of rounding', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3_000 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      (quota, seconds, now) => {
        const buckets = openBuckets({ name: 'test', quota, seconds }, { clock: () => now })
        for (let taken = 0; taken < quota; taken += 1) assert.ok(buckets.take('anna').allowed, `${taken} of ${quota}`)
        assert.equal(buckets.take('anna').allowed, false)
      },
    ),
    { numRuns: 50 },
  )
})

test('many other keys do not evict a key that stays in use over its limit', () => {
  const { buckets } = stage(100)
  while (buckets.take('flood').allowed);
  for (let key = 0; key < 100_000; key += 1) {
    buckets.take(`${key}`)
    assert.equal(buckets.take('flood').allowed, false)
  }
})

test('the refusal names the limit and the time to retry', () => {
  const { code, status, details } = rateLimited({ name: 'test', quota: 10, seconds: 2.5 }, 0)
  assert.deepEqual([code, status], ['rate_limited', 429])
  assert.deepEqual(details, { limit: 'test', quota: 10, window_seconds: 3, retry_after_seconds: 1 })
})
