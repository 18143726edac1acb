import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driversWith } from '../../test/support/drivers.ts'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { type Driver, TargetError } from '../provisioners/driver.ts'
import { reauthorize } from '../requests/reauthorize-request.flow.ts'
import { convergeEntitlement } from './converge-entitlement.job.ts'
import { planGrant } from './plan-grant.job.ts'

/** A target that is down for a day. The test moves the times of the ledger as if the day had passed in failures. */
const house = await openHouse()
let isAway = false
const drivers = driversWith((sandbox) => {
  const unlessAway =
    <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      if (isAway) throw new TargetError('transient', 'the target is away')
      return call(...args)
    }
  const { grant, revoke, poll, verify } = sandbox
  return {
    grant: unlessAway(grant),
    revoke: unlessAway(revoke),
    poll: unlessAway(poll),
    verify: unlessAway(verify),
  } satisfies Partial<Driver>
})
startWorkers(house, [planGrant(drivers), ...convergeEntitlement(drivers, reauthorize, { random: () => 0 })])
const on = await requestStage(house, 'outage of a day')
await on.rule('@approval_mode("auto") permit (principal, action, resource);')

type Kept = { failures: number; waits_ms: number | null; observed: string; act: string | null }

async function entitlementOf(account: string): Promise<Kept> {
  const [row] = await house.asSuperuser<Kept>(
    `select failures, observed, act, (extract(epoch from next_look_at - updated_at) * 1000)::float8 as waits_ms
      from entitlement where tenant_id = $1 and target_key like $2`,
    [on.tenant_id, `%${account}%`],
  )
  assert.ok(row)
  return row
}

const failedTimes = (account: string, times: number) =>
  until(`it has failed ${times} times`, async () => (await entitlementOf(account)).failures >= times)

/** The failures of a day, at least one a minute. */
const failuresOfADay = 1_440

async function letADayPass(account: string): Promise<void> {
  await house.asSuperuser(
    `with aged as (
        update entitlement set failures = failures + ${failuresOfADay}, next_look_at = clock_timestamp()
        where tenant_id = $1 and target_key like $2 returning id)
      update access_grant g set ended_at = ended_at - interval '1 day', alarmed_at = alarmed_at - interval '1 day',
        expires_at = expires_at - interval '1 day', activated_at = activated_at - interval '1 day',
        activate_by = activate_by - interval '1 day'
      from aged where g.tenant_id = $1 and g.entitlement_id = aged.id`,
    [on.tenant_id, `%${account}%`],
  )
}

const typesOf = async (id: string) => (await on.eventsOf(id)).map(({ type }) => type)

test('a revoke that fails for a day is done when the target is back, and was notified once (F7)', async () => {
  const account = '700000000001'
  const request = await on.ask(on.account(account))
  const [grant] = await on.grantsAre(request, 'active', 'successful')
  assert.ok(grant)
  isAway = true
  const revoked = await on.call(on.people.user, 'POST', `/v1/grants/${grant.id}/revoke`)
  assert.equal(revoked.status, 200, revoked.text)
  await failedTimes(account, 5)
  const expectedTypes = ['grant.activated', 'grant.revoked', 'grant.failed']
  assert.deepEqual(await typesOf(grant.id), expectedTypes)
  await letADayPass(account)
  await failedTimes(account, failuresOfADay + 10)
  assert.deepEqual(await typesOf(grant.id), expectedTypes)
  const view = await on.call(on.people.user, 'GET', `/v1/grants/${grant.id}`)
  assert.equal(view.body.provisioning_status, 'deprovisioning_failed')
  assert.match(view.text, /the target is away/)
  assert.equal(await on.heldAt(account), 1)
  isAway = false
  await on.grantsAre(request, 'revoked', 'deprovisioned')
  assert.equal(await on.heldAt(account), 0)
  assert.deepEqual(await typesOf(grant.id), expectedTypes)
  const { failures, act, observed } = await entitlementOf(account)
  assert.deepEqual({ failures, act, observed }, { failures: 0, act: null, observed: 'absent' })
})

test('a grant that is not given in time fails with a reason, and late effects are checked for all day (F7)', async () => {
  const account = '700000000002'
  isAway = true
  const request = await on.ask(on.account(account))
  await on.grantsHang(request)
  await failedTimes(account, 3)
  const [grant] = await on.grantsOf(request)
  assert.ok(grant)
  assert.equal(grant.status, 'pending')
  // The hour for the grant passes, and then the day.
  await letADayPass(account)
  const late = await until('it has failed', async () =>
    (await on.grantsOf(request)).find(({ status }) => status === 'failed'),
  )
  assert.equal(late.end_reason, 'access could not be given in time')
  await failedTimes(account, failuresOfADay + 10)
  // An unanswered call has given the access after all.
  await house.asSuperuser(
    `insert into sandbox_assignment (tenant_id, key) select tenant_id, target_key from entitlement
      where tenant_id = $1 and target_key like $2`,
    [on.tenant_id, `%${account}%`],
  )
  isAway = false
  await until('nothing is left at the target', async () => {
    const { act, observed } = await entitlementOf(account)
    return act === null && observed === 'absent'
  })
  assert.equal(await on.heldAt(account), 0)
  // One for access that was not given, and one for access that cannot be revoked.
  assert.deepEqual(await typesOf(grant.id), ['grant.failed', 'grant.failed'])
  assert.equal((await on.grantsOf(request))[0]?.status, 'failed')
})
