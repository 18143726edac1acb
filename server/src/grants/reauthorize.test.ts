import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDrivers } from '../../test/support/drivers.ts'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'
import type { DueWork } from '../jobs/work-list.ts'
import { newId } from '../kernel/id.ts'
import { reauthorize, whyNotGiven } from '../requests/reauthorize-request.flow.ts'
import { convergeEntitlement } from './converge-entitlement.job.ts'
import { planGrant } from './plan-grant.job.ts'

/** Policy evaluates a request again right before its access is given: changes since the approval count. */
const house = await openHouse()
const stage = (name: string) => requestStage(house, name)

const permit = '@approval_mode("require") permit (principal, action, resource);'
const auto = '@approval_mode("auto") permit (principal, action, resource);'
const emergency = '@approval_mode("break_glass") permit (principal, action, resource);'
const forbid = '@notice("closed since") forbid (principal, action, resource);'

async function withWorkers<Result>(
  work: () => Promise<Result>,
  works?: Parameters<typeof startWorkers>[1],
): Promise<Result> {
  const workers = startWorkers(house, works)
  try {
    return await work()
  } finally {
    await workers.stop()
  }
}

test('a request approved by a person and forbidden since fails with a reason, and its decisions are stored', async () => {
  const on = await stage('forbidden since')
  await on.rule(permit)
  const request = await on.approve(await on.ask(on.account('300000000001')))
  await on.rule(forbid)
  const [grant] = await withWorkers(() => on.grantsAre(request, 'failed', 'failed'))
  assert.match(grant?.end_reason ?? '', /^policy no longer permits it: a rule \(closed since\) forbids `ReadOnly`/)
  assert.equal(await on.heldAt('300000000001'), 0)
  const [event] = await on.eventsOf(grant?.id ?? '')
  assert.equal(event?.type, 'grant.failed')
  assert.deepEqual([event?.data.request_id, event?.data.cause], [request, 'policy_denied'])
  const decisions = await house.asSuperuser(
    'select question_kind, allowed, principal_id, rule_ids from decision where request_id = $1 order by id',
    [request],
  )
  assert.deepEqual(
    decisions.map(({ question_kind, allowed }) => [question_kind, allowed]),
    [
      ['ask', true],
      ['approve', true],
      ['ask_again', false],
    ],
  )
  assert.deepEqual(decisions[2]?.rule_ids, event?.data.rule_ids)
  assert.equal(decisions[2]?.principal_id, on.people.user.user_id)
})

test('a request approved by a person is given under any approval mode that permits it now', async () => {
  const on = await stage('another mode')
  const takeAway = await on.rule(permit)
  const request = await on.approve(await on.ask(on.account('300000000001')))
  await takeAway()
  await on.rule(auto)
  await withWorkers(() => on.grantsAre(request, 'active', 'successful'))
})

test('a request approved by rule fails if it needs a person now', async () => {
  const on = await stage('no longer auto')
  await on.rule(auto)
  const request = await on.ask(on.account('300000000001'))
  await on.rule('@approval_mode("auto") @notice("ask somebody") forbid (principal, action, resource);')
  const [grant] = await withWorkers(() => on.grantsAre(request, 'failed', 'failed'))
  assert.match(
    grant?.end_reason ?? '',
    /^policy no longer approves it without a person: .*ask somebody.*a person decides/,
  )
})

test('an emergency request fails if no rule permits the emergency any more', async () => {
  const on = await stage('emergencies')
  const takeAway = await on.rule(emergency)
  const asking = (id: string) => on.account(id, { break_glass: true, reason: 'the site is down' })
  const first = await on.ask(asking('300000000001'))
  await withWorkers(() => on.grantsAre(first, 'active', 'successful'))
  const second = await on.ask(asking('300000000002'))
  await takeAway()
  await on.rule(auto)
  const [grant] = await withWorkers(() => on.grantsAre(second, 'failed', 'failed'))
  assert.match(grant?.end_reason ?? '', /no rule permits .* in an emergency/)
})

for (const [decided_by, approval_mode, mode, given] of [
  ['grace', 'require', 'require', true],
  ['grace', 'require', 'auto', true],
  ['grace', 'require', null, false],
  [null, 'auto', 'auto', true],
  [null, 'auto', 'require', false],
  [null, 'auto', null, false],
  [null, 'break_glass', 'break_glass', true],
  [null, 'break_glass', null, false],
] as const) {
  test(`decided by ${decided_by ?? 'no person'} as ${approval_mode}, now ${mode ?? 'denied'}: ${given ? 'given' : 'not given'}`, () => {
    const decision = { allowed: mode !== null, mode, reasoning: 'so it is' }
    assert.equal(whyNotGiven({ decided_by, approval_mode }, decision) === undefined, given)
  })
}

test('reauthorization uses the duration, credential type and address of the request', async () => {
  const on = await stage('circumstances')
  await on.rule(
    `@approval_mode("auto") permit (principal, action, resource) when {
      context.via == "api_key" && context.duration_seconds == 600 && context.has_reason && context.source_ip.isLoopback() };`,
  )
  const reply = await house.call({
    method: 'POST',
    url: '/v1/requests',
    tenant_id: on.tenant_id,
    api_key: on.people.user.api_key,
    body: on.account('300000000001', { duration_seconds: 600, reason: 'to look' }),
  })
  assert.equal(reply.status, 201, reply.text)
  await withWorkers(() => on.grantsAre(String(reply.body.id), 'active', 'successful'))
})

test('reauthorization uses current facts: a role taken away, an account moved out of its unit', async () => {
  const on = await stage('fresh facts')
  const unit = 'ou-ab12-12345678'
  await on.cache({ '300000000001': { units: [unit] }, '300000000002': { units: [unit] } })
  await on.rule(
    `@approval_mode("auto") permit (principal in Role::"user", action, resource in cloud_organizational_unit::"${unit}");`,
  )
  const moved = await on.ask(on.account('300000000001'))
  const stayed = await on.ask(on.account('300000000002'))
  await on.cache({ '300000000001': { units: [] } })
  await withWorkers(async () => {
    await on.grantsAre(moved, 'failed', 'failed')
    await on.grantsAre(stayed, 'active', 'successful')
  })
  const demoted = await on.ask(on.account('300000000002', { action: 'PowerUser' }))
  await house.asSuperuser(`delete from user_role where tenant_id = $1 and user_id = $2`, [
    on.tenant_id,
    on.people.user.user_id,
  ])
  await withWorkers(() => on.grantsAre(demoted, 'failed', 'failed'))
})

test('a request for a unit is not given at all if one of its accounts is forbidden since', async () => {
  const on = await stage('fan-out')
  const unit = 'ou-ab12-12345678'
  await on.cache({ '300000000001': { units: [unit] }, '300000000002': { units: [unit] } })
  await on.rule(auto)
  const body = { resource: { type: 'cloud_organizational_unit', id: unit }, action: 'ReadOnly' }
  const request = await on.ask(body)
  await on.rule('forbid (principal, action, resource == cloud_account::"300000000002");')
  const grants = await withWorkers(() => on.grantsAre(request, 'failed', 'failed'))
  assert.equal(grants.length, 2)
  for (const { end_reason } of grants)
    assert.match(end_reason ?? '', /forbids .* on an account of cloud_organizational_unit `ou-ab12-12345678`/)
  assert.equal((await on.heldAt('300000000001')) + (await on.heldAt('300000000002')), 0)
})

test('a grant that joins held access is reauthorized too; the first grant keeps the access', async () => {
  const on = await stage('joining')
  await on.rule(permit)
  const first = await on.approve(await on.ask(on.account('300000000001')))
  await withWorkers(() => on.grantsAre(first, 'active', 'successful'))
  const second = await on.approve(await on.ask(on.account('300000000001')))
  await on.rule(forbid)
  await withWorkers(() => on.grantsAre(second, 'failed', 'failed'))
  await withWorkers(() => on.grantsAre(first, 'active', 'successful'))
  assert.equal(await on.heldAt('300000000001'), 1)
})

test('a grant that arrives while another is being given is reauthorized by itself', async () => {
  const on = await stage('meanwhile')
  await on.rule(permit)
  await on.inject({ polls: 1_000 })
  const first = await on.approve(await on.ask(on.account('300000000001', { duration_seconds: 600 })))
  await withWorkers(() => on.grantsAre(first, 'pending', 'attempting'))
  const second = await on.approve(await on.ask(on.account('300000000001', { duration_seconds: 1_200 })))
  await withWorkers(() => on.grantsHang(second))
  await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 600 };')
  await on.inject({})
  await withWorkers(async () => {
    await on.grantsAre(first, 'active', 'successful')
    await on.grantsAre(second, 'failed', 'failed')
  })
})

/** Workers between whose evaluation and write this happens, once. */
function interrupted(happening: () => Promise<unknown>): DueWork[] {
  let happened = false
  const reauthorizeThenInterrupt: typeof reauthorize = async (tx, ids) => {
    const word = await reauthorize(tx, ids)
    if (!happened) {
      happened = true
      await happening()
    }
    return word
  }
  return [planGrant(testDrivers()), ...convergeEntitlement(testDrivers(), reauthorizeThenInterrupt)]
}

for (const joins of [false, true]) {
  const where = joins ? 'joining held access' : 'giving'

  test(`a change of rules between the evaluation and ${where} causes another evaluation, by the new rules (R7)`, async () => {
    const on = await stage(`race of rules, ${where}`)
    await on.rule(permit)
    if (joins) {
      const first = await on.approve(await on.ask(on.account('300000000001')))
      await withWorkers(() => on.grantsAre(first, 'active', 'successful'))
    }
    const forbidden = await on.approve(await on.ask(on.account('300000000001')))
    const works = interrupted(() => on.rule(forbid))
    await withWorkers(() => on.grantsAre(forbidden, 'failed', 'failed'), works)
    assert.equal(await on.heldAt('300000000001'), joins ? 1 : 0)
  })

  test(`a change of rules that forbids nothing does not prevent ${where} (R7)`, async () => {
    const on = await stage(`harmless race, ${where}`)
    await on.rule(permit)
    if (joins) {
      const first = await on.approve(await on.ask(on.account('300000000001')))
      await withWorkers(() => on.grantsAre(first, 'active', 'successful'))
    }
    const request = await on.approve(await on.ask(on.account('300000000001')))
    const works = interrupted(() => on.rule('forbid (principal == User::"nobody", action, resource);'))
    await withWorkers(() => on.grantsAre(request, 'active', 'successful'), works)
  })

  for (const [verb, change] of [
    ['deactivated', 'active = false'],
    ['suspended', `suspended_until = now() + interval '1 hour'`],
  ]) {
    test(`a holder who is ${verb} between the evaluation and ${where} is given nothing (R6, P35)`, async () => {
      const on = await stage(`race of people, ${where}`)
      await on.rule(permit)
      if (joins) await house.asSuperuser('insert into sandbox_assignment (tenant_id, key) values ($1, $2)', keyOf(on))
      const request = await on.approve(await on.ask(on.account('300000000001')))
      // As if the change had not reached their grants yet.
      const leave = () => house.asSuperuser(`update tenant_user set ${change} where id = $1`, [on.people.user.user_id])
      const [grant] = await withWorkers(() => on.grantsAre(request, 'failed', 'failed'), interrupted(leave))
      assert.match(grant?.end_reason ?? '', /the account is deactivated or suspended/)
      assert.equal(await on.heldAt('300000000001'), joins ? 1 : 0)
    })
  }
}

test('a rule that is removed between the evaluation and the refusal refuses nothing (R7)', async () => {
  const on = await stage('lifted')
  await on.rule(permit)
  const request = await on.approve(await on.ask(on.account('300000000001')))
  const lift = await on.rule(forbid)
  await withWorkers(() => on.grantsAre(request, 'active', 'successful'), interrupted(lift))
})

test('reauthorizing a request that does not exist is an error', async () => {
  const on = await stage('nothing there')
  await on.rule(permit)
  const known = await on.ask(on.account('300000000001'))
  for (const ids of [[newId()], [known, newId()]]) {
    await assert.rejects(reauthorize(house.database.tenant(on.tenant_id), ids), /does not exist/)
  }
})

test('the end of access is not evaluated by policy', async () => {
  const on = await stage('ending')
  await on.rule(permit)
  const request = await on.approve(await on.ask(on.account('300000000001')))
  let [grant] = await withWorkers(() => on.grantsAre(request, 'active', 'successful'))
  assert.equal((await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`)).status, 200)
  const never: typeof reauthorize = () => Promise.reject(new Error('policy was evaluated'))
  const works = [planGrant(testDrivers()), ...convergeEntitlement(testDrivers(), never)]
  ;[grant] = await withWorkers(() => on.grantsAre(request, 'revoked', 'deprovisioned'), works)
  await until('nothing is left', async () => (await on.heldAt('300000000001')) === 0)
})

/** The sandbox's key for the user's access to the account. */
function keyOf(on: Awaited<ReturnType<typeof stage>>): [string, string] {
  const { user_id } = on.people.user
  return [on.tenant_id, JSON.stringify([user_id, '300000000001', 'cloud_account', '300000000001', 'ReadOnly'])]
}
