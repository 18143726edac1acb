import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { connectAlone } from '../db/client/connect.ts'
import { lowestIdAt, newId } from '../kernel/id.ts'
import { dropQuarter } from './drop-quarter.ts'

const db = await testDatabase()
const [acme, beta] = [newId(), newId()]
for (const id of [acme, beta]) await db.asSuperuser(`insert into tenant (id, name) values ($1, 'one')`, [id])

const old = (second: number) => lowestIdAt(new Date(Date.UTC(2024, 1, 1, 0, 0, second)))
const record = (tenant_id: string, id: string) =>
  db.asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      values ($1, $2, 'request.created', 'system', 'request', 'x', 'r')`,
    [tenant_id, id],
  )
const drop = (quarter = '2024-q1') => dropQuarter(db.owner, quarter)
const left = () => db.asSuperuser<{ id: string }>('select id from event where id < $1 order by id', [old(60)])

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
  const unforced = await db.asSuperuser(
    `select relname from pg_class where relrowsecurity and not relforcerowsecurity and relkind in ('r', 'p')`,
  )
  assert.deepEqual(unforced, [])
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

test('events that something refers to stay, and all others of their quarter', async () => {
  await db.asSuperuser(
    `insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
      values ($1, 's', $2, now(), 'x')`,
    [beta, old(3)],
  )
  await assert.rejects(drop(), /rows of `event_parked` refer to events of 2024-q1/)
  assert.equal((await left()).length, 3)
  await db.asSuperuser('delete from event_parked')
})

test('events that are not delivered yet stay', async () => {
  await db.asSuperuser(`insert into event_cursor (subscriber) values ('slow')`)
  await assert.rejects(drop(), /not delivered yet to slow/)
  assert.equal((await left()).length, 3)
})
