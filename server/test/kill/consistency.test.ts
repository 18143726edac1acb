import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { testDatabase } from '../support/database.ts'
import { findLost } from './acknowledged.ts'
import { findFaults, findUnderWay } from './consistency.ts'
import { holdsAtSandbox } from './sandbox-field.ts'

/** The check must be able to find each kind of fault. */
const { asSuperuser: query } = await testDatabase()
const [tenant_id, user_id, request_id, grant_id, entitlement_id] = [newId(), newId(), newId(), newId(), newId()]
await query(`insert into tenant (id, name) values ($1, 'consistency')`, [tenant_id])
await query(
  `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
    values ($1, $2, 'ada@example.com', 'ada@example.com', 'Ada', 'local')`,
  [tenant_id, user_id],
)

async function faults(): Promise<string[]> {
  return (await findFaults(query, await holdsAtSandbox(query)))
    .map(({ kind, what }) => `${kind}: ${what.replaceAll(/[0-9a-f-]{36}/g, '…')}`)
    .sort()
}

test('an empty database has no fault, and nothing is in progress', async () => {
  assert.deepEqual([await faults(), await findUnderWay(query)], [[], []])
})

test('access that a target holds without a grant is dangling', async () => {
  await query(`insert into sandbox_assignment (tenant_id, key) values ($1, 'k')`, [tenant_id])
  assert.deepEqual(await faults(), ['dangling: held without a grant: k'])
})

test('finds an approval without its grant, its events and its decision', async () => {
  await query(
    `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status, approval_mode,
        break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
      values ($1, $2, $3, 'cloud_account', '1', 'Look', 'approved', 'auto', false, 600, '{}', false,
        '[{"type": "cloud_account", "id": "1"}]', 'token', '127.0.0.1')`,
    [tenant_id, request_id, user_id],
  )
  assert.deepEqual(await faults(), [
    'dangling: held without a grant: k',
    'doubled: the request …, approved, has 0 grants for 1 places',
    'unreported: no decision is stored for …',
    'unreported: no event request.approved of …',
    'unreported: no event request.created of …',
  ])
  const exchange = { method: 'POST', path: '/v1/requests', status: 201, body: { id: request_id, status: 'denied' } }
  assert.match(String(await findLost(query, [exchange])), /answered as denied, is approved/)
})

test('finds access that is wanted and not held, with no check due', async () => {
  await query(
    `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, observed)
      values ($1, $2, 'sandbox', 'other', '{}', false, 'absent')`,
    [tenant_id, entitlement_id],
  )
  await query(
    `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
        duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by)
      values ($1, $2, $3, $4, 'a grant', 'cloud_account', '1', 'Look', 600, 'active', 'successful', $5,
        clock_timestamp(), clock_timestamp() + interval '10 minutes', clock_timestamp() + interval '1 hour')`,
    [tenant_id, grant_id, request_id, user_id, entitlement_id],
  )
  const seen = await faults()
  assert.deepEqual(seen.slice(0, 3), [
    'dangling: held without a grant: k',
    'dangling: no check is due for the entitlement …',
    'dangling: wanted and not held: other',
  ])
  assert.ok(seen.includes('unreported: no event grant.activated of …'))
})

test('finds an event without a matching state, written twice, without a notification', async () => {
  for (const id of [newId(), newId()]) {
    await query(
      `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        values ($1, $2, 'grant.revoked', 'system', 'grant', $3, 'test')`,
      [tenant_id, id, grant_id],
    )
  }
  const seen = await faults()
  assert.ok(seen.includes('doubled: 2 times grant.revoked of …'))
  assert.equal(
    seen.filter((fault) => fault === 'unreported: the event grant.revoked of … does not match any state').length,
    2,
  )
  assert.equal(seen.filter((fault) => /was not notified of grant.revoked/.test(fault)).length, 2)
})
