import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type AdaptiveRate, afterSending, afterThrottling, beganAt, rateAt } from './adaptive-rate.ts'

const bounds = { least: 0.5, most: 18 }

/** The state after so many seconds of calls at a steady rate, from the beginning. */
function sending(rate: number, seconds: number): AdaptiveRate {
  let state = beganAt(0)
  for (let call = 1; call <= rate * seconds; call += 1) state = afterSending(state, call / rate)
  return state
}

const about = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 0.05, `${actual} instead of ${expected}`)

suite('the rate that a service takes', () => {
  test('is the upper limit until a call is throttled', () => {
    for (const now of [0, 10, 1_000]) assert.equal(rateAt(sending(3, 5), now, bounds), 18)
  })

  // The figures of AWS's own rule: 0.7 of the rate at once, and 0.4 (t - K)³ + the rate after t seconds, with K = ³√(0.3 rate / 0.4).
  const table: readonly [rate: number, seconds: number, expected: number][] = [
    [10, 0, 7],
    [10, 0.5, 8.76],
    [10, 1.957, 10],
    [10, 3, 10.45],
    [10, 4, 13.4],
    [10, 4.67, 18],
    [10, 60, 18],
    [1, 0, 0.7],
    [1, 0.909, 1],
    [1, 2, 1.52],
    [0.2, 0, 0.5],
    [0.2, 1, 0.5],
    [16, 0, 11.2],
    [16, 2.289, 16],
    [16, 4, 18],
  ]
  for (const [rate, seconds, expected] of table) {
    test(`that throttled at ${rate} a second is ${expected} after ${seconds} s`, () => {
      const state = afterThrottling(sending(rate, 10), { now: 10, sentAt: 10 }, bounds)
      about(rateAt(state, 10 + seconds, bounds), expected)
    })
  }

  test('follows from what was sent, if less was sent than it would have taken', () => {
    const state = afterThrottling(sending(2, 30), { now: 30, sentAt: 30 }, bounds)
    about(rateAt(state, 30, bounds), 1.4)
  })

  test('is lowered once for calls that were in flight together, and again for one that was sent later', () => {
    const once = afterThrottling(sending(10, 10), { now: 10, sentAt: 9.9 }, bounds)
    assert.equal(afterThrottling(once, { now: 10.1, sentAt: 9.95 }, bounds), once)
    assert.notEqual(afterThrottling(once, { now: 10.2, sentAt: 10.1 }, bounds), once)
  })

  test('never leaves its bounds', () => {
    let state = sending(18, 10)
    for (let times = 0; times < 50; times += 1) {
      const now = 10 + times / 10
      state = afterThrottling(afterSending(state, now), { now, sentAt: now }, bounds)
      assert.ok(rateAt(state, now, bounds) >= 0.5)
    }
    assert.equal(rateAt(state, 1_000_000, bounds), 18)
  })
})

/** Calls one after the other for ten minutes; returns how many were answered in each minute. */
function minutesOf(isThrottled: (call: number, now: number) => boolean): number[] {
  let state = beganAt(0)
  let next = 0
  const answered = new Array<number>(10).fill(0)
  for (let call = 1; next < 600; call += 1) {
    const now = next
    state = afterSending(state, now)
    if (isThrottled(call, now)) state = afterThrottling(state, { now, sentAt: now }, bounds)
    else answered[Math.floor(now / 60)] = (answered[Math.floor(now / 60)] ?? 0) + 1
    for (next = now + 0.01; next < now + 1 / rateAt(state, next, bounds); next += 0.01);
  }
  return answered
}

suite('ten minutes', () => {
  const cases: readonly [every: number, least: number][] = [
    [3, 60],
    [8, 110],
    [14, 200],
  ]
  for (const [every, least] of cases) {
    test(`throttled 1 in ${every}: at least ${least} calls are answered each minute`, () => {
      for (const count of minutesOf((call) => call % every === 0)) assert.ok(count >= least, `${count} in a minute`)
    })
  }

  test('at a service that takes five calls a second, most of those are sent, and few are throttled', () => {
    let recent: number[] = []
    let throttled = 0
    const minutes = minutesOf((_call, now) => {
      recent = recent.filter((at) => now - at < 1)
      if (recent.length >= 5) {
        throttled += 1
        return true
      }
      recent.push(now)
      return false
    })
    const answered = minutes.reduce((sum, count) => sum + count)
    assert.ok(answered >= 0.7 * 5 * 600, `${answered} answered`)
    assert.ok(throttled < answered / 8, `${throttled} throttled`)
  })
})
