import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { connectAlone, type SingleConnection } from '../db/client/connect.ts'
import { lowestIdAt, newId } from '../kernel/id.ts'
import { dropQuarter } from './drop-quarter.ts'

const db = await testDatabase()
const [acme, beta] = [newId(), newId()]
await db.asSuperuser(`insert into tenant (id, name, slug) values ($1, 'one', 'acme'), ($2, 'two', null)`, [acme, beta])

const old = (second: number) => lowestIdAt(new Date(Date.UTC(2024, 1, 1, 0, 0, second)))
const newEvent = `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
  values ($1, $2, 'request.created', 'system', 'request', 'x', 'r')`
const record = (tenant_id: string, id: string) => db.asSuperuser(newEvent, [tenant_id, id])
const drop = (quarter = '2024-q1') => dropQuarter(db.owner, quarter)
const dropOnce = () => dropQuarter(db.owner, '2024-q1', { max: 1, pauseMs: 0 })
const left = () => db.asSuperuser<{ id: string }>('select id from event where id < $1 order by id', [old(60)])

const unforced = () =>
  db.asSuperuser(
    `select relname from pg_class where relrowsecurity and not relforcerowsecurity and relkind in ('r', 'p')`,
  )

/** Runs `work` in a transaction behind the wall of acme, and commits it. */
async function inTransaction(target: typeof db.service, work: (client: SingleConnection) => Promise<void>) {
  const client = await connectAlone(target)
  try {
    await client.query('begin')
    await client.query(`select set_config('app.tenant_id', $1, true)`, [acme])
    await work(client)
    await client.query('commit')
  } finally {
    await client.end()
  }
}

/** The locks of the drop: those it has, and the one it waits for. */
const locks = () =>
  db.asSuperuser<{ name: string; mode: string; granted: boolean }>(
    `select c.relname as name, l.mode, l.granted
      from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a using (pid)
      where l.database = (select oid from pg_database where datname = current_database())
        and a.application_name = 'sallyport-setup' and a.usename = 'sallyport_owner'
        and c.relnamespace = 'public'::regnamespace`,
  )
const waitsFor = (table: string) =>
  until(`the drop waits for ${table}`, async () =>
    (await locks()).some(({ name, granted }) => name === table && !granted),
  )

beforeEach(async () => {
  const owner = await connectAlone(db.owner)
  await owner.query(`select add_event_quarters('2024-01-01', 1)`).finally(() => owner.end())
  await db.asSuperuser('delete from event_cursor')
  for (const second of [1, 2]) await record(acme, old(second)).catch(() => undefined)
  await record(beta, old(3)).catch(() => undefined)
})

test('a quarter is dropped with a record for each tenant that had events in it', async () => {
  assert.deepEqual(await drop(), { quarter: '2024-q1', tenants: 2, events: 3 })
  assert.deepEqual(await left(), [])
  const said = await db.asSuperuser(
    `select tenant_id, actor_kind, data from event where type = 'tenant.events_dropped' order by tenant_id`,
  )
  const saying = (tenant_id: string, events: number, last: string) => {
    return { tenant_id, actor_kind: 'operator', data: { quarter: '2024-q1', events, last_event_id: last } }
  }
  assert.deepEqual(said, [saying(acme, 2, old(2)), saying(beta, 1, old(3))])
  assert.deepEqual(await unforced(), [])
  await assert.rejects(drop(), /has no partition/)
})

test('a quarter that is not over, or that is none, is refused', async () => {
  const [now] = await db.asSuperuser<{ name: string }>(`select to_char(now() at time zone 'UTC', 'YYYY"-q"Q') as name`)
  await assert.rejects(drop(now?.name), /is not over/)
  await assert.rejects(drop('2999-q1'), /is not over/)
  await assert.rejects(drop('2024-01'), /is no quarter/)
  await assert.rejects(drop('2023-q4'), /has no partition/)
  assert.equal((await left()).length, 3)
})

test('events that something refers to stay, and all others of their quarter; the refusal names the tenant', async () => {
  await db.asSuperuser(
    `insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
      values ($1, 's', $2, now(), 'x')`,
    [beta, old(3)],
  )
  await assert.rejects(drop(), new RegExp(`2024-q1 are still referred to.*\`${beta}\` \\(parked events 1\\)`))
  assert.equal((await left()).length, 3)
  await db.asSuperuser('delete from event_parked')
})

test('notifications that are kept no longer go with their events, and others keep them', async () => {
  const user = newId()
  await db.asSuperuser(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values ($1, $2, 'a@example.com', 'a@example.com', 'A', 'oidc')`,
    [acme, user],
  )
  for (const [second, days] of [
    [1, 181],
    [2, 179],
  ] as const) {
    await db.asSuperuser(
      `insert into notification (tenant_id, id, user_id, event_id, event_type, title, body, created_at)
        values ($1, $2, $3, $4, 'request.created', 't', 'b', now() - make_interval(days => $5))`,
      [acme, newId(), user, old(second), days],
    )
  }
  await assert.rejects(drop(), /are still referred to, so all of them stay: of `acme` \(notifications 1\)$/)
  assert.equal((await left()).length, 3)
  await db.asSuperuser(`update notification set created_at = now() - interval '181 days'`)
  assert.equal((await drop()).events, 3)
  assert.deepEqual(await db.asSuperuser('select id from notification'), [])
})

test('only those tables refer to events that a drop looks into', async () => {
  const referring = await db.asSuperuser<{ name: string }>(
    `select conrelid::regclass::text as name from pg_constraint
      where contype = 'f' and confrelid = 'event'::regclass order by 1`,
  )
  assert.deepEqual(
    referring.map(({ name }) => name),
    ['delivery', 'event_parked', 'notification'],
  )
})

test('calls write events while a drop counts', async () => {
  let dropped: Promise<unknown> | undefined
  // Only the count reads this table.
  await inTransaction(db.owner, async (holder) => {
    await holder.query('lock table event_queue in access exclusive mode')
    dropped = drop()
    await waitsFor('event_queue')
    const strong = (await locks()).filter(({ name, mode }) => name === 'event' && mode !== 'AccessShareLock')
    assert.deepEqual(strong, [])
    await inTransaction(db.service, async (call) => void (await call.query(newEvent, [acme, newId()])))
  })
  await dropped
  assert.deepEqual(await left(), [])
})

test('an event that comes in after the count is counted too', async () => {
  let dropped: ReturnType<typeof drop> | undefined
  await inTransaction(db.service, async (call) => {
    await call.query('lock table notification in row exclusive mode')
    dropped = drop()
    await waitsFor('notification')
    await call.query(newEvent, [acme, old(4)])
  })
  assert.equal((await dropped)?.events, 4)
})

test('a reference that comes in after the count keeps the events', async () => {
  let refused: Promise<void> | undefined
  await inTransaction(db.service, async (call) => {
    await call.query('lock table delivery in row exclusive mode')
    refused = assert.rejects(drop(), /of `acme` \(parked events 1\)$/)
    await waitsFor('delivery')
    await call.query(
      `insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
        values ($1, 's', $2, now(), 'x')`,
      [acme, old(1)],
    )
  })
  await refused
  assert.equal((await left()).length, 3)
  await db.asSuperuser('delete from event_parked')
})

test('a call that writes a notification and then an event goes on beside a drop', async () => {
  let dropped: ReturnType<typeof drop> | undefined
  await inTransaction(db.service, async (call) => {
    // As an insert locks its table before it looks for the event.
    await call.query('lock table notification in row exclusive mode')
    dropped = drop()
    await waitsFor('notification')
    await call.query(newEvent, [acme, newId()])
  })
  assert.equal((await dropped)?.events, 3)
})

test('a call that writes an event and then a notification goes on beside a drop', async () => {
  let dropped: ReturnType<typeof drop> | undefined
  await inTransaction(db.service, async (call) => {
    await call.query(newEvent, [acme, newId()])
    dropped = drop()
    await waitsFor('event')
    await call.query('lock table notification in row exclusive mode')
  })
  assert.equal((await dropped)?.events, 3)
})

test('a drop that got no lock leaves all as it was, and the next one works', async () => {
  await inTransaction(db.service, async (call) => {
    await call.query(newEvent, [acme, newId()])
    await assert.rejects(dropOnce(), /run this again$/)
  })
  assert.equal((await left()).length, 3)
  assert.deepEqual(await unforced(), [])
  assert.equal((await dropOnce()).events, 3)
})

test('a tenant whose deletion has begun loses its events without a record', async () => {
  const leaving = newId()
  await db.asSuperuser(`insert into tenant (id, name) values ($1, 'three')`, [leaving])
  await record(leaving, old(5))
  await db.asSuperuser('update tenant set suspended_at = now(), deleting_since = now() where id = $1', [leaving])
  assert.deepEqual(await drop(), { quarter: '2024-q1', tenants: 3, events: 4 })
  assert.deepEqual(await db.asSuperuser('select id from event where tenant_id = $1', [leaving]), [])
})

test('events that are not delivered yet stay', async () => {
  await db.asSuperuser(`insert into event_cursor (subscriber) values ('slow')`)
  await assert.rejects(drop(), /not delivered yet to slow/)
  assert.equal((await left()).length, 3)
})
