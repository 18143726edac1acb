import assert from 'node:assert/strict'
import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { useOwnServer } from '../../test/support/backup-database.ts'
import { seedService, seedTenant } from '../../test/support/backup-seed.ts'
import { type TestDatabase, testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { type ConnectionTarget, connectAlone } from '../db/client/connect.ts'
import { newId } from '../kernel/id.ts'
import { writeBackup, writeExport } from './backup.ts'
import { listTenantTables } from './backup-tables.ts'
import { beginDeletion, findUnfinishedDeletion, finishDeletion, listDeletedTenants } from './delete-tenant.ts'
import { inspectExport } from './inspect-export.ts'

const stopServer = await useOwnServer()
const db = await testDatabase()
after(stopServer)
await seedService(db)
const bystander = (await seedTenant(db, 'Bystander')).tenant_id

const folder = await mkdtemp(join(tmpdir(), 'sallyport-delete-'))
after(() => rm(folder, { recursive: true }))
let files = 0

/** A suspended tenant that has a row in every table and holds nothing. */
async function aTenant(name: string): Promise<string> {
  const { tenant_id } = await seedTenant(db, name)
  await db.asSuperuser('update tenant set suspended_at = now() where id = $1', [tenant_id])
  await db.asSuperuser(
    `update entitlement set act = null, act_reference = null, next_look_at = null, observed = 'absent',
        may_land_until = null where tenant_id = $1`,
    [tenant_id],
  )
  await db.asSuperuser('alter table access_grant disable trigger user')
  await db.asSuperuser(
    `update access_grant set status = 'revoked', provisioning_status = 'deprovisioned', ended_at = now()
      where tenant_id = $1 and status in ('pending', 'active')`,
    [tenant_id],
  )
  await db.asSuperuser('alter table access_grant enable trigger user')
  return tenant_id
}

async function exported(tenant_id: string) {
  const file = join(folder, `${++files}.export`)
  await writeExport(db.service, tenant_id, file)
  return { file, held: await inspectExport(file) }
}

const record = (tenant_id: string) =>
  db.asSuperuser(
    `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      values ($1, $2, 'tenant.resumed', 'operator', 'tenant', $1::uuid::text, 'r')`,
    [tenant_id, newId()],
  )

async function tenantTables({ owner }: TestDatabase) {
  const client = await connectAlone(owner)
  try {
    return await listTenantTables(client)
  } finally {
    await client.end()
  }
}

/** Every row of every table with rows of tenants, those of one tenant or of all others. */
async function rowsOf(tenant_id: string, isTheirs: boolean): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {}
  for (const { name, tenant_column } of await tenantTables(db)) {
    const rows = await db.asSuperuser<{ line: string }>(
      `select to_jsonb(t)::text as line from ${name} t where (${tenant_column} = $1) = $2 order by 1`,
      [tenant_id, isTheirs],
    )
    all[name] = rows.map(({ line }) => line)
  }
  return all
}

const left = async (tenant_id: string) =>
  Object.entries(await rowsOf(tenant_id, true)).flatMap(([name, rows]) => (rows.length === 0 ? [] : [name]))

async function as<Result>(target: ConnectionTarget, tenant_id: string, text: string, role?: string): Promise<Result[]> {
  const client = await connectAlone(target)
  try {
    await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
    if (role !== undefined) await client.query(`set role ${role}`)
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('a tenant is deleted from all tables, and no row of another is touched', async () => {
  const tenant_id = await aTenant('Acme')
  await db.asSuperuser(`update tenant set slug = 'acme' where id = $1`, [tenant_id])
  const before = await rowsOf(tenant_id, true)
  const empty = Object.entries(before).flatMap(([name, rows]) => (rows.length === 0 ? [name] : []))
  assert.deepEqual(empty, [], 'the test has a row for every table')
  const others = await rowsOf(tenant_id, false)
  const { held } = await exported(tenant_id)
  await beginDeletion(db.owner, held)
  assert.equal((await findUnfinishedDeletion(db.owner, 'acme'))?.id, tenant_id)
  const deleted = await finishDeletion(db.owner, tenant_id)
  assert.deepEqual(await left(tenant_id), [])
  assert.deepEqual(await rowsOf(tenant_id, false), others)
  const seeded = Object.values(before).reduce((sum, rows) => sum + rows.length, 0)
  assert.ok(deleted.deleted_rows >= seeded, `${deleted.deleted_rows} of ${seeded}`)
  assert.deepEqual([deleted.name, deleted.slug, deleted.export_sha256], ['Acme', 'acme', held.sha256])
  assert.ok(deleted.deleted_at !== null)
  assert.deepEqual(await listDeletedTenants(db.owner), [deleted])
  assert.equal(await findUnfinishedDeletion(db.owner, tenant_id), undefined)
})

test('a deletion that was interrupted goes on', async () => {
  const tenant_id = await aTenant('Interrupted')
  await beginDeletion(db.owner, (await exported(tenant_id)).held)
  const stopping = new AbortController()
  const onRows = (rows: number) => {
    if (rows >= 10) stopping.abort(new Error('stopped by the test'))
  }
  await assert.rejects(finishDeletion(db.owner, tenant_id, { onRows, signal: stopping.signal }), /stopped by the test/)
  const between = await left(tenant_id)
  assert.ok(between.includes('event') || between.includes('tenant'), between.join())
  const unfinished = await findUnfinishedDeletion(db.owner, tenant_id.toUpperCase())
  assert.ok((unfinished?.deleted_rows ?? 0) >= 10)
  const { deleted_rows } = await finishDeletion(db.owner, tenant_id)
  assert.ok(deleted_rows > (unfinished?.deleted_rows ?? 0))
  assert.deepEqual(await left(tenant_id), [])
})

suite('a deletion does not begin', () => {
  const refused: [string, (tenant_id: string) => Promise<unknown>, RegExp][] = [
    [
      'for a tenant that is not suspended',
      (id) => db.asSuperuser('update tenant set suspended_at = null where id = $1', [id]),
      /not suspended/,
    ],
    ['where something was recorded after the export', record, /events 1: export again/],
    [
      'while a grant is live',
      async (id) => {
        await db.asSuperuser('alter table access_grant disable trigger user')
        await db.asSuperuser(
          `update access_grant set status = 'pending', provisioning_status = 'not_attempted', ended_at = null,
            activated_at = null, expires_at = null
            where id = (select id from access_grant where tenant_id = $1 limit 1)`,
          [id],
        )
        await db.asSuperuser('alter table access_grant enable trigger user')
      },
      /live grants 1: .*--end-access/,
    ],
    ...[
      "entitlement set act = 'revoke'",
      "entitlement set observed = 'unknown'",
      'entitlement set next_look_at = now()',
      "entitlement set may_land_until = now() + interval '1 hour'",
      'orphan set id = (select id from entitlement where tenant_id = $1 limit 1)',
      'provisioner set created_at = (select to_timestamp(epoch - 1) from installation)',
    ].map((state): [string, (tenant_id: string) => Promise<unknown>, RegExp] => [
      `while access may be at a target: ${state}`,
      (id) => db.asSuperuser(`update ${state} where tenant_id = $1`, [id]),
      /may still be at its targets/,
    ]),
  ]
  for (const [name, change, why] of refused) {
    test(name, async () => {
      const tenant_id = await aTenant(name)
      const { held } = await exported(tenant_id)
      await change(tenant_id)
      await assert.rejects(beginDeletion(db.owner, held), why)
      assert.equal(await findUnfinishedDeletion(db.owner, tenant_id), undefined)
    })
  }

  test('where an event is missing in the file, though the last one is there', async () => {
    const tenant_id = await aTenant('a late commit')
    const { held } = await exported(tenant_id)
    await assert.rejects(beginDeletion(db.owner, { ...held, events: held.events - 1 }), /export again/)
    const dropped = { ...held, events: held.events + 5, last_event_id: newId() }
    await assert.rejects(beginDeletion(db.owner, dropped), /since it was made: export again/)
  })

  test('by a file that is cut short, holds several tenants, or is no export', async () => {
    const tenant_id = await aTenant('by a wrong file')
    const { file } = await exported(tenant_id)
    await truncate(file, 200)
    await assert.rejects(inspectExport(file), /damaged/)
    const whole = join(folder, 'whole.backup')
    await writeBackup(db.service, whole)
    await assert.rejects(inspectExport(whole), /holds \d+ tenants/)
    await assert.rejects(inspectExport(join(folder, 'none')), /no file/)
  })
})

suite('no event is recorded that the file lacks', () => {
  const insert = `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
    values (current_setting('app.tenant_id')::uuid, gen_random_uuid(), 'request.expired', 'system', 'x', 'x', 'r')`
  const gone = { code: '23001', constraint: 'event_has_its_tenant' }

  test('by a worker, after the deletion began', async () => {
    const [tenant_id, other] = [await aTenant('worked on'), await aTenant('only suspended, and worked on')]
    await beginDeletion(db.owner, (await exported(tenant_id)).held)
    await assert.rejects(as(db.service, tenant_id, insert), gone)
    await as(db.service, other, insert)
  })

  test('by a call that waited while the deletion began', async () => {
    const tenant_id = await aTenant('raced')
    const [owner, service] = [await connectAlone(db.owner), await connectAlone(db.service)]
    try {
      for (const client of [owner, service]) {
        await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
      }
      await service.query(`set lock_timeout = '60s'; set application_name = 'raced'`)
      await owner.query('begin')
      await owner.query('select from tenant where id = $1 for update', [tenant_id])
      const refused = assert.rejects(service.query(insert), gone)
      const waiting = `select from pg_stat_activity
        where application_name = 'raced' and wait_event_type = 'Lock'`
      await until('the event waits', async () => (await db.asSuperuser(waiting)).length === 1)
      await owner.query('update tenant set deleting_since = clock_timestamp() where id = $1', [tenant_id])
      await owner.query('commit')
      await refused
    } finally {
      await Promise.all([owner.end(), service.end()])
    }
  })
})

suite('events, comments and system roles leave only with their tenant', () => {
  const texts = {
    event: 'delete from event',
    request_comment: 'delete from request_comment',
    role: 'delete from role where system',
  }

  test('the owner of the tables cannot delete those of a tenant that is not being deleted, suspended or not', async () => {
    const suspended = await aTenant('only suspended')
    for (const id of [bystander, suspended]) {
      for (const text of Object.values(texts)) {
        await assert.rejects(as(db.owner, id, text), { code: '23001' })
      }
    }
    for (const text of Object.values(texts)) await assert.rejects(db.asSuperuser(text), { code: '23001' })
  })

  test('no role of the service can, nor change them, nor open the door, while the tenant is being deleted', async () => {
    const tenant_id = await aTenant('half deleted')
    await beginDeletion(db.owner, (await exported(tenant_id)).held)
    const before = await rowsOf(tenant_id, true)
    for (const role of [undefined, 'sallyport_work']) {
      const acts = [texts.event, texts.request_comment, `update event set type = 'x'`, 'truncate event']
      const doors = [
        'update tenant set deleting_since = now()',
        `insert into deleted_tenant (id, name, export_sha256) values (gen_random_uuid(), 'x', repeat('0', 64))`,
        'select * from deleted_tenant',
        'delete from tenant',
      ]
      for (const text of [...acts, ...doors]) {
        await assert.rejects(as(db.service, tenant_id, text, role), { code: '42501' }, `${role} ${text}`)
      }
    }
    // The service has rights to delete roles of a tenant: the system's stay.
    await assert.rejects(as(db.service, tenant_id, texts.role), { code: '23001' })
    await assert.rejects(as(db.owner, tenant_id, `update event set type = 'x'`), { code: '23001' })
    await assert.rejects(as(db.owner, tenant_id, 'truncate event cascade'), { code: '23001' })
    assert.deepEqual(await rowsOf(tenant_id, true), before)
  })

  test('the owner, behind the wall of a tenant that is being deleted, touches no row of another', async () => {
    const tenant_id = await aTenant('behind the wall')
    await beginDeletion(db.owner, (await exported(tenant_id)).held)
    const others = await rowsOf(tenant_id, false)
    for (const table of ['past_gift', 'favourite', 'kept_answer', 'event_queue'])
      await as(db.owner, tenant_id, `delete from ${table}`)
    await as(db.owner, tenant_id, 'delete from request_comment')
    assert.deepEqual(await rowsOf(tenant_id, false), others)
  })
})

test('the service no longer sees a tenant that is being deleted, and cannot resume it', async () => {
  const tenant_id = await aTenant('hidden')
  await assert.rejects(
    db.asSuperuser('update tenant set deleting_since = now(), suspended_at = null where id = $1', [tenant_id]),
    /tenant_deleting_since_ck/,
  )
  const sees = async (role?: string) => (await as(db.service, tenant_id, 'select id from tenant', role)).length
  const [own, all] = [await sees(), await sees('sallyport_work')]
  await beginDeletion(db.owner, (await exported(tenant_id)).held)
  assert.deepEqual([await sees(), await sees('sallyport_work')], [own - 1, all - 1])
  const resumed = await as(db.service, tenant_id, 'update tenant set suspended_at = null returning id')
  assert.deepEqual(resumed, [])
  await assert.rejects(
    db.asSuperuser('update tenant set suspended_at = null where id = $1', [tenant_id]),
    /tenant_deleting_since_ck/,
  )
})
