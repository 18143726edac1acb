import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import type { WorkItem } from './claim.ts'
import { type DueWork, startDueWork } from './work-list.ts'

const db = await testDatabase()
const tenant_id = newId()
const user_id = newId()
const tx = db.database.tenant(tenant_id)
await tx.write([
  sql`insert into tenant (id, name) values (${tenant_id}, 'work')`,
  sql`insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
    values (${tenant_id}, ${user_id}, 'ada@example.com', 'ada@example.com', 'Ada', 'local')`,
])

const loops: { stop(): Promise<void> }[] = []
db.atEnd(() => Promise.all(loops.map((loop) => loop.stop())))

/** A pending request that is due so many seconds from now. */
async function due(inSeconds: number): Promise<string> {
  const id = newId()
  await tx.write([
    sql`insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
        approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip,
        next_look_at)
      values (${tenant_id}, ${id}, ${user_id}, 'cloud_account', '1', 'ReadOnly', 'pending', 'require', false, 600, '{}',
        false, '[]', 'token', '127.0.0.1', clock_timestamp() + make_interval(secs => ${inSeconds}))`,
  ])
  return id
}

/** Work that records what it did, and ends the request as the real job does. */
function worker(run?: (item: WorkItem) => Promise<void>) {
  const done: string[] = []
  const failures: string[] = []
  const work: DueWork = {
    table: 'access_request',
    async run(ctx, item) {
      await run?.(item)
      const [rows] = await ctx.tx.write([
        sql`update access_request set status = 'expired', next_look_at = null
          where tenant_id = ${item.tenant_id} and id = ${item.id} and generation = ${item.generation}::bigint
            and next_look_at <= clock_timestamp() returning id`,
      ])
      if (rows.length > 0) done.push(item.id)
    },
  }
  const fault = (error: unknown) => assert.fail(String(error))
  const loop = startDueWork({ takes: db.database, others: db.database }, [work], 4, fault, (_table, item) =>
    failures.push(item.id),
  )
  loops.push(loop)
  return { done, failures, loop }
}

test('a row that the work of another makes due does not wait for the next run: a chain of thirty', async () => {
  const chain = 30
  const links = [await due(0)]
  const one = worker(async ({ id }) => {
    if (id === links.at(-1) && links.length < chain) links.push(await due(0))
  })
  // With one run a second, it would take half a minute.
  await until('the last is done', async () => one.done.length === chain, 15_000)
  assert.deepEqual(one.done, links)
  await one.loop.stop()
})

test('two processes do each due row once', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => due(0)))
  const [one, two] = [worker(), worker()]
  await until('all of it is done', async () => one.done.length + two.done.length === ids.length)
  assert.deepEqual([...one.done, ...two.done].sort(), ids.sort())
  await Promise.all([one.loop.stop(), two.loop.stop()])
})

test('a row is done when it becomes due, without `wake`', async () => {
  const id = await due(0.4)
  const one = worker()
  await until('done', async () => one.done.includes(id))
  await one.loop.stop()
})

test('a row that another process holds is left alone until its lease ends, then claimed under a new generation', async () => {
  const id = await due(0)
  await db.asSuperuser(
    `update access_request set lease_until = clock_timestamp() + interval '1 hour', generation = 7 where id = $1`,
    [id],
  )
  const one = worker()
  const other = await due(0)
  await until('the other is done', async () => one.done.includes(other))
  assert.ok(!one.done.includes(id))
  await db.asSuperuser('update access_request set lease_until = clock_timestamp() where id = $1', [id])
  await until('taken over', async () => one.done.includes(id))
  const [row] = await db.asSuperuser<{ generation: string }>(
    'select generation::text from access_request where id = $1',
    [id],
  )
  assert.equal(row?.generation, '8')
  await one.loop.stop()
})

test('a row whose work fails is released for a retry, and holds up no other', async () => {
  const broken = await due(0)
  let fail = true
  const one = worker(async (item) => {
    if (item.id === broken && fail) throw new Error('broken')
  })
  const sound = await due(0)
  await until('the sound one is done', async () => one.done.includes(sound))
  await until('the failure is reported', async () => one.failures.includes(broken))
  fail = false
  await db.asSuperuser(
    'update access_request set next_look_at = clock_timestamp() where id = $1 and lease_until is null',
    [broken],
  )
  one.loop.wake()
  await until('tried again', async () => one.done.includes(broken))
  await one.loop.stop()
})

test('a slow row holds up no other', async () => {
  const slow = await due(0)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const one = worker((item) => (item.id === slow ? held : Promise.resolve()))
  const quick = await due(0)
  await until('the quick one is done', async () => one.done.includes(quick))
  assert.ok(!one.done.includes(slow))
  release()
  await until('the slow one too', async () => one.done.includes(slow))
  await one.loop.stop()
})

test('a list where nothing is found rests for 50 ms, unless people wait for it', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const claimed = { access_request: 0, reminder: 0 }
  const work = {
    ...db.database.work,
    write: ((statements) => {
      for (const { text } of statements)
        for (const table of ['access_request', 'reminder'] as const)
          if (text.includes(`from ${table} where`)) claimed[table] += 1
      return db.database.work.write(statements)
    }) as typeof db.database.work.write,
  }
  const run = async () => undefined
  const fault = (error: unknown) => assert.fail(String(error))
  const works: DueWork[] = [
    { table: 'access_request', isPrompt: true, run },
    { table: 'reminder', run },
  ]
  const database = { ...db.database, work }
  const loop = startDueWork({ takes: database, others: database }, works, 4, fault, fault)
  const claimAgain = async () => {
    const before = claimed.access_request
    await until('the list for which people wait is claimed again', async () => {
      loop.wake()
      return claimed.access_request > before
    })
  }
  await until('both are claimed at the start', async () => claimed.reminder > 0)
  nowMs += 1_000
  await claimAgain()
  const atRest = claimed.reminder
  for (let times = 0; times < 5; times += 1) await claimAgain()
  assert.equal(claimed.reminder, atRest)
  nowMs += 50
  await claimAgain()
  await until('the list is claimed after its rest', async () => claimed.reminder > atRest)
  t.mock.restoreAll()
  await loop.stop()
})

test('a list that rests does not keep an idle loop running', async () => {
  let claims = 0
  const work = {
    ...db.database.work,
    write: ((statements) => {
      if (statements.some(({ text }) => text.includes('from reminder where'))) claims += 1
      return db.database.work.write(statements)
    }) as typeof db.database.work.write,
  }
  const fault = (error: unknown) => assert.fail(String(error))
  const works: DueWork[] = [{ table: 'reminder', run: async () => undefined }]
  const database = { ...db.database, work }
  const began = performance.now()
  const loop = startDueWork({ takes: database, others: database }, works, 4, fault, fault)
  await until('it has been claimed three times', async () => claims >= 3)
  // Once at the start, and then once a second. A slow machine takes longer.
  assert.ok(performance.now() - began > 1_500, `${claims} claims in ${performance.now() - began} ms`)
  await loop.stop()
})
