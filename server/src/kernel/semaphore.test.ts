import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSemaphore, type SemaphoreOptions } from './semaphore.ts'

type Acquire = NonNullable<Parameters<ReturnType<typeof createSemaphore>['run']>[1]>

/** Work that ends when the test says so, and a list of what has begun. */
function stage(options: Omit<SemaphoreOptions, 'refusal'>) {
  const semaphore = createSemaphore({ ...options, refusal: () => new Error('refused') })
  const begun: string[] = []
  const start = (what: string, acquire: Acquire = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const done = semaphore.run(() => {
      begun.push(what)
      return promise
    }, acquire)
    return { done, end: () => resolve(what), fail: () => reject(new Error(what)) }
  }
  return { begun, start }
}

/** Which work has begun, and in which order, when each ends as soon as it has begun. */
const orders: {
  what: string
  limit: number
  starts: readonly [string, Acquire?][]
  atOnce: readonly string[]
  inAll: readonly string[]
}[] = [
  {
    what: 'work runs at once up to the limit',
    limit: 2,
    starts: [['a'], ['b'], ['c']],
    atOnce: ['a', 'b'],
    inAll: ['a', 'b', 'c'],
  },
  {
    what: 'waiting work runs in the order of its arrival',
    limit: 1,
    starts: [['a'], ['b'], ['c'], ['d']],
    atOnce: ['a'],
    inAll: ['a', 'b', 'c', 'd'],
  },
  {
    what: 'keys do not wait for each other',
    limit: 1,
    starts: [
      ['a', { key: 'one' }],
      ['b', { key: 'one' }],
      ['c', { key: 'other' }],
    ],
    atOnce: ['a', 'c'],
    inAll: ['a', 'c', 'b'],
  },
  {
    what: 'urgent work goes before other waiting work, in its own order',
    limit: 1,
    starts: [['a'], ['b'], ['c', { isUrgent: true }], ['d', { isUrgent: true }]],
    atOnce: ['a'],
    inAll: ['a', 'c', 'd', 'b'],
  },
  {
    what: 'urgent work does not interrupt running work',
    limit: 1,
    starts: [['a'], ['b', { isUrgent: true }]],
    atOnce: ['a'],
    inAll: ['a', 'b'],
  },
]

for (const { what, limit, starts, atOnce, inAll } of orders) {
  test(what, async () => {
    const { begun, start } = stage({ limit })
    const works = starts.map(([name, acquire]) => start(name, acquire))
    await nextTurn()
    assert.deepEqual(begun, atOnce)
    for (const { end } of works) end()
    assert.deepEqual(
      await Promise.all(works.map(({ done }) => done)),
      starts.map(([name]) => name),
    )
    assert.deepEqual(begun, inAll)
  })
}

test('50 calls never exceed the limit', async () => {
  const semaphore = createSemaphore({ limit: 4, refusal: () => new Error('refused') })
  let [running, most] = [0, 0]
  const work = async () => {
    most = Math.max(most, ++running)
    await nextTurn()
    running -= 1
  }
  await Promise.all(Array.from({ length: 50 }, () => semaphore.run(work)))
  assert.equal(most, 4)
})

test('work that fails, later or at once, releases its place', async () => {
  const { begun, start } = stage({ limit: 1 })
  const [a, b] = [start('a'), start('b')]
  a.fail()
  await assert.rejects(a.done, /^Error: a$/)
  await nextTurn()
  assert.deepEqual(begun, ['a', 'b'])
  b.end()
  await b.done
  const semaphore = createSemaphore({ limit: 1, refusal: () => new Error('refused') })
  await assert.rejects(
    semaphore.run(() => {
      throw new Error('at once')
    }),
    /at once/,
  )
  assert.equal(await semaphore.run(async () => 'next'), 'next')
})

test('work that arrives after a place was handed on waits for it', async () => {
  const { begun, start } = stage({ limit: 1 })
  const [a, b] = [start('a'), start('b')]
  a.end()
  await a.done
  const c = start('c')
  await nextTurn()
  assert.deepEqual(begun, ['a', 'b'])
  for (const work of [b, c]) work.end()
  await Promise.all([b.done, c.done])
  assert.deepEqual(begun, ['a', 'b', 'c'])
})

/** Why the second work is refused, while the first runs and holds the only place. */
const refused: {
  what: string
  options: Omit<SemaphoreOptions, 'refusal' | 'limit'>
  leave?: boolean
  left?: boolean
}[] = [
  { what: 'work that would exceed the queue limit', options: { maxWaiting: 0 } },
  { what: 'work that has waited too long', options: { maxWaitMs: 1 } },
  { what: 'work whose signal aborts while it waits', options: {}, leave: true },
  { what: 'work whose signal aborted before it waits', options: {}, left: true },
]

for (const { what, options, leave, left } of refused) {
  test(`${what} is refused and leaves the queue, which goes on`, async () => {
    const { begun, start } = stage({ limit: 1, ...options })
    const leaving = new AbortController()
    if (left) leaving.abort()
    const a = start('a')
    const b = start('b', { signal: leaving.signal })
    if (leave) leaving.abort()
    await assert.rejects(b.done, /refused/)
    a.end()
    await a.done
    const c = start('c')
    c.end()
    assert.equal(await c.done, 'c')
    assert.deepEqual(begun, ['a', 'c'])
  })
}

test('work that has acquired a place is not refused by its signal or its wait time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { begun, start } = stage({ limit: 1, maxWaitMs: 100 })
  const leaving = new AbortController()
  const [a, b] = [start('a'), start('b', { signal: leaving.signal })]
  t.mock.timers.tick(60)
  a.end()
  await a.done
  const c = start('c')
  leaving.abort()
  t.mock.timers.tick(60)
  for (const work of [b, c]) work.end()
  assert.deepEqual(await Promise.all([b.done, c.done]), ['b', 'c'])
  assert.deepEqual(begun, ['a', 'b', 'c'])
})
