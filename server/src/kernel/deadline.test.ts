import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { withinDeadline } from './deadline.ts'

// A late rejection that nobody handles would end the service.
const unhandled: unknown[] = []
const note = (error: unknown) => unhandled.push(error)
process.on('unhandledRejection', note)
after(() => {
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})

const late = () => 'late'
const never = () => new Promise<string>(() => {})

/** Whether the caller gets the answer, the error, or what is said when the time is up. */
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

test('what is thrown when the time is up is what the caller gets', async () => {
  const answered = withinDeadline(1, never, () => {
    throw new Error('too late')
  })
  await assert.rejects(answered, /^Error: too late$/)
})

test('the signal aborts when the time is up, and not before nor after work that was done in time', async (t) => {
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

test('what comes late is dropped, an answer as well as an error', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<string>()
  const { promise: failure, reject } = Promise.withResolvers<string>()
  for (const work of [answer, failure]) assert.equal(await withinDeadline(1, () => work, late), 'late')
  resolve('answer')
  reject(new Error('failed'))
  await nextTurn()
  await nextTurn()
  assert.deepEqual(unhandled, [])
})

test('no timer is left of work that was done in time, however it ended', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await withinDeadline(60_000, async () => 'answer', late)
  await withinDeadline(60_000, () => Promise.reject(new Error('failed')), late).catch(() => undefined)
  assert.equal(timers(), before)
})
