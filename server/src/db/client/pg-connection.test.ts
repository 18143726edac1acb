import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { failing, note, noteTable, readNote } from '../../../test/support/note-table.ts'
import { until } from '../../../test/support/wait.ts'
import type { Statement } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import { sql } from '../sql.ts'

const { db, connected, run, value } = await noteTable()
const tenants = [newId(), newId(), newId()] as const
const [tenant_id] = tenants
const setTenant = (id: string): Statement => sql`select set_config('app.tenant_id', ${id}, true)`

before(async () => {
  for (const id of tenants) {
    await db.database.tenant(id).write([sql`insert into tenant (id, name) values (${id}, 'somebody')`])
  }
})

test('a batch returns the rows of each of its statements, the first time and every time after', async () => {
  for (let round = 0; round < 3; round++) {
    const answers = await run([setTenant(tenant_id), sql`select id from tenant`, sql`select ${round}::int as round`])
    assert.deepEqual(answers.slice(1), [[{ id: tenant_id }], [{ round }]])
  }
})

test('an error rolls back the earlier statements of its batch', async () => {
  await assert.rejects(run([note('taken back'), failing]), /division by zero/)
  assert.deepEqual(await run([readNote('taken back')]), [[]])
})

test('a constraint that fails at the commit fails the batch', async () => {
  await db.asSuperuser('create table late (id int unique deferrable initially deferred)')
  await db.asSuperuser('grant insert, select on late to sallyport_app')
  await assert.rejects(run([sql`insert into late values (1)`, sql`insert into late values (1)`]), /duplicate key/)
  assert.deepEqual(await run([sql`select id from late`]), [[]])
})

test('an error fails its own batch only, not those before and after it', async () => {
  const outcomes = await Promise.allSettled([
    run([note('before')]),
    run([failing]),
    run([note('behind')]),
    run([sql`select nonsense`]),
    run([readNote('before'), readNote('behind')]),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await run([readNote('before'), readNote('behind')]), [[{ said: 'yes' }], [{ said: 'yes' }]])
})

test('a statement that was in flight twice as its transaction failed is prepared again', async () => {
  const client = await connected()
  const asked = sql`select 'in flight twice' as text`
  await client.run([sql`begin`])
  await Promise.allSettled([[asked], [failing], [asked]].map((batch) => client.run(batch)))
  await client.run([sql`rollback`])
  await client.run([sql`begin`])
  assert.deepEqual(await client.run([asked]), [[{ text: 'in flight twice' }]])
  await client.run([sql`commit`])
})

test('tenants that share one connection never see each other’s rows', async () => {
  const wrong = await Promise.all(
    Array.from({ length: 600 }, async (_, index) => {
      const id = tenants[index % tenants.length] as string
      const batch = run([
        setTenant(id),
        sql<{ id: string }>`select id from tenant`,
        ...(index % 7 === 0 ? [failing] : []),
      ])
      if (index % 7 === 0)
        return batch.then(
          () => 1,
          () => 0,
        )
      const [, rows] = await batch
      return JSON.stringify(rows) === JSON.stringify([{ id }]) ? 0 : 1
    }),
  )
  assert.equal(
    wrong.reduce<number>((sum, one) => sum + one, 0),
    0,
  )
})

test('a tenant and a role apply to their own batch only', async () => {
  const who = sql`select current_user::text as role, current_setting('app.tenant_id', true) as tenant`
  const asWork = sql`select set_config('role', ${'sallyport_work'}, true)`
  const [[, , held], [free], [, , failed], [freed]] = (await Promise.all([
    run([asWork, setTenant(tenant_id), who]),
    run([who]),
    run([asWork, setTenant(tenant_id), who, failing]).catch(() => [[], [], []]),
    run([who]),
  ])) as [unknown[][], unknown[][], unknown[][], unknown[][]]
  assert.deepEqual(held, [{ role: 'sallyport_work', tenant: tenant_id }])
  assert.deepEqual(
    [free, failed, freed],
    [[{ role: 'sallyport_app', tenant: '' }], [], [{ role: 'sallyport_app', tenant: '' }]],
  )
})

test('values arrive as they were sent', async () => {
  const long = 'lang '.repeat(100_000)
  const words = ['a', '"quoted"', 'comma, brace}', null, 'ünïcödé 🗝']
  assert.equal(await value(sql`select ${null}::text is null and ${undefined}::text is null`), true)
  assert.equal(await value(sql`select ${''}::text`), '')
  assert.equal(await value(sql`select ${long}::text`), long)
  assert.deepEqual(await value(sql`select ${words}::text[]`), words)
  assert.deepEqual(await value(sql`select ${[]}::uuid[]`), [])
  assert.deepEqual(await value(sql`select ${[tenant_id]}::uuid[]`), [tenant_id])
  assert.deepEqual(await value(sql`select ${{ words, deep: { none: null } }}::jsonb`), {
    words,
    deep: { none: null },
  })
  assert.equal(await value(sql`select ${9_007_199_254_740_993n}::bigint`), '9007199254740993')
  assert.equal(await value(sql`select ${1.5}::float8`), 1.5)
  assert.equal(await value(sql`select ${false}::boolean`), false)
  const [rows] = await run([sql`select ${Buffer.from([0, 1, 255])}::bytea as bytes, ${'x'}::text as text`])
  assert.deepEqual(rows, [{ bytes: Buffer.from([0, 1, 255]), text: 'x' }])
  assert.equal(
    await value(sql`select ${new Date('2026-03-04T05:06:07.891Z')}::timestamptz`),
    '2026-03-04T05:06:07.891Z',
  )
})

test('a value that cannot be written fails its batch before anything is sent', async () => {
  const circle: Record<string, unknown> = {}
  circle.itself = circle
  const outcomes = await Promise.allSettled([
    run([readNote('before')]),
    run([note('never'), sql`select ${circle}::jsonb`]),
    run([readNote('never')]),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a value that cannot be read fails its batch, and no other', async () => {
  const outcomes = await Promise.allSettled([
    run([sql`select 'infinity'::timestamptz as never`]),
    run([sql`select ${'still'}::text as here`]),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
})

test('a notice from the server does not affect the batch', async () => {
  const noisy = sql`do $$ begin raise notice 'listen'; raise warning 'listen well'; end $$`
  assert.deepEqual(await run([noisy, sql`select ${1}::int as one`]), [[], [{ one: 1 }]])
})

test('an empty statement answers no rows', async () => {
  assert.deepEqual(await run([sql``, sql`select ${2}::int as two`]), [[], [{ two: 2 }]])
})

test('every batch in flight fails when the server process is killed, and none is sent again', async () => {
  const pid = await value(sql`select pg_backend_pid()`)
  await db.asSuperuser('select pg_advisory_lock(77)')
  const under_way = [
    run([note('killed'), sql`select pg_advisory_xact_lock(77)`]),
    run([note('behind the killed')]),
    run([readNote('killed')]),
  ]
  const settled = Promise.allSettled(under_way)
  await until('the batch waits for the lock', async () => {
    const [row] = await db.asSuperuser<{ waits: boolean }>(
      `select wait_event_type = 'Lock' as waits from pg_stat_activity where pid = $1`,
      [pid],
    )
    return row?.waits
  })
  await db.asSuperuser('select pg_terminate_backend($1)', [pid])
  const codes = (await settled).map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'answered'))
  await db.asSuperuser('select pg_advisory_unlock(77)')
  assert.deepEqual(codes, ['57P01', '08006', '08006'])
  assert.equal(connected().isLost, true)
  await assert.rejects(run([readNote('killed')]), /connection to the database is lost/)
  assert.deepEqual(await db.asSuperuser(`select key from note where key like '%killed'`), [])
})

test('a connection without an answer for eight ticks is given up', async () => {
  await db.asSuperuser('select pg_advisory_lock(80)')
  const patient = sql`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`
  const waiting = run([patient, sql`select pg_advisory_xact_lock(80)`])
  for (let ticks = 0; ticks < 8; ticks++) connected().tick()
  assert.equal(connected().inFlight, 1)
  connected().tick()
  await assert.rejects(waiting, { code: '08006', message: /no answer for 8 s/ })
  assert.equal(connected().isLost, true)
  await db.asSuperuser('select pg_advisory_unlock(80)')
})

test('a connection is not given up for ticks between answers, or without a batch', async () => {
  for (let round = 0; round < 20; round++) {
    for (let ticks = 0; ticks < 20; ticks++) connected().tick()
    const result = run([sql`select ${round}::int as number`])
    connected().tick()
    assert.deepEqual(await result, [[{ number: round }]])
  }
})

test('a batch that would copy is refused instead of waiting indefinitely', async () => {
  await assert.rejects(run([sql`copy note from stdin`]), /is lost/)
})
