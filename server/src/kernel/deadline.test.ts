import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { withinDeadline } from './deadline.ts'

// An unhandled late rejection would end the service.
const unhandled: unknown[] = []
const note = (error: unknown) => unhandled.push(error)
process.on('unhandledRejection', note)
after(() => {
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})

const late = () => 'late'
const never = () => new Promise<string>(() => {})

/** Whether the caller gets the answer, the error, or the result of `onTimeout`. */
const cases: { what: string; work(signal: AbortSignal): Promise<string>; ends: string | RegExp }[] = [
  { what: 'work that answers', work: async () => 'answer', ends: 'answer' },
  { what: 'work that fails', work: async () => Promise.reject(new Error('failed')), ends: /^Error: failed$/ },
  {
    what: 'work that throws at once',
    work: () => {
      throw new Error('at once')
    },
    ends: /^Error: at once$/,
  },
  { what: 'work that never ends', work: never, ends: 'late' },
  { what: 'work that heeds the signal', work: (signal) => pause(60_000, 'x', { signal }), ends: 'late' },
]

for (const { what, work, ends } of cases) {
  test(`${what}: ${ends}`, async () => {
    const answered = withinDeadline(20, work, late)
    if (typeof ends === 'string') assert.equal(await answered, ends)
    else await assert.rejects(answered, ends)
  })
}

test('the caller gets the error that is thrown when the time is up', async () => {
  const answered = withinDeadline(1, never, () => {
    throw new Error('too late')
  })
  await assert.rejects(answered, /^Error: too late$/)
})

test('the signal aborts when the time is up, not before, and not for work that was done in time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const signals: AbortSignal[] = []
  const keep = (signal: AbortSignal, answer: Promise<string>) => {
    signals.push(signal)
    return answer
  }
  const answered = withinDeadline(100, (signal) => keep(signal, never()), late)
  await withinDeadline(100, (signal) => keep(signal, Promise.resolve('done')), late)
  t.mock.timers.tick(99)
  await nextTurn()
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, false],
  )
  t.mock.timers.tick(1)
  assert.equal(await answered, 'late')
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  )
})

test('a late answer or error is dropped', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<string>()
  const { promise: failure, reject } = Promise.withResolvers<string>()
  for (const work of [answer, failure]) assert.equal(await withinDeadline(1, () => work, late), 'late')
  resolve('answer')
  reject(new Error('failed'))
  await nextTurn()
  await nextTurn()
  assert.deepEqual(unhandled, [])
})

test('work that was done in time leaves no timer, whether it succeeded or failed', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await withinDeadline(60_000, async () => 'answer', late)
  await withinDeadline(60_000, () => Promise.reject(new Error('failed')), late).catch(() => undefined)
  assert.equal(timers(), before)
})
