import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { bareDatabase, everything, tablesOf, useOwnServer } from '../../test/support/backup-database.ts'
import { seedService, seedTenant } from '../../test/support/backup-seed.ts'
import { type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { urlOf } from '../../test/support/sallyport.ts'
import { skipPostgres15, startPostgres15 } from '../../test/support/system-postgres.ts'
import { readConfig } from '../config/config.ts'
import { type ConnectionTarget, connectAlone } from '../db/client/connect.ts'
import { listMigrations, migrate } from '../db/migrate.ts'
import { appRole } from '../db/roles.ts'
import { sql } from '../db/sql.ts'
import { openForOperator } from '../embedded-postgres/open-database.ts'
import { writeBackup } from './backup.ts'
import { readBackupFile } from './backup-file.ts'
import { restoreBackup } from './restore.ts'

const stopServer = await useOwnServer()
const source = await testDatabase()
after(stopServer)
const [acme, beta] = [await seedTenant(source, 'Acme'), await seedTenant(source, 'Beta')]
await seedService(source)

const folder = await mkdtemp(join(tmpdir(), 'sallyport-backup-'))
after(() => rm(folder, { recursive: true }))
let files = 0
const newFile = () => join(folder, `${++files}.backup`)
const backUp = async (db = source) => {
  const file = newFile()
  await writeBackup(db.service, file)
  return file
}

/** Runs queries as superuser on another server. */
async function asking<Result>(target: ConnectionTarget, work: (query: TestDatabase['asSuperuser']) => Promise<Result>) {
  const client = await connectAlone(target)
  try {
    return await work(
      async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
        (await client.query<Row>(text, values)).rows,
    )
  } finally {
    await client.end()
  }
}

test('a backup restored into an empty database gives the same rows', async () => {
  const file = await backUp()
  const target = await testDatabase()
  const counts = await restoreBackup(target, file)
  assert.equal(counts.tenants, 2)
  assert.deepEqual(await everything(target), await everything(source))
})

test('leases are not restored: due rows can be claimed at once', async () => {
  const target = await testDatabase()
  await restoreBackup(target, await backUp())
  const leases = await target.asSuperuser(`select id from access_request where lease_until is not null
    union all select id from entitlement where lease_until is not null`)
  assert.deepEqual(leases, [])
  const due = await target.database.work.read(sql`select id from entitlement where next_look_at <= clock_timestamp()
    and lease_until is null`)
  assert.equal(due.length, 2)
})

test('after a restore each tenant sees only its own rows', async () => {
  const target = await testDatabase()
  await restoreBackup(target, await backUp())
  for (const { tenant_id, request_id } of [acme, beta]) {
    const rows = await target.database.tenant(tenant_id).read(sql`select id from access_request`)
    assert.deepEqual(rows, [{ id: request_id }])
  }
})

test('a restore brings back no session: those that ended since the backup would live again', async () => {
  const leftOut = async (db: TestDatabase) => {
    const [counts] = await db.asSuperuser<{ sessions: number; logout_tokens: number }>(`select
      (select count(*)::int from user_session) as sessions, (select count(*)::int from logout_token) as logout_tokens`)
    return counts
  }
  assert.deepEqual(await leftOut(source), { sessions: 2, logout_tokens: 1 })
  const target = await testDatabase()
  const file = await backUp()
  await restoreBackup(target, file)
  assert.deepEqual(await leftOut(target), { sessions: 0, logout_tokens: 0 })
  for await (const part of readBackupFile(file)) {
    assert.ok(part.kind !== 'rows' || !/session|logout/.test(part.table), 'they are in no backup either')
  }
})

test('the service role can read and write each table of a backup', async () => {
  for (const { name } of await tablesOf(source.owner)) {
    const [may] = await source.asSuperuser(
      `select has_table_privilege('${appRole}', $1, 'select') as read,
        has_table_privilege('${appRole}', $1, 'insert') as write`,
      [name],
    )
    assert.deepEqual(may, { read: true, write: true }, `\`${name}\`: grant select and insert to ${appRole}`)
  }
})

test('many rows are written in batches of limited size', async () => {
  const db = await testDatabase()
  const { tenant_id } = await seedTenant(db, 'Acme')
  await db.asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, data, request_id)
      select $1, gen_random_uuid(), 'request.created', 'system', 'request', n::text,
        jsonb_build_object('text', repeat('x', case when n > 5000 then 40000 else 10 end)), 'r'
      from generate_series(1, 5300) n`,
    [tenant_id],
  )
  const file = await backUp(db)
  const batches: { rows: number; length: number }[] = []
  for await (const part of readBackupFile(file)) {
    if (part.kind === 'rows') batches.push({ rows: part.rows, length: part.lines.join('').length })
  }
  assert.ok(
    batches.every(({ rows, length }) => rows <= 2_000 && length < 20_000_000),
    JSON.stringify(batches),
  )
  assert.ok(batches.length > 20)
  const target = await testDatabase()
  await restoreBackup(target, file)
  assert.deepEqual(await everything(target), await everything(db))
})

suite('a restore is refused', () => {
  test('if the database has tenants', async () => {
    const target = await testDatabase()
    await seedTenant(target, 'Their own')
    const before = await everything(target)
    await assert.rejects(restoreBackup(target, await backUp()), /the database has tenants: restore into a new database/)
    assert.deepEqual(await everything(target), before)
  })

  test('while another is under way', async () => {
    const [target, file] = [await testDatabase(), await backUp()]
    const second: Promise<unknown>[] = []
    await restoreBackup(target, file, {
      onRows: async () => {
        if (second.length > 0) return
        second.push(assert.rejects(restoreBackup(target, file), /another restore into this database is under way/))
        await second[0]
      },
    })
    assert.equal(second.length, 1)
    assert.deepEqual(await everything(target), await everything(source))
  })

  test('if the service was started on the database before', async () => {
    const target = await testDatabase()
    await seedService(target)
    await assert.rejects(restoreBackup(target, await backUp()), /the database has rows in `root_key`/)
  })

  test('if the database has later migrations than the backup', async () => {
    const db = await bareDatabase()
    await migrate(db.owner, '0002_events')
    await db.asSuperuser(`insert into tenant (id, name) values (gen_random_uuid(), 'Old')`)
    const file = await backUp(db)
    await assert.rejects(restoreBackup(await testDatabase(), file), /the database already has `0003_identity`/)
  })

  test('if the file was cut, before anything is changed', async () => {
    const file = await backUp()
    await truncate(file, (await stat(file)).size - 20)
    const target = await bareDatabase()
    await assert.rejects(restoreBackup(target, file), /is damaged: it ends too early; use another copy/)
    assert.deepEqual(await target.asSuperuser(`select to_regclass('tenant')`), [{ to_regclass: null }])
  })
})

test('a backup of an older schema is restored into that schema, and then migrated', async () => {
  const old = await bareDatabase()
  await migrate(old.owner, '0007_sandbox')
  const { tenant_id, request_id } = await seedTenant(old, 'Acme')
  const target = await bareDatabase()
  await restoreBackup(target, await backUp(old))
  const done = await target.asSuperuser('select name from migration order by name')
  assert.deepEqual(
    done.map(({ name }) => name),
    (await listMigrations()).map(({ name }) => name),
  )
  assert.deepEqual(await target.database.tenant(tenant_id).read(sql`select id from access_request`), [
    { id: request_id },
  ])
})

test('a restore of an older schema that ends midway leaves a database on which nothing starts', async () => {
  const old = await bareDatabase()
  await migrate(old.owner, '0007_sandbox')
  await seedTenant(old, 'Acme')
  const file = await backUp(old)
  const target = await bareDatabase()
  // A migration after the rows are there fails, as if the restore was killed before it.
  await target.asSuperuser('create function clock_back_ms() returns int language sql return 0')
  await assert.rejects(restoreBackup(target, file), /clock_back_ms/)
  await target.asSuperuser('drop function clock_back_ms()')
  const env = { DATABASE_URL: urlOf(target.service), DATABASE_OWNER_URL: urlOf(target.owner) }
  const opening = openForOperator(readConfig(env), () => undefined)
  await assert.rejects(opening, /a restore into this database did not end/)
})

test('a backup or a restore that is stopped midway leaves nothing behind', async () => {
  const stopping = new AbortController()
  const work = { onRows: () => stopping.abort(new Error('stopped')), signal: stopping.signal }
  const file = newFile()
  const before = await readdir(folder)
  await assert.rejects(writeBackup(source.service, file, work), /stopped/)
  assert.deepEqual(await readdir(folder), before)
  const target = await testDatabase()
  const whole = await backUp()
  const later = new AbortController()
  const interrupted = { onRows: () => later.abort(new Error('stopped')), signal: later.signal }
  await assert.rejects(restoreBackup(target, whole, interrupted), /stopped/)
  const rows = Object.values(await everything(target)).flat()
  assert.deepEqual(rows, [])
  await restoreBackup(target, whole)
})

test('a database without tenants is not backed up', async () => {
  const file = newFile()
  await assert.rejects(writeBackup((await testDatabase()).service, file), /no tenant, so there is nothing to back up/)
  await assert.rejects(stat(file), /ENOENT/)
})

test('goes from PostgreSQL 18 to 15 and back', { skip: skipPostgres15 }, async () => {
  const fifteen = await startPostgres15()
  try {
    await restoreBackup(fifteen, await backUp())
    const here = await asking(fifteen.superuser, (asSuperuser) => everything({ owner: fifteen.owner, asSuperuser }))
    assert.deepEqual(here, await everything(source))
    const file = newFile()
    await writeBackup(fifteen.service, file)
    const back = await testDatabase()
    await restoreBackup(back, file)
    assert.deepEqual(await everything(back), await everything(source))
  } finally {
    await fifteen.stop()
  }
})
