import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
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
  totalLimit?: number
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
  {
    what: 'keys share a total limit, and have their own as well',
    limit: 2,
    totalLimit: 3,
    starts: [
      ['a', { key: 'one' }],
      ['b', { key: 'one' }],
      ['c', { key: 'one' }],
      ['d', { key: 'other' }],
      ['e', { key: 'other' }],
    ],
    atOnce: ['a', 'b', 'd'],
    inAll: ['a', 'b', 'd', 'c', 'e'],
  },
  {
    what: 'a single work waits for what runs and for one work of each other key that waits',
    limit: 2,
    totalLimit: 2,
    starts: [
      ['a1', { key: 'a' }],
      ['a2', { key: 'a' }],
      ['a3', { key: 'a' }],
      ['a4', { key: 'a' }],
      ['a5', { key: 'a' }],
      ['b1', { key: 'b' }],
      ['b2', { key: 'b' }],
      ['b3', { key: 'b' }],
      ['c1', { key: 'c' }],
    ],
    atOnce: ['a1', 'a2'],
    inAll: ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5', 'b3'],
  },
]

for (const { what, limit, totalLimit = Number.POSITIVE_INFINITY, starts, atOnce, inAll } of orders) {
  test(what, async () => {
    const { begun, start } = stage({ limit, totalLimit })
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

suite('when as many wait as may wait in all', () => {
  /** Works of one letter have the key of that letter. The first runs, and four others may wait. */
  const fill = (names: string) => {
    const { begun, start } = stage({ limit: 1, totalLimit: 1, maxWaiting: 3, maxTotalWaiting: 4 })
    const outcomes: string[] = []
    const works = Array.from(names, (key, n) => {
      const work = start(`${key}${n}`, { key })
      work.done.then(
        () => outcomes.push(`${key}${n}`),
        () => outcomes.push(`${key}${n} refused`),
      )
      return work
    })
    const end = async () => {
      for (const { end } of works) end()
      await Promise.allSettled(works.map(({ done }) => done))
      return { begun, refused: outcomes.filter((outcome) => outcome.endsWith('refused')) }
    }
    return end
  }
  const cases: { what: string; names: string; begun: string[]; refused: string[] }[] = [
    {
      what: 'the newest of the longest queue makes room for another key',
      names: 'aaaabc',
      begun: ['a0', 'a1', 'b4', 'c5', 'a2'],
      refused: ['a3 refused'],
    },
    {
      what: 'one more of the longest queue is refused itself',
      names: 'aaabba',
      begun: ['a0', 'a1', 'b3', 'a2', 'b4'],
      refused: ['a5 refused'],
    },
    {
      what: 'one whose own queue would be as long as the longest is refused itself',
      names: 'aaabcb',
      begun: ['a0', 'a1', 'b3', 'c4', 'a2'],
      refused: ['b5 refused'],
    },
    {
      what: 'one of another key is refused when each key has one waiting',
      names: 'abcdef',
      begun: ['a0', 'b1', 'c2', 'd3', 'e4'],
      refused: ['f5 refused'],
    },
    {
      what: 'one key alone has its own maximum',
      names: 'aaaaaa',
      begun: ['a0', 'a1', 'a2', 'a3'],
      refused: ['a4 refused', 'a5 refused'],
    },
  ]
  for (const { what, names, begun, refused } of cases) {
    test(what, async () => {
      assert.deepEqual(await fill(names)(), { begun, refused })
    })
  }
})

test('work that no longer waits leaves its room and its turn to others', async () => {
  const { begun, start } = stage({ limit: 1, totalLimit: 1, maxTotalWaiting: 2 })
  const leaving = new AbortController()
  const a = start('a', { key: 'a' })
  const [left, b] = [start('left', { key: 'b', signal: leaving.signal }), start('b', { key: 'b' })]
  leaving.abort()
  const c = start('c', { key: 'c' })
  for (const work of [a, left]) work.end()
  await assert.rejects(left.done, /refused/)
  await a.done
  const d = start('d', { key: 'd' })
  for (const work of [b, c, d]) work.end()
  await Promise.all([b, c, d].map(({ done }) => done))
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
})
