import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { testDrivers } from '../../test/support/drivers.ts'
import { seedManyGrants } from '../../test/support/many-grants.ts'
import { type InjectedFaults, injectFaults } from '../../test/support/sandbox-faults.ts'
import { until } from '../../test/support/wait.ts'
import { startDueWork } from '../jobs/work-list.ts'
import { reauthorize } from '../requests/reauthorize-request.flow.ts'
import { convergeEntitlement } from './converge-entitlement.job.ts'

/** Many grants that end at one instant: they are revoked in batches, each as if it were alone. */
const db = await testDatabase()
const { asSuperuser } = db
const faults: unknown[] = []

function startWork(maxCallMs?: number) {
  const means = { random: () => 0, ...(maxCallMs !== undefined && { maxCallMs }) }
  const works = convergeEntitlement(testDrivers(), reauthorize, means)
  const onFault = (error: unknown) => faults.push(error)
  const work = startDueWork({ takes: db.database, others: db.database }, works, 4, onFault, (_table, _item, error) =>
    onFault(error),
  )
  db.atEnd(async () => {
    await work.stop()
    assert.deepEqual(faults, [])
  })
  return work
}

async function instant(): Promise<string> {
  const [row] = await asSuperuser<{ now: string }>('select clock_timestamp()::text as now')
  return row?.now ?? ''
}

function gone(tenant_ids: readonly string[]): Promise<boolean> {
  return until('all grants are deprovisioned', async () => {
    const left = await asSuperuser(
      `select from access_grant where tenant_id = any($1) and provisioning_status <> 'deprovisioned' limit 1`,
      [tenant_ids],
    )
    return left.length === 0
  })
}

async function inject(tenant_ids: readonly string[], faults: InjectedFaults): Promise<void> {
  for (const tenant_id of tenant_ids) await injectFaults(asSuperuser, tenant_id, faults)
}

/** How many rows the query finds for these tenants. */
async function count(question: string, tenant_ids: readonly string[]): Promise<number> {
  const [row] = await asSuperuser<{ count: number }>(`select count(*)::int from (${question}) found`, [tenant_ids])
  return row?.count ?? -1
}

test('300 grants that end at one instant are each revoked once and notified once, and nothing is left behind (F11)', async () => {
  const tenants = await seedManyGrants(asSuperuser, 300, 3, await instant())
  const work = startWork()
  await gone(tenants)
  const of = (question: string) => count(question, tenants)
  assert.equal(await of('select from sandbox_assignment where tenant_id = any($1)'), 0)
  assert.equal(
    await of(`select distinct key from sandbox_operation where tenant_id = any($1) and kind = 'delete'`),
    300,
  )
  assert.equal(await of('select from sandbox_operation where tenant_id = any($1)'), 300)
  const expiredEvents = `select subject_id, request_id from event where tenant_id = any($1) and type = 'grant.expired'`
  assert.equal(await of(expiredEvents), 300)
  assert.equal(
    await of(`${expiredEvents} and request_id = 'entitlement:' || subject_id`),
    300,
    'each by its own worker',
  )
  assert.equal(await of(`select from event where tenant_id = any($1)`), 300)
  const rested = `observed = 'absent' and act is null and failures = 0 and lease_until is null and next_look_at is null`
  assert.equal(await of(`select from entitlement where tenant_id = any($1) and ${rested}`), 300)
  await work.stop()
})

test('a revoke that is throttled, in conflict, failing or unanswered for long is never given up (F7)', async () => {
  const tenants = await seedManyGrants(asSuperuser, 40, 1, await instant())
  await inject(tenants, { polls: 2, throttled: 50, conflicting: 50, forgotten: 50, failed: 50 })
  const work = startWork()
  await gone(tenants)
  assert.equal(await count('select from sandbox_assignment where tenant_id = any($1)', tenants), 0)
  const failed = `select subject_id from event where tenant_id = any($1) and type = 'grant.failed'`
  assert.ok((await count(failed, tenants)) > 0, 'the stuck revoke is notified')
  assert.equal(
    await count(`select distinct subject_id from (${failed}) each_once`, tenants),
    await count(failed, tenants),
  )
  await work.stop()
})

test('a revoke that times out is shown as failed on the grant, and tried again (F7)', async () => {
  const tenants = await seedManyGrants(asSuperuser, 20, 1, await instant())
  await inject(tenants, { delay_ms: 3_600_000 })
  const work = startWork(200)
  await until('all of them are shown as stuck', async () => {
    const stuck = `select from access_grant where tenant_id = any($1) and provisioning_status = 'deprovisioning_failed'
      and last_error ~ 'did not answer within'`
    return (await count(stuck, tenants)) === 20
  })
  await inject(tenants, {})
  await gone(tenants)
  assert.equal(await count('select from sandbox_assignment where tenant_id = any($1)', tenants), 0)
  await work.stop()
})

test('a tenant whose target hangs delays no revoke of another tenant', async () => {
  const ends = await instant()
  const hung = await seedManyGrants(asSuperuser, 50, 1, ends)
  await inject(hung, { delay_ms: 3_600_000 })
  const others = await seedManyGrants(asSuperuser, 50, 2, ends)
  const work = startWork()
  await gone(others)
  assert.equal(await count('select from sandbox_assignment where tenant_id = any($1)', hung), 50)
  await work.stop()
  const left = `select from entitlement where tenant_id = any($1) and act = 'revoke' and lease_until is null
    and next_look_at is not null`
  assert.equal(await count(left, hung), 50, 'a revoke that hangs at the stop is left for the next process')
})

test('a locked row does not hold up the other rows of its batch', async () => {
  const tenants = await seedManyGrants(asSuperuser, 30, 1, await instant())
  await asSuperuser('begin')
  const [locked] = await asSuperuser<{ id: string }>(
    'select id from access_grant where tenant_id = $1 order by id limit 1 for update',
    tenants,
  )
  const work = startWork()
  const gone = `select from access_grant where tenant_id = any($1) and provisioning_status = 'deprovisioned'`
  await until('all others are gone', async () => (await count(gone, tenants)) === 29)
  await asSuperuser('commit')
  await until('the locked one is gone too', async () => (await count(gone, tenants)) === 30)
  assert.ok(faults.splice(0).length > 0, `waiting for ${locked?.id} was reported`)
  await work.stop()
})
