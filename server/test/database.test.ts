import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { inIndexOrder, sql } from '../src/db/sql.ts'
import { findIsolationFaults } from '../src/db/tenant-isolation.ts'
import { newId } from '../src/kernel/id.ts'
import { testDatabase } from './support/database.ts'

const db = await testDatabase()
const tenant_id = newId()
const other_id = newId()

before(async () => {
  for (const id of [tenant_id, other_id]) {
    await db.database.tenant(id).write([sql`insert into tenant (id, name) values (${id}, 'somebody')`])
  }
})

test('a read in one tenant returns no row of another, even without a tenant condition', async () => {
  const rows = await db.database.tenant(tenant_id).read(sql<{ id: string }>`select id from tenant`)
  assert.deepEqual(rows, [{ id: tenant_id }])
})

test('without a tenant there are no rows and no writes', async () => {
  assert.deepEqual(await db.database.service.read(sql`select id from tenant`), [])
  await assert.rejects(
    db.database.service.write([sql`insert into tenant (id, name) values (${newId()}, 'nobody')`]),
    /row-level security/,
  )
})

test('a tenant cannot write a row of another', async () => {
  const stray = sql`insert into setting (tenant_id, key, value) values (${other_id}, 'locale.default', 'de')`
  await assert.rejects(db.database.tenant(tenant_id).write([stray]), /row-level security/)
})

test('the work role finds ids across tenants and cannot read content', async () => {
  const rows = await db.database.work.read(sql<{ id: string }>`select id from tenant order by id`)
  assert.deepEqual(
    rows.map((row) => row.id),
    [tenant_id, other_id].sort(),
  )
  await assert.rejects(db.database.work.read(sql`select name from tenant`), /permission denied/)
})

test('a statement in index order is planned without bitmap scans, and no other one is', async () => {
  const asked = sql<{ bitmaps: string }>`select current_setting('enable_bitmapscan') as bitmaps`
  const tx = db.database.tenant(tenant_id)
  for (const [statement, bitmaps] of [[inIndexOrder(asked), 'off'] as const, [asked, 'on'] as const]) {
    assert.deepEqual(await tx.read(statement), [{ bitmaps }])
    assert.deepEqual(await tx.read(sql`select id from tenant`), [{ id: tenant_id }], 'in its tenant')
  }
})

test('a later failure in a batch rolls the earlier statements back', async () => {
  const tx = db.database.tenant(tenant_id)
  const put = sql`insert into setting (tenant_id, key, value) values (${tenant_id}, 'requests.require_reason', 'true')`
  await assert.rejects(tx.write([put, sql`select 1 / 0`]), /division by zero/)
  assert.deepEqual(await tx.read(sql`select key from setting`), [])
})

test('many tenants at once on a few connections never see a row of each other', async () => {
  const wrong = await Promise.all(
    Array.from({ length: 400 }, async (_, index) => {
      const id = index % 2 === 0 ? tenant_id : other_id
      const rows = await db.database.tenant(id).read(sql<{ id: string }>`select id from tenant`)
      return rows.length === 1 && rows[0]?.id === id ? 0 : 1
    }),
  )
  assert.equal(
    wrong.reduce<number>((sum, one) => sum + one, 0),
    0,
  )
})

test('an interactive transaction that throws leaves nothing', async () => {
  const tx = db.database.tenant(tenant_id)
  const attempt = tx.interactive(async (inside) => {
    await inside.write([sql`insert into setting (tenant_id, key, value) values (${tenant_id}, 'x', 'y')`])
    throw new Error('changed my mind')
  })
  await assert.rejects(attempt, /changed my mind/)
  assert.deepEqual(await tx.read(sql`select key from setting where key = 'x'`), [])
})

test('the isolation check passes for the service role, and names a missing policy', async () => {
  assert.deepEqual(await findIsolationFaults(db.service), [])
  await db.asSuperuser('alter table setting no force row level security')
  assert.deepEqual(await findIsolationFaults(db.service), ['table `setting` has no forced row-level security'])
  await db.asSuperuser('alter table setting force row level security')
})

test('the owner of the tables is refused as the service role', async () => {
  const faults = await findIsolationFaults(db.owner)
  assert.ok(
    faults.some((fault) => fault.includes('owns tables')),
    faults.join('; '),
  )
})

/** The tables that `sallyport_work` may read across tenants, and only their routing columns. */
const workTables: Record<string, { select: string[]; update: string[] }> = {
  access_grant: {
    select: [
      ...['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
      ...['entitlement_id', 'provisioning_status', 'ended_at', 'status', 'clock_back_ms', 'expires_at'],
    ],
    update: ['next_look_at', 'lease_until', 'generation'],
  },
  access_request: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  api_key: { select: ['tenant_id', 'id'], update: [] },
  claimed_groups: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  delivery: { select: ['tenant_id', 'id', 'created_at', 'finished_at'], update: [] },
  delivery_lane: {
    select: ['tenant_id', 'id', 'channel_type', 'failures', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  entitlement: {
    select: [
      'tenant_id',
      'id',
      'next_look_at',
      'lease_until',
      'generation',
      'failures',
      'gives',
      'drift',
      'drifted_at',
      'may_land_until',
    ],
    update: ['next_look_at', 'lease_until', 'generation', 'may_land_until'],
  },
  event: { select: ['tenant_id', 'id', 'type', 'xid', 'seq', 'at'], update: [] },
  event_queue: {
    select: [
      ...['tenant_id', 'id', 'subscriber', 'xid', 'seq', 'until_xid', 'until_seq'],
      ...['next_look_at', 'lease_until', 'generation'],
    ],
    update: ['xid', 'seq', 'until_xid', 'until_seq', 'next_look_at', 'lease_until', 'generation'],
  },
  event_parked: { select: ['tenant_id', 'subscriber', 'event_id', 'next_look_at'], update: [] },
  inventory_part: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  invitation_mail: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  notification: { select: ['user_id', 'xid'], update: [] },
  notification_mail_queue: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  provisioner: { select: ['tenant_id', 'id', 'provisioner_type', 'enabled', 'created_at'], update: [] },
  policy_replay: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  reminder: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['lease_until', 'generation'],
  },
  sign_in_setting: { select: ['tenant_id', 'id', 'enabled'], update: [] },
  sweep: {
    select: [
      ...['tenant_id', 'id', 'swept_at', 'next_look_at', 'lease_until', 'generation'],
      ...['provisioner', 'provisioner_id', 'listed_epoch'],
    ],
    update: ['next_look_at', 'lease_until', 'generation', 'idle'],
  },
  sync_run: {
    select: ['tenant_id', 'id', 'next_look_at', 'lease_until', 'generation'],
    update: ['next_look_at', 'lease_until', 'generation'],
  },
  target_claim: { select: ['tenant_id', 'provisioner_id', 'contested_at'], update: [] },
  tenant: { select: ['id', 'slug', 'mode'], update: [] },
  tenant_key: { select: ['tenant_id', 'root_key_id'], update: [] },
  tenant_mail_domain: { select: ['tenant_id', 'domain'], update: [] },
  user_session: { select: ['tenant_id', 'id', 'provider', 'provider_sub_hash', 'provider_sid_hash'], update: [] },
}

test('the catalogue has every row-level security policy, and every grant of the work role', async () => {
  type Policy = { tablename: string; policyname: string; qual: string; roles: string[]; permissive: string }
  const all = await db.asSuperuser<Policy>(
    `select tablename, policyname, qual, roles::text[], permissive from pg_policies where schemaname = 'public'`,
  )
  const policies = all.filter(({ permissive }) => permissive === 'PERMISSIVE')
  // The others only take away.
  const hiding = all.filter((policy) => !policies.includes(policy))
  assert.deepEqual(
    hiding.map(({ policyname, roles }) => [policyname, ...roles.sort()]),
    [['tenant_being_deleted', 'sallyport_app', 'sallyport_work']],
  )
  const walled = policies.filter((policy) => policy.policyname === 'tenant_wall').map((policy) => policy.tablename)
  const tenantTables = await db.asSuperuser<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'tenant_id'
        -- A partition has no policy, so that only its table leads to its rows.
        and not (select c.relispartition from pg_class c where c.oid = to_regclass('public.' || table_name))
      union select 'tenant'`,
  )
  assert.deepEqual(walled.sort(), tenantTables.map((table) => table.name).sort())
  const workPolicies = policies.filter((policy) => policy.policyname !== 'tenant_wall')
  assert.ok(workPolicies.every((policy) => policy.roles.length === 1 && policy.roles[0] === 'sallyport_work'))
  assert.deepEqual(workPolicies.map((policy) => policy.tablename).sort(), Object.keys(workTables).sort())

  const grants = await db.asSuperuser<{ table_name: string; column_name: string; privilege_type: string }>(
    `select table_name, column_name, privilege_type from information_schema.column_privileges
      where grantee = 'sallyport_work' and table_schema = 'public'
        -- They belong to no tenant.
        and table_name not in ('event_cursor', 'installation')`,
  )
  for (const [table, columns] of Object.entries(workTables)) {
    const held = (privilege: string) =>
      grants
        .filter((grant) => grant.table_name === table && grant.privilege_type === privilege)
        .map((grant) => grant.column_name)
    assert.deepEqual(held('SELECT').sort(), [...columns.select].sort(), `select on ${table}`)
    assert.deepEqual(held('UPDATE').sort(), [...columns.update].sort(), `update on ${table}`)
  }
  assert.deepEqual([...new Set(grants.map((grant) => grant.table_name))].sort(), Object.keys(workTables).sort())
})

test('every foreign key between tenant tables carries the tenant, and has an index that leads with its columns', async () => {
  const keys = await db.asSuperuser<{ name: string; columns: string[]; target: string; indexed: boolean }>(`
    select c.conname as name, c.confrelid::regclass::text as target,
      (select array_agg(a.attname::text order by k.n) from unnest(c.conkey) with ordinality k(attnum, n)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum) as columns,
      exists (select from pg_index i where i.indrelid = c.conrelid
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey) as indexed
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'public'::regnamespace and c.conparentid = 0
      -- The service's own tables belong to no tenant.
      and c.confrelid <> 'root_key'::regclass`)
  for (const key of keys) {
    assert.ok(key.columns.includes('tenant_id'), `${key.name} does not carry tenant_id`)
    assert.ok(key.indexed || key.columns.join() === 'tenant_id', `${key.name} has no index`)
  }
})

test('no view, function or materialized view bypasses tenant isolation', async () => {
  const views = await db.asSuperuser(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`,
  )
  const definers = await db.asSuperuser(
    `select proname from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`,
  )
  assert.deepEqual([views, definers], [[], []])
})

test('an event is never changed, deleted or truncated, not even by the owner of the table', async () => {
  await db.database.tenant(tenant_id).write([
    sql`insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      values (${tenant_id}, ${newId()}, 'tenant.created', 'operator', 'tenant', 'x', 'test')`,
  ])
  await assert.rejects(
    db.database.tenant(tenant_id).write([sql`update event set type = 'nothing'`]),
    /permission denied/,
  )
  await assert.rejects(db.asSuperuser(`update event set type = 'nothing'`), /never changed/)
  await assert.rejects(db.asSuperuser('delete from event'), /never changed/)
})
