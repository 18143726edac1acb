import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { followEvents } from '../audit/audit-store.ts'
import { emit } from '../events/emit.ts'
import { queueEvents } from '../events/queue-events.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { listNotificationsBehind } from '../notifications/notification-store.ts'
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
    const id = newId()
    await tx.write([
      sql`insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
        select ${tenant_id}, ${id}, ${user_id}, e.id, e.type, 'a title', 'a body' from event e
        where e.xid = ${event}::xid8`,
    ])
    await until('streams are told', async () => {
      const { notified } = await findNews(db.database.work, { since: event, user_ids: [user_id] }, [])
      return notified.length > 0
    })
    const streamed = await listNotificationsBehind(tx, user_id, { id, xid: event, seq: '0' }, 10)
    assert.deepEqual(
      streamed.map((notification) => notification.id),
      [id],
    )
  }
  await elsewhere.end()
})

test('what follows the order of the commits goes on while a transaction of another database is open', async () => {
  const elsewhere = await openElsewhere()
  const first = await emitEvent()
  const [event] = await tx.read(sql<{ id: string }>`select id from event where xid = ${first}::xid8`)
  await tx.write([
    sql`insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
      values (${tenant_id}, ${newId()}, ${user_id}, ${event?.id}, 'request.created', 'a title', 'a body')`,
  ])
  const subscriber = { name: 'a follower', on: ['request.created'] as const }
  const page = { limit: 100, after: undefined }
  const beginning = { id: newId(), xid: '0', seq: '0' }
  const news = () =>
    findNews(db.database.work, { since: elsewhere.xid, user_ids: [user_id] }, [{ ...beginning, tenant_id }])
  await until('each has arrived', async () => {
    await queueEvents(db.database, subscriber)
    const queued = await db.asSuperuser('select from event_queue where until_xid = $1', [first])
    const exported = await followEvents(tx, {}, page)
    const changed = await listSubjects(tx, beginning)
    const streamed = await listNotificationsBehind(tx, user_id, beginning, 10)
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
