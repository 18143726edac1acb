import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { followEvents } from '../audit/audit-store.ts'
import { emit } from '../events/emit.ts'
import { queueEvents } from '../events/queue-events.ts'
import { type Statement, systemActor, type Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import {
  type Ahead,
  beginning,
  findPlace,
  listNotificationsBehind,
  type Place,
} from '../notifications/notification-store.ts'
import { findStart } from '../notifications/notification-stream.flow.ts'
import { findNews, listSubjects } from '../stream/change-store.ts'
import { type ConnectionTarget, connectAlone } from './client/connect.ts'
import { eventsSettledTo } from './settled.ts'
import { sql } from './sql.ts'

const db = await testDatabase()
const [tenant_id, user_id] = [newId(), newId()]
const tx = db.database.tenant(tenant_id)
await tx.write([sql`insert into tenant (id, name) values (${tenant_id}, 'a tenant')`])
await tx.write([
  sql`insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
    values (${tenant_id}, ${user_id}, 'kim@acme.example', 'kim@acme.example', 'Kim', 'local')`,
])

/** A transaction that has a number, open until `end`. */
async function openTransaction(target: ConnectionTarget) {
  const connection = await connectAlone(target)
  await connection.query('begin')
  const { rows } = await connection.query<{ xid: string }>('select pg_current_xact_id()::text as xid')
  return { xid: rows[0]?.xid ?? '', connection, end: () => connection.end() }
}
const openElsewhere = () => openTransaction({ ...db.service, database: 'postgres' })
const openHere = () => openTransaction(db.service)

/** The transaction of a new event. Each event commits after all that the test opened before. */
async function emitEvent(): Promise<string> {
  const subject_id = newId()
  await tx.write([
    emit(
      { tx, actor: systemActor, request_id: 'test' },
      { type: 'request.created', subject_type: 'request', subject_id },
    ),
  ])
  const [event] = await tx.read(sql<{ xid: string }>`select xid::text from event where subject_id = ${subject_id}`)
  return event?.xid ?? ''
}

/** The id of a new notification of the event of this transaction. */
async function notifyOf(event: string, whose = user_id): Promise<string> {
  const id = newId()
  await tx.write([
    sql`insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
      select ${tenant_id}, ${id}, ${whose}, e.id, e.type, 'a title', 'a body' from event e
      where e.xid = ${event}::xid8`,
  ])
  return id
}

/** Waits until streams are told of the notifications since this transaction. Returns what they are told that all before it is over. */
async function toldOf(event: string): Promise<string> {
  let notified_to = ''
  await until('streams are told', async () => {
    const { notified, whole_to } = await findNews(db.database.work, { since: event, user_ids: [user_id] }, [])
    notified_to = whole_to
    return notified.length > 0
  })
  return notified_to
}

async function idsBehind(reader: Tx, ahead: Ahead): Promise<string[]> {
  return (await listNotificationsBehind(reader, user_id, ahead, 10)).map(({ id }) => id)
}

async function settledTo(): Promise<bigint> {
  const [row] = await tx.read(sql<{ xid: string }>`select ${eventsSettledTo(tenant_id)}::text as xid`)
  return BigInt(row?.xid ?? 0)
}

const isLate = async (xid: string) => {
  const [row] = await tx.read(
    sql`select from event where xid = ${xid}::xid8 and at < clock_timestamp() - interval '200 milliseconds'`,
  )
  return row !== undefined
}

test('a transaction of another database holds up no order', async () => {
  const elsewhere = await openElsewhere()
  const xid = await emitEvent()
  assert.ok(BigInt(elsewhere.xid) < BigInt(xid))
  await until('the event is settled', async () => (await settledTo()) > BigInt(xid))
  await elsewhere.end()
})

test('a transaction of this database holds up the order, though it has written nothing yet', async () => {
  const elsewhere = await openElsewhere()
  const here = await openHere()
  const later = await openElsewhere()
  const xid = await emitEvent()
  await until('the event has waited', () => isLate(xid))
  assert.equal(await settledTo(), BigInt(here.xid))
  await here.end()
  await until('the event is settled', async () => (await settledTo()) > BigInt(xid))
  await Promise.all([elsewhere.end(), later.end()])
})

test('a transaction of this database counts whatever role it has, and with a savepoint', async () => {
  const here = await openTransaction(db.owner)
  await here.connection.query('savepoint one')
  await here.connection.query('create temporary table written ()')
  const xid = await emitEvent()
  await until('the event has waited', () => isLate(xid))
  assert.equal(await settledTo(), BigInt(here.xid))
  await here.end()
})

test('a notification that streams were told of is found at once, while a transaction of another database is open', async () => {
  const elsewhere = await openElsewhere()
  for (let round = 0; round < 5; round += 1) {
    const event = await emitEvent()
    const id = await notifyOf(event)
    const notified_to = await toldOf(event)
    assert.deepEqual(await idsBehind(tx, { place: { id, xid: event, seq: '0' }, notified_to }), [id])
  }
  await elsewhere.end()
})

/** Reads with the snapshot of now, in which what ends later is still open. */
async function openReader() {
  const connection = await connectAlone(db.service)
  await connection.query('begin isolation level repeatable read')
  await connection.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
  const read = async ({ text, values }: Statement) => (await connection.query(text, [...values])).rows
  return { tx: { ...tx, read } as Tx, end: () => connection.end() }
}

/** The place of a new notification, before which nothing is open on the server. */
async function notifiedBefore(): Promise<Place> {
  const id = await notifyOf(await emitEvent())
  await until('nothing older is open', async () => {
    const settled = 'select from notification where id = $1 and xid < pg_snapshot_xmin(pg_current_snapshot())'
    return (await db.asSuperuser(settled, [id])).length > 0
  })
  const place = await findPlace(tx, user_id, id)
  assert.equal(place?.id, id)
  return place
}

test('what streams were told of is found by a reader for whom the transaction of another database has ended in between', async () => {
  const place = await notifiedBefore()
  const elsewhere = await openElsewhere()
  const event = await emitEvent()
  const id = await notifyOf(event)
  const notified_to = await toldOf(event)
  const reader = await openReader()
  await elsewhere.end()
  await until('it has no entry', async () => {
    const entry = `select from pg_locks where locktype = 'transactionid' and transactionid::text = $1`
    return (await db.asSuperuser(entry, [elsewhere.xid])).length === 0
  })
  assert.deepEqual(await idsBehind(reader.tx, { place }), [], 'it counts as one of this database')
  assert.deepEqual(await idsBehind(reader.tx, { place, notified_to }), [id])
  assert.deepEqual(await findStart(reader.tx, user_id, id), { place, hasMissed: false }, 'it is sent again')
  await reader.end()
  await until('it is settled', async () => (await findPlace(tx, user_id, id))?.id === id)
})

test('a reader begins before a notification whose order is not final, and misses none that commits later', async () => {
  const place = await notifiedBefore()
  const colleague = newId()
  await db.asSuperuser(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values ($1, $2, 'lee@acme.example', 'lee@acme.example', 'Lee', 'local')`,
    [tenant_id, colleague],
  )
  const here = await openHere()
  const event = await emitEvent()
  const [id, first] = [await notifyOf(event), await notifyOf(event, colleague)]
  assert.deepEqual(await findPlace(tx, user_id, id), place)
  assert.deepEqual(await findPlace(tx, colleague, first), beginning)
  assert.equal(await findPlace(tx, user_id, first), undefined)
  await here.end()
  await until('it is settled', async () => (await findPlace(tx, user_id, id))?.id === id)
})

test('what follows the order of the commits goes on while a transaction of another database is open', async () => {
  const elsewhere = await openElsewhere()
  const first = await emitEvent()
  const [event] = await tx.read(sql<{ id: string }>`select id from event where xid = ${first}::xid8`)
  await notifyOf(first)
  const subscriber = { name: 'a follower', on: ['request.created'] as const }
  const page = { limit: 100, after: undefined }
  const news = () =>
    findNews(db.database.work, { since: elsewhere.xid, user_ids: [user_id] }, [{ ...beginning, tenant_id }])
  await until('each has arrived', async () => {
    await queueEvents(db.database, subscriber)
    const queued = await db.asSuperuser('select from event_queue where until_xid = $1', [first])
    const exported = await followEvents(tx, {}, page)
    const changed = await listSubjects(tx, beginning)
    const streamed = await listNotificationsBehind(tx, user_id, { place: beginning }, 10)
    const told = await news()
    return (
      [queued, exported.rows, changed, streamed, told.notified, told.changed].every(({ length }) => length > 0) &&
      changed.at(-1)?.xid === first &&
      exported.rows.at(-1)?.id === event?.id &&
      BigInt(told.whole_to) > BigInt(first)
    )
  })
  await elsewhere.end()
})
