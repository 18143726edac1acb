import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  atEnd,
  isLinux,
  isRoot,
  kill,
  makeFolder,
  processesOn,
  query,
  start,
  startElsewhere,
  until,
  untilNothingRunsOn,
} from '../../test/support/embedded.ts'
import { readRunningEmbedded } from './start.ts'

test('takes over the server of a Sallyport that was killed, and notices its end', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const other = startElsewhere(t, dataDir)
  const pid = Number(await other.untilPrinted('ready'))
  await assert.rejects(start(t, dataDir), new RegExp(`another Sallyport \\(pid ${other.child.pid}\\) is running`))
  assert.ok(await readRunningEmbedded(dataDir), 'the command line still reaches it')
  await kill(other.child)

  const crashes: string[] = []
  const postgres = await start(t, dataDir, { onCrash: (reason) => crashes.push(reason) })
  assert.deepEqual([postgres.tookOver, postgres.pid], [true, pid])
  assert.equal(await query(postgres, 'select 1'), '1')
  process.kill(pid, 'SIGKILL')
  await until(() => crashes.length > 0, 'the report of the crash')
  assert.match(crashes[0] ?? '', new RegExp(`\\(pid ${pid}\\) ended by itself \\(its process is gone\\): its log is`))
  await postgres.stop()
  // A start clears away the shared memory that it left.
  await untilNothingRunsOn(dataDir)
  await (await start(t, dataDir)).stop()
})

test('stops a server that it took over', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const other = startElsewhere(t, dataDir)
  await other.untilPrinted('ready')
  await kill(other.child)
  const postgres = await start(t, dataDir)
  assert.equal(postgres.tookOver, true)
  await postgres.stop()
  assert.deepEqual(processesOn(dataDir), [])
})

test('survives the Ctrl-C that Sallyport gets, so that it can drain', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const other = startElsewhere(t, dataDir)
  const pid = Number(await other.untilPrinted('ready'))
  assert.equal(
    readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[2],
    String(pid),
    'leads its own group',
  )
  process.kill(-(other.child.pid ?? 0), 'SIGINT')
  await other.untilPrinted('interrupted')
  assert.equal(await query(await readRunningEmbedded(dataDir), 'select 1'), '1')
  await kill(other.child)
  await (await start(t, dataDir)).stop()
})

test('notices the crash of a server it started, and waits for what it leaves behind', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const crashes: string[] = []
  const first = await start(t, dataDir, { onCrash: (reason) => crashes.push(reason) })
  await query(first, `create table kept as select 'here' as word`)
  // A paused session outlives its server, and holds the shared memory.
  const atWork = assert.rejects(query(first, 'select pg_sleep(60)'))
  const asleep = `select pid from pg_stat_activity where wait_event = 'PgSleep'`
  await until(async () => (await query(first, asleep)) !== '', 'a session at work')
  const session = Number(await query(first, asleep))
  process.kill(session, 'SIGSTOP')
  process.kill(first.pid, 'SIGKILL')
  await until(() => crashes.length > 0, 'the report of the crash')
  assert.match(crashes[0] ?? '', /ended by itself \(signal SIGKILL\): its log is/)
  await first.stop()

  const starting = start(t, dataDir)
  const log = () => readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  await until(() => /shared memory block .* still in use/.test(log()), 'the failed start')
  process.kill(session, 'SIGCONT')
  const second = await starting
  await atWork
  assert.equal(crashes.length, 1)
  assert.equal(second.tookOver, false)
  assert.equal(await query(second, 'select word from kept'), 'here')
})

test('is not held up by the PID file of a dead server whose PID another process has', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const first = await start(t, dataDir, { onCrash() {} })
  process.kill(first.pid, 'SIGKILL')
  await first.stop()
  await untilNothingRunsOn(dataDir)
  // Of the same user: PostgreSQL does not take a process of another user for its own.
  const { uid, gid } = statSync(join(dataDir, 'postgres'))
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot && { uid, gid }) })
  atEnd(t, () => stranger.kill())
  for (const file of [join(dataDir, 'postgres/postmaster.pid'), join(first.host, `.s.PGSQL.${first.port}.lock`)]) {
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(stranger.pid)))
  }
  const second = await start(t, dataDir)
  assert.equal(second.tookOver, false)
  assert.equal(await query(second, 'select 1'), '1')
  assert.equal(stranger.exitCode, null)
})

test('leaves alone a server that answers but whose process it cannot see', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const first = await start(t, dataDir)
  const note = join(dataDir, 'postgres/postmaster.pid')
  const asWritten = readFileSync(note, 'utf8')
  writeFileSync(note, asWritten.replace(/^\d+/, '2147483647'))
  rmSync(join(dataDir, 'postgres-owner.lock'))
  await assert.rejects(start(t, dataDir), /a PostgreSQL that this process cannot see .* is serving/)
  writeFileSync(note, asWritten)
  assert.equal(await query(first, 'select 1'), '1')
})

test('begins again when the creation of the database was interrupted', { skip: !isLinux }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const other = startElsewhere(t, dataDir)
  const halfMade = () =>
    existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.partial-')) : []
  await until(() => halfMade().some((name) => existsSync(join(dataDir, name, 'PG_VERSION'))), 'a half-made database')
  await kill(other.child)
  assert.equal(existsSync(join(dataDir, 'postgres')), false)
  const postgres = await start(t, dataDir)
  assert.equal(await query(postgres, 'select 1'), '1')
  await postgres.stop()
  await untilNothingRunsOn(dataDir)
  await (await start(t, dataDir)).stop()
  assert.deepEqual(halfMade(), [])
})
