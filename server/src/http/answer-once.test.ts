import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Type } from 'typebox'
import { testDatabase } from '../../test/support/database.ts'
import { sliceServer } from '../../test/support/slice-server.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { operation } from './operation.ts'

/** An operation that does the steps of the body, which use the database client in different ways. */
const db = await testDatabase()

/** For each of the steps `wait` and `rest`: it was reached, and it can go on. */
const [waiting, mayGoOn, resting, mayWake] = Array.from({ length: 4 }, () => Promise.withResolvers<void>()) as [
  PromiseWithResolvers<void>,
  PromiseWithResolvers<void>,
  PromiseWithResolvers<void>,
  PromiseWithResolvers<void>,
]

const put = (tx: Tx, key: string) =>
  tx.write([sql`insert into setting (tenant_id, key, value) values (${tx.tenant_id}, ${key}, '')`])

const steps: Record<string, (tx: Tx, key: string) => Promise<unknown>> = {
  put,
  putTwice: async (tx, key) =>
    tx
      .write(
        [...Array(2)].map(
          () => sql`insert into setting (tenant_id, key, value)
    values (${tx.tenant_id}, ${key}, '')`,
        ),
      )
      .catch(() => undefined),
  putAndTakeBack: (tx, key) =>
    tx
      .interactive(async (inside) => {
        await put(inside, key)
        throw new Error('taken back')
      })
      .catch(() => undefined),
  putInside: (tx, key) => tx.interactive((inside) => put(inside, key)),
  misread: (tx) => tx.read(sql`select 1 / 0`).catch(() => undefined),
  wait: async () => {
    waiting.resolve()
    await mayGoOn.promise
  },
  rest: async () => {
    resting.resolve()
    await mayWake.promise
  },
  refuse: async () => {
    throw new Problem('unprocessable', 'it may not be', { details: { why: 'because' }, notices: ['a notice'] })
  },
  ask_again: async () => {
    throw new Problem('version_conflict', 'try again')
  },
  break: async () => {
    throw new Error('a fault')
  },
  lose: async () => {
    throw new Problem('unavailable', 'the database is gone')
  },
}

const doSteps = operation({
  method: 'POST',
  path: '/v1/steps/{id}',
  summary: 'Do the steps',
  credential: 'any',
  scope: null,
  params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
  body: Type.Object({ steps: Type.Array(Type.Array(Type.String())), more: Type.Optional(Type.Unknown()) }),
  replies: { 201: Type.Object({ token: Type.String() }) },
  errors: ['unprocessable', 'version_conflict'],
  etag: ({ token }) => `"${token}"`,
  async run(ctx, { body }) {
    for (const [name = '', key = ''] of body.steps) await steps[name]?.(ctx.tx, key)
    return { token: newId(), hidden: 'what the schema does not show' }
  },
})

const call = await sliceServer(db.database, { doSteps })
const id = newId()

async function stage() {
  const tenant_id = newId()
  await db.database.tenant(tenant_id).write([sql`insert into tenant (id, name) values (${tenant_id}, 'somebody')`])
  const caller = { tenant_id, user_id: newId() }
  return {
    caller,
    /** Does the steps, each written `name` or `name key`. */
    do: (words: string[], key: string, more: { at?: string; as?: typeof caller; body?: object } = {}) =>
      call(
        more.as ?? caller,
        'POST',
        `/v1/steps/${more.at ?? id}`,
        { steps: words.map((step) => step.split(' ')), ...more.body },
        { 'idempotency-key': key },
      ),
    held: async () => {
      const rows = await db.asSuperuser<{ key: string }>('select key from setting where tenant_id = $1 order by key', [
        tenant_id,
      ])
      return rows.map(({ key }) => key)
    },
    kept: () =>
      db.asSuperuser<{ sealed_answer: string }>('select sealed_answer from kept_answer where tenant_id = $1', [
        tenant_id,
      ]),
  }
}

suite('with an Idempotency-Key (R12)', () => {
  test('a call runs once, and its answer is returned again', async () => {
    const { do: act, held, kept } = await stage()
    const first = await act(['put a', 'putInside b'], 'k')
    assert.deepEqual([first.status, Object.keys(first.body)], [201, ['token']])
    assert.deepEqual(await act(['put a', 'putInside b'], 'k'), first)
    assert.deepEqual(await held(), ['a', 'b'])
    const [row] = await kept()
    assert.ok(row !== undefined && !row.sealed_answer.includes(String(first.body.token)), 'the answer is sealed')
  })

  test('a failed step is rolled back alone, as without a key', async () => {
    const { do: act, held } = await stage()
    const words = ['put a', 'putTwice b', 'misread', 'putAndTakeBack c', 'putInside d', 'put e']
    const done = await act(words, 'k')
    assert.equal(done.status, 201, JSON.stringify(done.body))
    assert.deepEqual(await held(), ['a', 'd', 'e'])
  })

  test('a refusal is stored as an answer, and earlier writes stay', async () => {
    const { do: act, held } = await stage()
    const refused = await act(['put a', 'putTwice b', 'refuse'], 'k')
    assert.deepEqual([refused.status, refused.body.details], [422, { why: 'because' }])
    assert.deepEqual(await act(['put a', 'putTwice b', 'refuse'], 'k'), refused)
    assert.deepEqual(await held(), ['a'])
  })

  test('a retryable conflict is not stored as an answer, and earlier writes stay', async () => {
    const { do: act, held, kept } = await stage()
    assert.equal((await act(['put a', 'ask_again'], 'k')).status, 409)
    assert.deepEqual([await held(), await kept()], [['a'], []])
    assert.equal((await act(['put b'], 'k')).status, 201)
  })

  test('a fault rolls everything back, and the key can be used again', async () => {
    const { do: act, held, kept } = await stage()
    for (const [fault, status] of [
      ['break', 500],
      ['lose', 503],
    ] as const) {
      assert.equal((await act(['put a', fault], 'k')).status, status)
      assert.deepEqual([await held(), await kept()], [[], []])
    }
    assert.equal((await act(['put a'], 'k')).status, 201)
  })

  test('a body with its fields in another order is the same; any other body is 422', async () => {
    const { do: act, held } = await stage()
    const first = await act(['put a'], 'k', { body: { more: { x: [1, { y: 2, z: 3 }], w: null } } })
    assert.deepEqual(await act(['put a'], 'k', { body: { more: { w: null, x: [1, { z: 3, y: 2 }] } } }), first)
    for (const body of [{}, { more: { x: [{ y: 2, z: 3 }, 1], w: null } }, { more: { x: [1, { y: 2, z: 3 }] } }]) {
      const reused = await act(['put a'], 'k', { body })
      assert.deepEqual([reused.status, reused.body.code], [422, 'idempotency_key_reused'])
    }
    assert.deepEqual(await held(), ['a'])
  })

  test('a key is bound to one credential and one record, in any spelling of the id', async () => {
    const { do: act, caller, held } = await stage()
    const first = await act(['put a'], 'k')
    assert.deepEqual(await act(['put a'], 'k', { at: id.toUpperCase() }), first)
    await act(['put b'], 'k', { at: newId() })
    await act(['put c'], 'k', { as: { ...caller, user_id: newId() } })
    await act(['put d'], 'k', { as: { ...caller, kind: 'api_key' } as typeof caller })
    await act(['put e'], 'K')
    assert.deepEqual(await held(), ['a', 'b', 'c', 'd', 'e'])
  })

  test('a second call gets `idempotency_in_progress` at once while the first is running', async () => {
    const { do: act, held } = await stage()
    const first = act(['put a', 'wait'], 'k')
    await waiting.promise
    const second = await act(['put a', 'wait'], 'k')
    const meanwhile = await held()
    mayGoOn.resolve()
    assert.deepEqual([second.status, second.body.code, meanwhile], [409, 'idempotency_in_progress', []])
    assert.equal((await first).status, 201)
    assert.deepEqual(await act(['put a', 'wait'], 'k'), await first)
    assert.deepEqual(await held(), ['a'])
  })

  test('one of twenty concurrent calls runs; the others get its answer or `idempotency_in_progress`', async () => {
    for (const round of Array(10).keys()) {
      const { do: act, held } = await stage()
      const all = await Promise.all(Array.from({ length: 20 }, () => act(['put a'], `round-${round}`)))
      const done = all.filter(({ status }) => status === 201)
      assert.ok(done.length > 0)
      assert.equal(new Set(done.map(({ body }) => body.token)).size, 1)
      const others = all.filter(({ status }) => status !== 201).map(({ body }) => body.code)
      assert.deepEqual(new Set(others), new Set(others.length > 0 ? ['idempotency_in_progress'] : []))
      assert.deepEqual(await held(), ['a'])
    }
  })

  test('a key is new after a day, and expired answers are deleted', async () => {
    const { do: act, caller, held, kept } = await stage()
    for (const key of ['a', 'b', 'c']) await act([`put ${key}`], key)
    await db.asSuperuser(`update kept_answer set expires_at = expires_at - interval '1 day' where tenant_id = $1`, [
      caller.tenant_id,
    ])
    assert.equal((await act(['put d'], 'a')).status, 201)
    assert.deepEqual([await held(), (await kept()).length], [['a', 'b', 'c', 'd'], 1])
  })

  test('slow calls of one tenant do not hold up another tenant', async () => {
    const [one, other] = [await stage(), await stage()]
    const slow = Array.from({ length: 8 }, (_, index) => one.do(['rest', `put ${index}`], `k${index}`))
    await resting.promise
    assert.equal((await other.do(['put a', 'putInside b'], 'k')).status, 201)
    mayWake.resolve()
    // On a busy machine some calls can have timed out: they wrote nothing.
    const done = (await Promise.all(slow)).filter(({ status }) => status === 201)
    assert.ok(done.length >= 2)
    assert.equal((await one.held()).length, done.length)
  })

  for (const [name, key] of [
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['with a space', 'a key'],
    ['with another letter', 'clé'],
    ['sent twice', 'one, two'],
  ] as const) {
    test(`a key that is ${name} is refused`, async () => {
      const { do: act, held } = await stage()
      const reply = await act(['put a'], key)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      assert.deepEqual(await held(), [])
    })
  }

  test('a key can have any visible ASCII character, and 255 of them', async () => {
    const { do: act, held } = await stage()
    const every = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')
    assert.equal((await act(['put a'], every)).status, 201)
    assert.equal((await act(['put b'], 'k'.repeat(255))).status, 201)
    assert.deepEqual(await held(), ['a', 'b'])
  })
})
