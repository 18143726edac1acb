import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { bareDatabase, useOwnServer } from '../../test/support/backup-database.ts'
import { type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { emit, emitEach } from '../events/emit.ts'
import { systemActor } from '../kernel/context.ts'
import { lowestIdAt, newId } from '../kernel/id.ts'
import { connectAlone } from './client/connect.ts'
import { addEventQuarters } from './event-quarters.ts'
import { migrate } from './migrate.ts'
import { sql } from './sql.ts'

const stopServer = await useOwnServer()
const db = await testDatabase()
after(stopServer)
const tenant_id = newId()
await db.asSuperuser(`insert into tenant (id, name) values ($1, 'Acme')`, [tenant_id])

const partitions = async (of: TestDatabase) => {
  const rows = await of.asSuperuser<{ name: string }>(
    `select relid::text as name from pg_partition_tree('event') where isleaf order by relid::text collate "C"`,
  )
  return rows.map(({ name }) => name)
}
const addAt = async (of: TestDatabase, today: string) => {
  const said: string[] = []
  const owner = await connectAlone(of.owner)
  await addEventQuarters(owner, (sentence) => said.push(sentence), today).finally(() => owner.end())
  return said
}
const record = (of: TestDatabase, tenant: string, id: string) =>
  of.asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      values ($1, $2, 'request.created', 'system', 'request', 'x', 'r')`,
    [tenant, id],
  )
const placeOf = async (of: TestDatabase, id: string) => {
  const [row] = await of.asSuperuser<{ name: string }>(
    'select tableoid::regclass::text as name from event where id = $1',
    [id],
  )
  return row?.name
}

test('each partition has forced row-level security, no policy, no right of a service role, and the triggers of its table', async () => {
  const rows = await db.asSuperuser<Record<string, unknown>>(`
    select c.relrowsecurity and c.relforcerowsecurity as forced,
      (select count(*)::int from pg_policy where polrelid = c.oid) as policies,
      (select count(*)::int from aclexplode(c.relacl) where grantee <> c.relowner) as rights,
      (select count(*)::int from pg_attribute where attrelid = c.oid and attacl is not null) as columns,
      array(select t.tgname::text from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgenabled = 'O'
        order by 1) as triggers
    from pg_partition_tree('event') p join pg_class c on c.oid = p.relid where isleaf`)
  assert.ok(rows.length >= 6, String(rows.length))
  const triggers = ['event_append_only', 'event_has_its_tenant', 'event_leaves']
  for (const row of rows) assert.deepEqual(row, { forced: true, policies: 0, rights: 0, columns: 0, triggers })
})

test('nothing reaches a row but by the table', async () => {
  const name = (await partitions(db))[0] ?? ''
  await record(db, tenant_id, newId())
  for (const role of ['sallyport_app', 'sallyport_work']) {
    for (const statement of [
      `select id from ${name}`,
      `delete from ${name}`,
      `insert into ${name} select * from event`,
    ]) {
      await db.asSuperuser('begin')
      await db.asSuperuser(`set local role ${role}`)
      await assert.rejects(db.asSuperuser(statement), /permission denied/)
      await db.asSuperuser('rollback')
    }
  }
  for (const statement of [`update ${name} set type = 'x'`, `truncate ${name} cascade`]) {
    await assert.rejects(db.asSuperuser(statement), /never changed/)
  }
})

test('what the service records lies in the present quarter, whether it or the database makes the ids', async () => {
  const ctx = { tx: db.database.tenant(tenant_id), actor: systemActor, request_id: 'r' }
  await ctx.tx.write([
    emit(ctx, { type: 'request.created', subject_type: 'request', subject_id: 'by code' }),
    sql`with made as (select gen_random_uuid() as id, gen_random_uuid() as request_id from generate_series(1, 500))
      ${emitEach(ctx, { type: 'request.created', subject_type: 'request' }, sql`made`)}`,
  ])
  const rows = await db.asSuperuser(`select distinct tableoid::regclass::text as name,
      'event_' || to_char(now() at time zone 'UTC', 'YYYY"_q"Q') as now, substr(id::text, 15, 1) as version
    from event where request_id = 'r' and subject_id not like '%0000'`)
  const mine = rows.filter(({ version }) => version === '7')
  assert.ok(
    mine.some(({ name, now }) => name === now),
    JSON.stringify(rows),
  )
  assert.ok(!rows.some(({ name, now }) => name !== now), JSON.stringify(rows))
})

test('the service goes on numbering events by itself', async () => {
  const rows = await db.asSuperuser<{ n: number }>(
    'select count(distinct seq)::int - count(*)::int as n from event where tenant_id = $1',
    [tenant_id],
  )
  assert.deepEqual(rows, [{ n: 0 }])
})

test('quarters are added when time goes by, once; a random id of such a time moves with them', async () => {
  const before = await partitions(db)
  await migrate(db.owner)
  assert.deepEqual(await partitions(db), before)
  const strayed = lowestIdAt(new Date('2031-05-05T00:00:00Z'))
  await record(db, tenant_id, strayed)
  assert.equal(await placeOf(db, strayed), 'event_default')
  assert.deepEqual(await addAt(db, '2031-03-31'), [])
  assert.deepEqual(await addAt(db, '2031-03-31'), [])
  const added = (await partitions(db)).filter((name) => !before.includes(name))
  assert.deepEqual(added, ['event_2031_q2', 'event_2031_q3', 'event_2031_q4', 'event_2032_q1'])
  assert.equal(await placeOf(db, strayed), 'event_2031_q2')
})

test('a quarter of which an event is referred to stays with the default partition, and no start fails', async () => {
  const kept = lowestIdAt(new Date('2041-02-01T00:00:00Z'))
  await record(db, tenant_id, kept)
  await db.asSuperuser(
    `insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
      values ($1, 's', $2, now(), 'x')`,
    [tenant_id, kept],
  )
  const said = await addAt(db, '2040-12-31')
  assert.equal(said.length, 1)
  assert.match(said[0] ?? '', /events from 2041-01-01 on have no partition of their own: .* refer to them/)
  assert.equal(await placeOf(db, kept), 'event_default')
  assert.ok((await partitions(db)).includes('event_2041_q2'))
  const [row] = await db.asSuperuser(`select relforcerowsecurity as forced, (select tgenabled::text from pg_trigger
      where tgrelid = 'event_default'::regclass and tgname = 'event_leaves') as leaves
    from pg_class where relname = 'event_default'`)
  assert.deepEqual(row, { forced: true, leaves: 'O' })
})

test('a database with events keeps all of them in their order when it is converted, and what refers to them', async () => {
  const old = await bareDatabase()
  await migrate(old.owner, '0084_sandbox_wakes_sweeps')
  await old.asSuperuser(`insert into tenant (id, name) values ($1, 'Acme')`, [tenant_id])
  const [{ later } = { later: '' }] = await old.asSuperuser<{ later: string }>(
    `select to_char(now() + interval '5 months', 'YYYY-MM-DD') as later`,
  )
  const strayed = lowestIdAt(new Date(later))
  for (const id of [newId(), strayed, lowestIdAt(new Date('2026-01-01')), '00000000-0000-4000-8000-000000000001'])
    await record(old, tenant_id, id)
  await old.asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      select $1, gen_random_uuid(), 'request.created', 'system', 'request', n::text, 'r'
      from generate_series(1, 500) n`,
    [tenant_id],
  )
  const park = (event_id: string) =>
    old.asSuperuser(
      `insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
      values ($1, 's', $2, now(), 'x')`,
      [tenant_id, event_id],
    )
  await park(strayed)
  const all = () => old.asSuperuser('select id, xid::text, seq::text, at, subject_id from event order by xid, seq')
  const before = await all()
  assert.equal(before.length, 504)
  await migrate(old.owner)
  assert.deepEqual(await all(), before)
  assert.notEqual(await placeOf(old, strayed), 'event_default')
  // As the version before wrote, beside it.
  await old.asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      values ($1, gen_random_uuid(), 'request.created', 'system', 'request', 'after', 'r')`,
    [tenant_id],
  )
  const [last] = await old.asSuperuser<{ seq: number; subject_id: string }>(
    'select seq::int, subject_id from event order by seq desc limit 1',
  )
  assert.deepEqual(last, { seq: 505, subject_id: 'after' })
  await assert.rejects(park(newId()), /event_parked_event_id_fk/)
  const keys = await old.asSuperuser(
    `select conname from pg_constraint
      where confrelid = 'event'::regclass and conparentid = 0 and convalidated order by 1`,
  )
  assert.deepEqual(
    keys.map(({ conname }) => conname),
    ['delivery_event_id_fk', 'event_parked_event_id_fk', 'notification_event_id_fk'],
  )
})
