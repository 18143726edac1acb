import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/wait.ts'
import { startEmbedded } from '../../embedded-postgres/start.ts'
import { newId } from '../../kernel/id.ts'
import { sql } from '../sql.ts'
import { type Database, openDatabase } from '../transaction.ts'
import type { ConnectionLimits } from './connections.ts'

const db = await testDatabase()
const tenant_id = newId()
await db.database.tenant(tenant_id).write([sql`insert into tenant (id, name) values (${tenant_id}, 'somebody')`])

/** A database client for one test, with connection limits of its own. */
function openOwn(limits: ConnectionLimits): Database {
  const database = openDatabase(db.service, limits)
  db.atEnd(() => database.close())
  return database
}

const whoServes = sql<{ pid: number }>`select pg_backend_pid() as pid`

/** Queries until one connection serves many reads at once: the statement is proven quick. */
async function sharedPid(database: Database): Promise<number> {
  return until('a quick statement goes by the shared connection', async () => {
    const reads = Array.from({ length: 20 }, () => database.service.read(whoServes))
    // On separate connections, no more are in flight than there are connections.
    const { busy } = database.load()
    const pids = new Set((await Promise.all(reads)).map(([row]) => row?.pid))
    return busy === reads.length && pids.size === 1 && [...pids][0]
  })
}

/** A promise that the test resolves. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

async function codeOf(outcome: Promise<unknown>): Promise<unknown> {
  return outcome.then(
    () => 'answered',
    (error: { code?: unknown }) => error.code,
  )
}

test('tenants take turns for a connection, however many callers of one wait', async () => {
  const database = openOwn({ writes: 1, long: 1 })
  const order: string[] = []
  const call = (name: string, id: string) =>
    database
      .tenant(id)
      .write([sql`select 1`])
      .then(() => order.push(name))
  const many = Array.from({ length: 10 }, () => call('many', tenant_id))
  await Promise.all([...many, call('one', newId()), call('another', newId())])
  // After the work that runs, and one work of each other tenant.
  assert.deepEqual(order.slice(0, 4).sort(), ['another', 'many', 'many', 'one'])
  assert.equal(order.length, 12)
})

test('no connection is made before the first statement', () => {
  assert.deepEqual(openOwn({ writes: 4, long: 3 }).load(), {
    open: 0,
    busy: 0,
    waiting: 0,
    waited: 0,
    waited_ms: 0,
  })
})

test('quick reads of many callers share one connection', async () => {
  const database = openOwn({ writes: 4, long: 3 })
  const pid = await sharedPid(database)
  const { open, busy, waiting } = database.load()
  assert.ok(open >= 2 && open <= 8, `${open} are open`)
  assert.deepEqual([busy, waiting], [0, 0])
  const [row] = await db.asSuperuser<{ here: boolean }>('select true as here from pg_stat_activity where pid = $1', [
    pid,
  ])
  assert.equal(row?.here, true)
})

test('a statement that is slow or not proven quick does not hold up a quick one', async () => {
  const database = openOwn({ writes: 4, long: 3 })
  const pid = await sharedPid(database)
  await db.asSuperuser('select pg_advisory_lock(78)')
  const slow = codeOf(database.service.read(sql`select pg_advisory_xact_lock_shared(78)`))
  const [row] = await database.service.read(whoServes)
  assert.equal(row?.pid, pid)
  assert.equal(database.load().busy, 1)
  await db.asSuperuser('select pg_advisory_unlock(78)')
  assert.ok(['answered', 'unavailable'].includes(String(await slow)))
})

test('a statement that becomes slow leaves the shared connection, and returns when it is quick again', async () => {
  const database = openOwn({ writes: 1, long: 2 })
  await db.asSuperuser('create table pause (seconds float8)')
  await db.asSuperuser('insert into pause values (0)')
  await db.asSuperuser('grant select on pause to sallyport_app')
  const nap = sql<{ pid: number }>`select pg_backend_pid() as pid from pause where pg_sleep(seconds) is not null`
  const goesBy = async () => {
    for (let uses = 0; uses < 15; uses++) await database.service.read(nap)
    return (await database.service.read(nap))[0]?.pid
  }
  const pid = await sharedPid(database)
  await until('it is proven quick', async () => (await goesBy()) === pid)
  await db.asSuperuser('update pause set seconds = 0.02')
  await until('it has left', async () => (await goesBy()) !== pid)
  await db.asSuperuser('update pause set seconds = 0')
  await until('it is back', async () => (await goesBy()) === pid)
})

test('slow transactions leave connections for writes', async () => {
  const database = openOwn({ writes: 1, long: 2 })
  const tx = database.tenant(tenant_id)
  const { opened, open } = gate()
  const slow = Array.from({ length: 5 }, () =>
    tx.interactive(async (inside) => {
      await inside.read(sql`select id from tenant`)
      await opened
    }),
  )
  await until('two of them are under way', async () => database.load().busy === 2)
  await tx.write([sql`update tenant set name = name where id = ${tenant_id}`])
  const { busy, waiting } = database.load()
  assert.deepEqual([busy, waiting], [2, 3])
  open()
  await Promise.all(slow)
  const load = database.load()
  assert.deepEqual([load.busy, load.waiting], [0, 0])
  assert.ok(load.waited >= 3 && load.waited_ms > 0)
})

test('writes that wait for a lock leave connections for transactions and slow reads', async () => {
  const database = openOwn({ writes: 1, long: 1 })
  const tx = database.tenant(tenant_id)
  const { opened, open } = gate()
  const locking = db.database.tenant(tenant_id).interactive(async (inside) => {
    await inside.read(sql`select id from tenant where id = ${tenant_id} for update`)
    await opened
  })
  await until('the row is locked', async () => db.database.load().busy === 1)
  const writing = codeOf(tx.write([sql`update tenant set name = name where id = ${tenant_id}`]))
  await until('the write waits', async () => database.load().busy === 1)
  assert.deepEqual(await tx.read(sql`select name from tenant`), [{ name: 'somebody' }])
  assert.equal(await tx.interactive((inside) => inside.read(sql`select 1 as one`)).then((rows) => rows.length), 1)
  open()
  await locking
  // It was answered, or the lock took longer than a statement may wait.
  assert.ok(['answered', 'unavailable'].includes(String(await writing)))
})

test('a caller that waits 5 s for a free connection gets `unavailable`', async () => {
  const database = openOwn({ writes: 1, long: 1 })
  const tx = database.tenant(tenant_id)
  const { opened, open } = gate()
  const holding = codeOf(
    tx.interactive(async (inside) => {
      await inside.read(sql`select 1 as one`)
      await opened
    }),
  )
  await until('the one connection is held', async () => database.load().busy === 1)
  assert.equal(await codeOf(tx.interactive((inside) => inside.read(sql`select 1 as one`))), 'unavailable')
  open()
  assert.equal(await holding, 'answered')
})

test('an interactive transaction cannot be used once it is over', async () => {
  let kept: { read(statement: typeof whoServes): Promise<unknown> } | undefined
  await db.database.tenant(tenant_id).interactive(async (inside) => {
    kept = inside
    await inside.read(whoServes)
  })
  await assert.rejects(async () => kept?.read(whoServes), /the transaction is over/)
})

test('an interactive transaction that ignores a failed statement is rejected, not committed', async () => {
  const tx = db.database.tenant(tenant_id)
  const attempt = tx.interactive(async (inside) => {
    await inside.write([sql`update tenant set name = 'overlooked' where id = ${tenant_id}`])
    await inside.read(sql`select 1 / 0`).catch(() => undefined)
  })
  await assert.rejects(attempt, /a statement of the transaction failed/)
  assert.deepEqual(await tx.read(sql`select name from tenant`), [{ name: 'somebody' }])
})

test('a connection that was left inside a transaction is not used again', async () => {
  const database = openOwn({ writes: 1, long: 1 })
  const [[left]] = await database.service.write([whoServes, sql`begin`])
  const [[next]] = await database.service.write([whoServes])
  assert.notEqual(next?.pid, left?.pid)
})

test('calls on connections that the server ends fail with `unavailable`, and later calls get new connections', async () => {
  // Each time with a new client, so that some connections end while they are being opened.
  for (let time = 0; time < 4; time++) {
    const database = openOwn({ writes: 4, long: 3 })
    const tx = database.tenant(tenant_id)
    const seen = new Set(await Promise.all(await storm(database)))
    for (const code of seen) assert.ok(code === 'answered' || code === 'unavailable', String(code))
    await sharedPid(database)
    assert.deepEqual(await tx.read(sql`select id from tenant`), [{ id: tenant_id }])
    await tx.write([sql`update tenant set name = name where id = ${tenant_id}`])
    const { busy, waiting } = database.load()
    assert.deepEqual([busy, waiting], [0, 0])
    await database.close()
  }
})

/** Many calls of every kind, while every connection is ended repeatedly; returns the outcome of each call. */
async function storm(database: Database): Promise<Promise<unknown>[]> {
  const tx = database.tenant(tenant_id)
  const calls: Promise<unknown>[] = []
  for (let round = 0; round < 5; round++) {
    for (let index = 0; index < 40; index++) {
      calls.push(codeOf(database.service.read(whoServes)))
      calls.push(codeOf(tx.write([sql`update tenant set name = name where id = ${tenant_id}`])))
      calls.push(codeOf(tx.interactive((inside) => inside.read(sql`select id from tenant`))))
    }
    await db.asSuperuser(
      `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'sallyport_app' and application_name = 'sallyport'`,
    )
  }
  return calls
}

test('the client reconnects by itself to a server that stops and starts again', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-connections-'))
  after(() => rm(dataDir, { recursive: true, force: true }))
  const start = () => startEmbedded({ dataDir, log: () => undefined, onCrash: () => undefined })
  const first = await start()
  const { host, port, superuser: user, password } = first
  const database = openDatabase(
    { host, port, user, database: 'postgres', ...(password && { password }) },
    { writes: 1, long: 2 },
  )
  try {
    await sharedPid(database)
    await first.stop()
    assert.equal(await codeOf(database.service.read(whoServes)), 'unavailable')
    assert.equal(await codeOf(database.service.write([whoServes])), 'unavailable')
    const second = await start()
    try {
      await sharedPid(database)
      await database.service.write([whoServes])
    } finally {
      await database.close()
      await second.stop()
    }
  } finally {
    await database.close()
  }
})

test('a closed client answers `unavailable`', async () => {
  const database = openOwn({ writes: 1, long: 2 })
  await sharedPid(database)
  await database.close()
  assert.equal(await codeOf(database.service.read(whoServes)), 'unavailable')
  assert.equal(await codeOf(database.service.write([whoServes])), 'unavailable')
  assert.equal(database.load().open, 0)
})
