import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  atEnd,
  isLinux,
  isRoot,
  kill,
  makeFolder,
  query,
  start,
  startElsewhere,
  untilNothingRunsOn,
} from '../../test/support/embedded.ts'
import { readRunningEmbedded } from './start.ts'

test('makes a database at the first start and keeps its rows across the next', async (t) => {
  const dataDir = join(makeFolder(t), 'new/data')
  assert.equal(await readRunningEmbedded(dataDir), undefined)
  const first = await start(t, dataDir)
  assert.equal(first.tookOver, false)
  const settings = `select current_setting('server_encoding'), current_setting('data_checksums'),
    current_setting('fsync'), current_setting('timezone'), current_setting('listen_addresses') = '' as quiet,
    datlocprovider, datlocale
    from pg_database where datname = 'postgres'`
  assert.equal(await query(first, settings), 'UTF8 on on UTC true b C.UTF-8')
  await query(first, `create table kept as select 'here' as word`)
  const found = await readRunningEmbedded(dataDir)
  assert.deepEqual(found, { host: first.host, port: first.port, superuser: 'postgres', password: undefined })
  await first.stop()
  assert.equal(await readRunningEmbedded(dataDir), undefined)

  const second = await start(t, dataDir)
  assert.equal(second.tookOver, false)
  assert.equal(await query(second, 'select word from kept'), 'here')
})

test('keeps the data and the socket to the user that PostgreSQL runs as', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const postgres = await start(t, dataDir)
  const modes = [dataDir, join(dataDir, 'postgres'), postgres.host].map((path) =>
    (statSync(path).mode & 0o777).toString(8),
  )
  assert.deepEqual(modes, [isRoot ? '711' : '700', '700', '700'])
  assert.equal(statSync(join(postgres.host, `.s.PGSQL.${postgres.port}`)).mode & 0o777, 0o700)
  const user = statSync(`/proc/${postgres.pid}`).uid
  assert.ok(isRoot ? user >= 0x7000_0000 : user === process.getuid?.(), String(user))
  assert.deepEqual(ownersIn(dataDir), [user])
})

/** The users that the database's files belong to. */
function ownersIn(dataDir: string): number[] {
  const data = join(dataDir, 'postgres')
  const paths = readdirSync(data, { recursive: true, encoding: 'utf8' }).map((path) => join(data, path))
  const users = [data, ...paths].map((path) => statSync(path, { throwIfNoEntry: false })?.uid)
  return [...new Set(users.filter((uid) => uid !== undefined))]
}

test('takes the database from `nobody` at the start after a clean stop', { skip: !isRoot }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  await (await start(t, dataDir)).stop()
  execFileSync('chown', ['-R', '65534:65534', join(dataDir, 'postgres'), join(dataDir, 'postgres-socket')])
  const lines: string[] = []
  const earlier = await start(t, dataDir, { log: (line) => lines.push(line) })
  await query(earlier, 'create table kept as select 1 as one')
  const [user = 0, ...others] = ownersIn(dataDir)
  assert.ok(user >= 0x7000_0000 && others.length === 0, `${user} ${others}`)
  const asNobody = spawnSync('ls', [earlier.host], { uid: 65534, gid: 65534, encoding: 'utf8' })
  assert.match(asNobody.stderr, /Permission denied/)
  await earlier.stop()
  assert.deepEqual(ownersIn(dataDir), [user])
  assert.equal(await query(await start(t, dataDir), 'select one from kept'), '1')
  assert.deepEqual(ownersIn(dataDir), [user])
  assert.deepEqual(lines, [])
})

test('leaves a database with `nobody` that was not stopped cleanly, and says what follows', {
  skip: !isRoot,
}, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const first = await start(t, dataDir, { onCrash() {} })
  process.kill(first.pid, 'SIGKILL')
  await first.stop()
  await untilNothingRunsOn(dataDir)
  execFileSync('chown', ['-R', '65534:65534', join(dataDir, 'postgres'), join(dataDir, 'postgres-socket')])
  const lines: string[] = []
  await start(t, dataDir, { log: (line) => lines.push(line) })
  assert.deepEqual(ownersIn(dataDir), [65534])
  assert.match(lines.join('\n'), /every other process of that user can read and change all data/)
})

test('opens a private DATA_DIR just enough for the user that PostgreSQL runs as', { skip: !isRoot }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  await start(t, dataDir)
  assert.equal(statSync(dataDir).mode & 0o777, 0o711)
})

test("runs a user's own database as that user when root starts it", { skip: !isRoot }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  await (await start(t, dataDir)).stop()
  execFileSync('chown', ['-R', '4321:4321', dataDir])
  rmSync(join(dataDir, 'postgres.log'))
  const postgres = await start(t, dataDir)
  assert.equal(statSync(`/proc/${postgres.pid}`).uid, 4321)
  assert.equal(statSync(join(dataDir, 'postgres.log')).uid, 4321)
})

test('keeps the database under /var/lib when root starts it in a home closed to others', {
  skip: !isRoot,
}, async (t) => {
  const home = makeFolder(t)
  const dataDir = join(home, 'data')
  chmodSync(home, 0o700)
  const log: string[] = []
  const first = await start(t, dataDir, { log: (line) => log.push(line) })
  const kept = readFileSync(join(dataDir, 'postgres-is-at'), 'utf8').trim()
  atEnd(t, async () => {
    await untilNothingRunsOn(kept)
    rmSync(kept, { recursive: true, force: true })
  })
  assert.match(kept, /^\/var\/lib\/sallyport-[0-9a-f]{12}$/)
  assert.ok(log.some((line) => line.includes(`the database is kept in \`${kept}\``)))
  await query(first, `create table kept as select 'here' as word`)
  assert.equal((await readRunningEmbedded(dataDir))?.host, first.host)
  await first.stop()

  chmodSync(home, 0o711)
  const second = await start(t, dataDir)
  assert.equal(await query(second, 'select word from kept'), 'here', 'also once the home is open')
  await second.stop()

  rmSync(kept, { recursive: true })
  await assert.rejects(start(t, dataDir), new RegExp(`kept in \`${kept}\`, which is gone: restore that folder`))
})

test('refuses a data folder of another PostgreSQL version, or with other files', async (t) => {
  const dataDir = makeFolder(t)
  mkdirSync(join(dataDir, 'postgres'))
  writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n')
  await assert.rejects(start(t, dataDir), /made by PostgreSQL 17 and this is PostgreSQL 18: .*`npm run backup`/)
  rmSync(join(dataDir, 'postgres/PG_VERSION'))
  writeFileSync(join(dataDir, 'postgres/photo.jpg'), '')
  await assert.rejects(start(t, dataDir), /is not empty and holds no database/)
  assert.deepEqual(readdirSync(join(dataDir, 'postgres')), ['photo.jpg'])
})

test('uses a short private folder for its socket when the path is too long', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), `a "long", ${'very '.repeat(20)}path`)
  const first = await start(t, dataDir)
  assert.match(first.host, /\/sallyport-\w{6}$/)
  assert.equal(statSync(first.host).mode & 0o777, 0o700)
  assert.equal(await query(await readRunningEmbedded(dataDir), 'select 1'), '1')
  await first.stop()
  assert.equal(existsSync(first.host), false)

  const other = startElsewhere(t, dataDir)
  await other.untilPrinted('ready')
  const left = readFileSync(join(dataDir, 'postgres-socket-at'), 'utf8')
  await kill(other.child)
  const second = await start(t, dataDir)
  assert.deepEqual([second.tookOver, second.host], [true, left])
  await second.stop()
  assert.equal(existsSync(left), false, 'also the folder that a killed Sallyport left')
})

test('requires a password on a port instead of a socket', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const postgres = await start(t, dataDir, { transport: 'loopback' })
  assert.equal(postgres.host, '127.0.0.1')
  assert.equal(await query(postgres, 'select 1'), '1')
  assert.deepEqual(await readRunningEmbedded(dataDir), {
    host: postgres.host,
    port: postgres.port,
    superuser: 'postgres',
    password: postgres.password,
  })
  assert.equal(statSync(join(dataDir, 'postgres-password')).mode & 0o777, 0o600)
  await assert.rejects(query({ ...postgres, password: 'guess' }, 'select 1'), /password authentication failed/)
})
