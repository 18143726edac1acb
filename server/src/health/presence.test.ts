import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import { findServedUrl, openPresence } from './presence.ts'

const db = await testDatabase()
const version = { version: '1.2.0', commit: 'abc' }
const one = openPresence(db.database, { ...version, public_url: 'https://one.example' })
const two = openPresence(db.database, { version: '1.2.0', commit: undefined, public_url: 'https://two.example' })

const rows = () =>
  db.asSuperuser<{ public_url: string; started_at: Date; seen_at: Date }>(
    'select public_url, started_at, seen_at from process order by public_url',
  )

test('a process has one row, which each beat brings up to date', async () => {
  assert.deepEqual(await rows(), [])
  await one.beat()
  const [before] = await rows()
  // A fast machine beats twice within the millisecond that a date keeps.
  await setTimeout(2)
  await one.beat()
  const [after, ...more] = await rows()
  assert.ok(before !== undefined && after !== undefined)
  assert.deepEqual([more, after.public_url, after.started_at], [[], 'https://one.example', before.started_at])
  assert.ok(after.seen_at > before.seen_at)
})

test('processes of one database know of each other while they are there', async () => {
  await two.beat()
  const [other, ...more] = await one.others()
  assert.deepEqual([other?.version, other?.commit, other?.public_url, more], ['1.2.0', null, 'https://two.example', []])
  assert.equal((await two.others())[0]?.commit, 'abc')
  await db.asSuperuser(`update process set seen_at = seen_at - interval '31 seconds' where public_url ~ 'two'`)
  assert.deepEqual(await one.others(), [])
})

test('a process that left is no longer there, and keeps its row', async () => {
  await two.beat()
  assert.equal(await findServedUrl(db.database), 'https://two.example', 'the one that started last')
  await two.leave()
  assert.deepEqual(await one.others(), [])
  assert.equal(await findServedUrl(db.database), 'https://one.example')
  await one.leave()
  assert.equal(await findServedUrl(db.database), undefined)
  assert.deepEqual(
    (await rows()).map(({ public_url }) => public_url),
    ['https://one.example', 'https://two.example'],
  )
})

test('a new process removes what was not seen for a week', async () => {
  const insert = `insert into process (id, version, public_url, host, seen_at)
    values ($1, '0', $2, '', clock_timestamp() - $3::interval)`
  await db.asSuperuser(insert, [newId(), 'https://old.example', '169 hours'])
  await db.asSuperuser(insert, [newId(), 'https://recent.example', '167 hours'])
  await openPresence(db.database, { ...version, public_url: 'https://new.example' }).beat()
  const urls = (await rows()).map(({ public_url }) => public_url)
  assert.ok(urls.includes('https://recent.example'))
  assert.ok(!urls.includes('https://old.example'))
})

test('the service changes nothing of a row but when it was seen', async () => {
  for (const column of ['version', 'public_url', 'started_at']) {
    const change = { version: sql`version = ''`, public_url: sql`public_url = ''`, started_at: sql`started_at = now()` }
    const set = change[column as keyof typeof change]
    await assert.rejects(db.database.service.write([sql`update process set ${set}`]), /permission denied/, column)
  }
  await assert.rejects(db.database.work.read(sql`select id from process`), /permission denied/)
})
