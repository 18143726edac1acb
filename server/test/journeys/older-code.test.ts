import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { listMigrations } from '../../src/db/migrate.ts'
import { readRunningEmbedded } from '../../src/embedded-postgres/start.ts'
import { dataFolder } from '../support/data-folder.ts'
import { testDatabase } from '../support/database.ts'
import { startOn, startOnEmbedded, startScript, urlOf } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** This version stands for the older one: the database has a migration of a later version. */
const later = '9998_later'
const sentence =
  /the database was migrated by a newer version of Sallyport: it holds 9998_later, which this version does not know\. Start/
const insert = `insert into migration (name, checksum, oldest_code) values ('${later}', 'x', $1)`
const newest = (await listMigrations()).at(-1)?.name.slice(0, 4)

async function assertRefused(name: Parameters<typeof startScript>[0], args: string[], env: Record<string, string>) {
  const command = startScript(name, args, env)
  const started = async () => command.exitCode() !== undefined || command.output().includes('Sallyport is ready')
  await until('it ends, or serves', started)
  assert.equal(command.exitCode(), 1, command.output())
  assert.match(command.output(), sentence, name)
  assert.doesNotMatch(command.output(), /\n +at /)
}

const db = await testDatabase()
const databases = { DATABASE_URL: urlOf(db.service), DATABASE_OWNER_URL: urlOf(db.owner) }

test('older code refuses a newer schema: its service, with and without the owner, and its commands', async () => {
  await db.asSuperuser(insert, [null])
  const DATA_DIR = await dataFolder()
  const file = join(DATA_DIR, 'file.backup')
  await assertRefused('start', [], { ...databases, DATA_DIR, PORT: '65535' })
  await assertRefused('start', [], { DATABASE_URL: databases.DATABASE_URL, DATA_DIR, PORT: '65535' })
  await assertRefused('admin', ['tenant', 'list'], { ...databases, DATA_DIR })
  await assertRefused('backup', [file], { ...databases, DATA_DIR })
  assert.equal(existsSync(file), false)
})

test('it starts where the schema says that it may, and knows what must be known', async () => {
  await db.asSuperuser('update migration set oldest_code = $2 where name = $1', [later, '9997'])
  await assertRefused('start', [], { ...databases, DATA_DIR: await dataFolder(), PORT: '65535' })
  await db.asSuperuser('update migration set oldest_code = $2 where name = $1', [later, newest])
  const sallyport = await startOn(databases, await dataFolder(), {})
  assert.equal(sallyport.exitCode(), undefined)
  assert.equal(await sallyport.stop(), 0)
})

test('a command refuses the running embedded database of a newer version', async () => {
  const data_dir = await dataFolder()
  const sallyport = await startOnEmbedded(data_dir)
  after(sallyport.stop)
  assert.ok(sallyport.said().some((line) => /^made the tables \(\d+ migrations\)$/.test(line)))
  const running = (await readRunningEmbedded(data_dir)) ?? assert.fail('no database is running')
  const { host, port, superuser: user, password } = running
  const client = await connectAlone({ host, port, user, database: 'sallyport', ...(password && { password }) })
  await client.query(insert, [null])
  await client.end()
  await assertRefused('admin', ['tenant', 'list'], { DATA_DIR: data_dir })
  await assertRefused('backup', [join(data_dir, 'file.backup')], { DATA_DIR: data_dir })
})

test('each migration is recorded with what it states about older code', async () => {
  const rows = await db.asSuperuser<{ name: string; oldest_code: string | null }>(
    `select name, oldest_code from migration where name in ('0067_decided_by', '0068_processes') order by name`,
  )
  assert.deepEqual(rows, [
    { name: '0067_decided_by', oldest_code: null },
    { name: '0068_processes', oldest_code: '0067' },
  ])
})
