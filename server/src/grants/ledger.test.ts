import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { testDrivers } from '../../test/support/drivers.ts'
import { type InjectedFaults, injectFaults } from '../../test/support/sandbox-faults.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import { startDueWork } from '../jobs/work-list.ts'
import { systemActor, type WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { reauthorize } from '../requests/reauthorize-request.flow.ts'
import { convergeEntitlement } from './converge-entitlement.job.ts'
import { findGrant, insertGrants, revokeLiveGrant } from './grant-store.ts'
import { openEntitlements } from './open-entitlement-store.ts'
import { planGrant } from './plan-grant.job.ts'
import { beginRevokes, settle } from './take-store.ts'

/** Nothing extends the grants of this file. */
const nothing = sql`select`

const db = await testDatabase()
const tenant_id = newId()
const user_id = newId()
const policy_id = newId()
const tx = db.database.tenant(tenant_id)
const ctx: WorkCtx = { tx, actor: systemActor, request_id: 'test' }
const faults: unknown[] = []

before(async () => {
  await tx.write([
    sql`insert into tenant (id, name) values (${tenant_id}, 'ledger')`,
    sql`insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values (${tenant_id}, ${user_id}, 'ada@example.com', 'ada@example.com', 'Ada', 'local')`,
    sql`with made as (insert into policy (tenant_id, id, name, priority) values (${tenant_id}, ${policy_id}, 'all', 1))
      insert into policy_rule (tenant_id, id, policy_id, ordinal, effect, principal_scope_type, action_scope_type,
        action_ids, resource_scope_type, policy_text, audit_session, approval_mode)
      values (${tenant_id}, ${newId()}, ${policy_id}, 1, 'permit', 'any', 'any', '{}', 'any',
        'permit (principal, action, resource);', false, 'auto')`,
  ])
})

const work = startDueWork(
  { takes: db.database, others: db.database },
  [planGrant(testDrivers()), ...convergeEntitlement(testDrivers(), reauthorize, { random: () => 0 })],
  4,
  (error) => faults.push(error),
  (_table, _item, error) => faults.push(error),
)
db.atEnd(async () => {
  await work.stop()
  assert.deepEqual(faults, [])
})

/** An approved request for a place, with its grants, due at once. */
async function approve(resource_id: string, duration_seconds = 3_600): Promise<string> {
  const id = newId()
  const places = [{ type: 'cloud_account', id: resource_id }]
  await tx.write([
    sql`with approved as (
        insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
          approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
        values (${tenant_id}, ${id}, ${user_id}, 'cloud_account', ${resource_id}, 'ReadOnly', 'approved', 'auto', false,
          ${duration_seconds}, '{}', false, '[]', 'token', '127.0.0.1')
        returning *)
      ${insertGrants(places, 'ReadOnly', sql`approved`)}`,
  ])
  work.wake()
  const [grant] = await tx.read(sql<{ id: string }>`select id from access_grant where request_id = ${id}`)
  assert.ok(grant)
  return grant.id
}

async function grantIn(id: string, status: string, provisioning_status: string) {
  return until(`grant ${status}, ${provisioning_status}`, async () => {
    const grant = await findGrant(tx, id)
    return grant?.status === status && grant.provisioning_status === provisioning_status && grant
  })
}

async function atTarget(resource_id: string): Promise<boolean> {
  const rows = await tx.read(sql`select key from sandbox_assignment where position(${resource_id} in key) > 0`)
  return rows.length > 0
}

async function eventTypes(grant_id: string): Promise<string[]> {
  const rows = await tx.read(sql<{ type: string }>`select type from event where subject_id = ${grant_id} order by seq`)
  return rows.map((row) => row.type)
}

/** Moves a time of a grant to now, as if it had passed, and makes its check due. */
async function hasten(grant_id: string, column: 'expires_at' | 'expiring_at' | 'activate_by'): Promise<void> {
  await db.asSuperuser(`update access_grant set ${column} = clock_timestamp() where id = $1`, [grant_id])
  await db.asSuperuser(
    `update entitlement set next_look_at = clock_timestamp()
      where id = (select entitlement_id from access_grant where id = $1)`,
    [grant_id],
  )
  work.wake()
}

/** The entitlement is known to be absent, and no act is under way. */
function cleanedUp(grant_id: string): Promise<boolean> {
  return until('nothing is left at the target', async () => {
    const [row] = await db.asSuperuser<{ gone: boolean }>(
      `select observed = 'absent' and act is null as gone from entitlement
        where id = (select entitlement_id from access_grant where id = $1)`,
      [grant_id],
    )
    return row?.gone
  })
}

const inject = (faults: InjectedFaults) => injectFaults(db.asSuperuser, tenant_id, faults)

test('access is active only once the target confirms it, and lasts from then', async () => {
  const id = await approve('000000000001', 3_600)
  const grant = await grantIn(id, 'active', 'successful')
  assert.ok(await atTarget('000000000001'))
  assert.ok(grant.activated_at !== undefined && grant.expires_at !== undefined)
  assert.equal(Date.parse(grant.expires_at) - Date.parse(grant.activated_at), 3_600_000)
  assert.deepEqual(await eventTypes(id), ['grant.activated'])
})

test('access ends on time: notified before, expired, gone at the target', async () => {
  const id = await approve('000000000002')
  await grantIn(id, 'active', 'successful')
  await hasten(id, 'expiring_at')
  await until('the coming end is notified', async () => (await eventTypes(id)).includes('grant.expiring'))
  assert.ok(await atTarget('000000000002'))
  await hasten(id, 'expires_at')
  await grantIn(id, 'expired', 'deprovisioned')
  assert.equal(await atTarget('000000000002'), false)
  assert.deepEqual(await eventTypes(id), ['grant.activated', 'grant.expiring', 'grant.expired'])
})

test('access that is revoked early is gone at the target', async () => {
  const id = await approve('000000000003')
  await grantIn(id, 'active', 'successful')
  assert.ok('revoked' in (await revokeLiveGrant(ctx, id, 'enough', nothing)))
  work.wake()
  await grantIn(id, 'revoked', 'deprovisioned')
  assert.equal(await atTarget('000000000003'), false)
  assert.deepEqual(await revokeLiveGrant(ctx, id, 'again', nothing), { not_live: 'revoked' })
})

test('two grants of one entitlement: access stays until the last one ends', async () => {
  const first = await approve('000000000004')
  await grantIn(first, 'active', 'successful')
  const second = await approve('000000000004')
  await grantIn(second, 'active', 'successful')
  await hasten(first, 'expires_at')
  await grantIn(first, 'expired', 'deprovisioned')
  assert.ok(await atTarget('000000000004'))
  await hasten(second, 'expires_at')
  await grantIn(second, 'expired', 'deprovisioned')
  assert.equal(await atTarget('000000000004'), false)
})

test('foreign access at the target is never touched', async () => {
  const key = JSON.stringify([user_id, null, 'cloud_account', '000000000005', 'ReadOnly'])
  await tx.write([sql`insert into sandbox_assignment (tenant_id, key) values (${tenant_id}, ${key})`])
  const id = await approve('000000000005')
  await grantIn(id, 'active', 'not_attempted')
  await hasten(id, 'expires_at')
  await grantIn(id, 'expired', 'not_attempted')
  await until('the check is over', async () => {
    const [row] = await db.asSuperuser<{ rested: boolean }>(
      `select next_look_at is null and lease_until is null as rested from entitlement
        where id = (select entitlement_id from access_grant where id = $1)`,
      [id],
    )
    return row?.rested
  })
  assert.ok(await atTarget('000000000005'))
})

test('throttling, conflicts and lost answers are retried, and access is given once', async () => {
  await inject({ throttled: 1, conflicting: 1, forgotten: 1, polls: 3 })
  const id = await approve('000000000006')
  const grant = await grantIn(id, 'active', 'successful')
  assert.equal(grant.last_error, null)
  assert.deepEqual(await eventTypes(id), ['grant.activated'])
  await inject({})
})

test('a target that answers FAILED fails the grant with a reason, and nothing stays behind', async () => {
  await inject({ failed: 1 })
  const id = await approve('000000000007')
  const grant = await grantIn(id, 'failed', 'failed')
  assert.match(grant.last_error ?? '', /FAILED/)
  assert.deepEqual(await eventTypes(id), ['grant.failed'])
  await cleanedUp(id)
  assert.equal(await atTarget('000000000007'), false)
  await inject({})
})

test('access that a failed grant can have left is revoked, and a stuck revoke is notified too', async () => {
  await inject({ failed: 5 })
  const id = await approve('000000000012')
  await grantIn(id, 'failed', 'deprovisioning_failed')
  await grantIn(id, 'failed', 'deprovisioned')
  assert.deepEqual(await eventTypes(id), ['grant.failed', 'grant.failed'])
  await cleanedUp(id)
  await inject({})
})

test('a grant that is revoked while it waits is not given', async () => {
  const id = await approve('000000000013')
  const [seen] = await db.asSuperuser<{ status: string }>('select status from access_grant where id = $1', [id])
  assert.equal(seen?.status, 'pending')
  assert.ok('revoked' in (await revokeLiveGrant(ctx, id, 'never mind', nothing)))
  work.wake()
  await until('nothing is due', async () => {
    const due = await db.asSuperuser(
      `select 1 from access_grant where id = $1 and next_look_at is not null union all
        select 1 from entitlement where next_look_at is not null and target_key like '%000000000013%'`,
      [id],
    )
    return due.length === 0
  })
  assert.equal(await atTarget('000000000013'), false)
})

test('a revoke is never given up: its failures are shown and notified, and it succeeds in the end', async () => {
  const id = await approve('000000000008')
  await grantIn(id, 'active', 'successful')
  await inject({ failed: 4 })
  assert.ok('revoked' in (await revokeLiveGrant(ctx, id, 'enough', nothing)))
  work.wake()
  const failing = await grantIn(id, 'revoked', 'deprovisioning_failed')
  assert.match(failing.last_error ?? '', /FAILED/)
  await grantIn(id, 'revoked', 'deprovisioned')
  assert.equal(await atTarget('000000000008'), false)
  assert.deepEqual(await eventTypes(id), ['grant.activated', 'grant.revoked', 'grant.failed'])
})

test('a grant that is not active in time fails, and access that can have been given is revoked', async () => {
  await inject({ polls: 1_000 })
  const id = await approve('000000000009')
  await grantIn(id, 'pending', 'attempting')
  await hasten(id, 'activate_by')
  await grantIn(id, 'failed', 'failed')
  await inject({})
  await cleanedUp(id)
  assert.equal(await atTarget('000000000009'), false)
})

test('a worker that lost its lease writes nothing', async () => {
  const id = await approve('000000000010')
  await grantIn(id, 'active', 'successful')
  const [entitlement] = await db.asSuperuser<{ id: string; generation: string }>(
    `select id, generation::text from entitlement where id = (select entitlement_id from access_grant where id = $1)`,
    [id],
  )
  assert.ok(entitlement)
  const stale: WorkItem = { tenant_id, id: entitlement.id, generation: String(Number(entitlement.generation) - 1) }
  assert.deepEqual(await openEntitlements(tx, [stale]), [undefined])
  assert.deepEqual(await beginRevokes(tx, [stale]), [false])
  await settle(tx, [{ item: stale, due_at: '2026-01-01', wait_ms: 0, last: { gone: null } }])
  const [after] = await db.asSuperuser<{ observed: string }>('select observed from entitlement where id = $1', [
    entitlement.id,
  ])
  assert.equal(after?.observed, 'present')
})

test('the database refuses to reopen an ended grant', async () => {
  const id = await approve('000000000011')
  await grantIn(id, 'active', 'successful')
  assert.ok('revoked' in (await revokeLiveGrant(ctx, id, null, nothing)))
  await assert.rejects(
    db.asSuperuser(`update access_grant set status = 'active', ended_at = null where id = $1`, [id]),
    /does not go from revoked\/deprovisioning to active\/deprovisioning/,
  )
})
