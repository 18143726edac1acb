import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** A failed grant is retried while the hour of its approval lasts. */
const house = await openHouse()
startWorkers(house)
const on = await requestStage(house, 'second tries')
const { owner, people } = on
await on.rule('@approval_mode("auto") permit (principal, action, resource);')

const retry = (id: string, person: Person = people.user) => on.call(person, 'POST', `/v1/grants/${id}/retry`)

/** A request whose target refused it, and the grant that failed; nothing of it is left at the target. */
async function refusedByTarget(account: string): Promise<{ request: string; id: string }> {
  await on.inject({ failed: 1 })
  const request = await on.ask(on.account(account, { duration_seconds: 600 }))
  const [grant] = await on.grantsAre(request, 'failed', 'failed')
  assert.ok(grant)
  await until('nothing is left', async () => {
    const rows = await house.asSuperuser(
      `select 1 from entitlement where tenant_id = $1 and target_key like $2 and act is null and observed = 'absent'`,
      [on.tenant_id, `%${account}%`],
    )
    return rows.length > 0
  })
  return { request, id: grant.id }
}

async function momentsOf(id: string): Promise<Record<string, unknown>> {
  const [row] = await house.asSuperuser(
    `select activate_by, duration_seconds, extract(epoch from expires_at - activated_at)::integer as lasts
      from access_grant where id = $1`,
    [id],
  )
  return row ?? {}
}

async function notRetryable(id: string, status: string, why: RegExp, person?: Person): Promise<void> {
  const reply = await retry(id, person)
  assert.match(String(reply.body.message), why)
  assert.deepEqual([reply.status, reply.body.code, reply.body.details], [409, 'grant_not_retryable', { status }])
}

test('a retry of a grant that its target refused gives access once, for the requested duration (P17)', async () => {
  const { request, id } = await refusedByTarget('400000000001')
  const before = await momentsOf(id)
  const retried = await retry(id)
  assert.deepEqual([retried.status, retried.body.status, retried.body.end_reason], [200, 'pending', null])
  await on.grantsAre(request, 'active', 'successful')
  assert.deepEqual(await momentsOf(id), { ...before, lasts: 600 })
  assert.equal(await on.heldAt('400000000001'), 1)
  assert.deepEqual(
    (await on.eventsOf(id)).map((event) => event.type),
    ['grant.failed', 'grant.retried', 'grant.activated'],
  )
})

test('a retry during the clean-up gives access once', async () => {
  const account = '400000000002'
  await on.inject({ failed: 1, polls: 1_000 })
  const request = await on.ask(on.account(account))
  const [grant] = await on.grantsAre(request, 'failed', 'failed')
  await cleanUpBegun(account)
  assert.equal((await retry(grant?.id ?? '')).status, 200)
  await on.grantsHang(request)
  await on.inject({})
  await on.grantsAre(request, 'active', 'successful')
  assert.equal(await on.heldAt(account), 1)
})

test('one of two concurrent retries succeeds', async () => {
  const { request, id } = await refusedByTarget('400000000003')
  const replies = await Promise.all([retry(id), retry(id)])
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 409])
  await on.grantsAre(request, 'active', 'successful')
  const events = await on.eventsOf(id)
  assert.equal(events.filter((event) => event.type === 'grant.activated').length, 1)
})

test('only a failed grant can be retried, not a pending, active or revoked one', async () => {
  await on.inject({ polls: 1_000 })
  const waiting = await on.ask(on.account('400000000004'))
  const [pending] = await on.grantsAre(waiting, 'pending', 'attempting')
  await notRetryable(pending?.id ?? '', 'pending', /it has not failed, it is pending/)
  await on.inject({})
  const [active] = await on.grantsAre(waiting, 'active', 'successful')
  await notRetryable(active?.id ?? '', 'active', /it is active/)
  await on.call(people.user, 'POST', `/v1/grants/${active?.id}/revoke`)
  await notRetryable(active?.id ?? '', 'revoked', /it is revoked/)
  await on.grantsAre(waiting, 'revoked', 'deprovisioned')
})

test('a failed grant cannot be retried more than an hour after its approval', async () => {
  const { id } = await refusedByTarget('400000000005')
  await house.asSuperuser('update access_grant set activate_by = clock_timestamp() where id = $1', [id])
  await notRetryable(id, 'failed', /its deadline to begin has passed/)
})

test('a grant that has been active cannot be retried (P17)', async () => {
  const { id } = await refusedByTarget('400000000006')
  await house.asSuperuser(
    'update access_grant set activated_at = clock_timestamp(), expires_at = clock_timestamp() where id = $1',
    [id],
  )
  await notRetryable(id, 'failed', /it cannot begin again/)
})

test('a grant of another user can be retried only by a caller who can revoke it; an unknown grant is not found', async () => {
  const { request, id } = await refusedByTarget('400000000007')
  for (const person of [people.approver, people.auditor]) {
    const reply = await retry(id, person)
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
  }
  assert.equal((await retry(request, owner)).status, 404)
  assert.equal((await retry(id, people.admin)).status, 200)
  await on.grantsAre(request, 'active', 'successful')
})

test('policy is evaluated at every retry: refused while it forbids, given once it does not', async () => {
  const { request: failing, id } = await refusedByTarget('400000000009')
  const open = await on.rule('@notice("closed") forbid (principal, action, resource == cloud_account::"400000000009");')
  assert.equal((await retry(id)).status, 200)
  const [still] = await on.grantsAre(failing, 'failed', 'failed')
  assert.match(still?.end_reason ?? '', /closed/)
  await open()
  assert.equal((await retry(id)).status, 200)
  await on.grantsAre(failing, 'active', 'successful')
})

test('a grant of a deactivated or suspended user cannot be retried (R6, P35)', async () => {
  const { id } = await refusedByTarget('400000000010')
  for (const [leave, comeBack] of [
    ['active = false', 'active = true'],
    [`suspended_until = now() + interval '1 hour'`, 'suspended_until = now()'],
  ]) {
    await house.asSuperuser(`update tenant_user set ${leave} where id = $1`, [people.user.user_id])
    await notRetryable(id, 'failed', /its holder is deactivated or suspended/, people.admin)
    await house.asSuperuser(`update tenant_user set ${comeBack} where id = $1`, [people.user.user_id])
  }
})

/** Waits until a revoke act for the account is under way. */
function cleanUpBegun(account: string): Promise<boolean> {
  return until('the clean-up has begun', async () => {
    const rows = await house.asSuperuser(
      `select 1 from entitlement where tenant_id = $1 and target_key like $2 and act = 'revoke'
        and act_reference is not null`,
      [on.tenant_id, `%${account}%`],
    )
    return rows.length > 0
  })
}
