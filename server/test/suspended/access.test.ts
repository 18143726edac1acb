import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { findRuleSet, readRuleSetVersion } from '../../src/policy-engine/deciding/rule-set-store.ts'
import { endAccessOfTenant } from '../../src/requests/end-tenant-access.flow.ts'
import { reauthorize } from '../../src/requests/reauthorize-request.flow.ts'
import { resumeTenant, suspendTenant } from '../../src/tenants/suspend-tenant.flow.ts'
import { ageGrants } from '../support/age-grants.ts'
import { openHouse } from '../support/house.ts'
import { requestStage } from '../support/request-stage.ts'
import { until } from '../support/wait.ts'
import { startWorkers } from '../support/workers.ts'

/** A suspended tenant gets nothing new; what it has ends at its time, or at once. */
const house = await openHouse()
const { database } = house
const permit = '@approval_mode("require") permit (principal, action, resource);'
const auto = '@approval_mode("auto") permit (principal, action, resource);'

async function withWorkers<Result>(work: () => Promise<Result>): Promise<Result> {
  const workers = startWorkers(house)
  try {
    return await work()
  } finally {
    await workers.stop()
  }
}

async function stage(name: string, rule = permit) {
  const on = await requestStage(house, name)
  await on.rule(rule)
  return { ...on, suspend: (more = {}) => suspendTenant(database, on.tenant_id, more) }
}

suite('access in a suspended tenant', { concurrency: false }, () => {
  test('that was approved and not yet given fails with the reason, and can be retried after the suspension', async () => {
    const on = await stage('approved')
    const request = await on.approve(await on.ask(on.account('300000000001')))
    await on.suspend()
    const [grant] = await withWorkers(() => on.grantsAre(request, 'failed', 'failed'))
    assert.equal(grant?.end_reason, 'policy no longer permits it: the operator suspended this tenant')
    assert.equal(await on.heldAt('300000000001'), 0)
    assert.equal((await on.eventsOf(String(grant?.id))).at(-1)?.type, 'grant.failed')
    await resumeTenant(database, on.tenant_id)
    const retried = await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/retry`)
    assert.equal(retried.status, 200, retried.text)
    await withWorkers(() => on.grantsAre(request, 'active', 'successful'))
  })

  test('is not given on the word of an evaluation from before the suspension', async () => {
    const on = await stage('evaluated before', auto)
    const request = await on.ask(on.account('300000000001'))
    const tx = database.tenant(on.tenant_id)
    const before = await reauthorize(tx, [request])
    assert.equal(before.refused.size, 0)
    const stillSo = async () => {
      const [row] = await tx.read(sql<{ so: boolean }>`select ${before.rulesUnchanged} as so`)
      return row?.so
    }
    assert.equal(await stillSo(), true)
    await on.suspend()
    assert.equal(await stillSo(), false, 'the write that depends on it writes nothing')
    assert.deepEqual([...(await reauthorize(tx, [request])).refused.keys()], [request])
    await resumeTenant(database, on.tenant_id)
    assert.equal(await stillSo(), false)
    assert.equal((await reauthorize(tx, [request])).refused.size, 0)
    assert.equal((await findRuleSet(tx, await readRuleSetVersion(tx))).suspended, undefined)
  })

  test('that is active goes on, and ends at its time', async () => {
    const on = await stage('active')
    const request = await on.approve(await on.ask(on.account('300000000001')))
    await withWorkers(async () => {
      await on.grantsAre(request, 'active', 'successful')
      await on.suspend()
      assert.equal(await on.heldAt('300000000001'), 1)
      await ageGrants(house.asSuperuser, 'request_id', request, 24 * 60)
      await on.grantsAre(request, 'expired', 'deprovisioned')
      await until('it is gone', async () => (await on.heldAt('300000000001')) === 0)
    })
  })

  test('ends at once where the operator says so, with all that waits, and again where some was left', async () => {
    const on = await stage('ended')
    const other = await stage('untouched')
    const elsewhere = await other.ask(other.account('300000000001'))
    const request = await on.approve(await on.ask(on.account('300000000001')))
    await withWorkers(async () => {
      await on.grantsAre(request, 'active', 'successful')
      const waits = await on.ask(on.account('300000000002'))
      assert.deepEqual((await on.suspend()).ended, undefined)
      const { changed, ended } = await on.suspend({ endAccess: endAccessOfTenant })
      assert.deepEqual([changed, ended], [false, { requests_cancelled: 1, grants_ended: 1 }])
      await on.grantsAre(request, 'revoked', 'deprovisioned')
      assert.equal(await on.heldAt('300000000001'), 0)
      const events = [...(await on.eventsOf(waits)), ...(await on.eventsOf((await on.grantsOf(request))[0]?.id ?? ''))]
      const types = events.map(({ type }) => type)
      assert.ok(types.includes('request.cancelled') && types.includes('grant.revoked'), types.join(' '))
    })
    assert.deepEqual((await on.suspend({ endAccess: endAccessOfTenant })).ended, {
      requests_cancelled: 0,
      grants_ended: 0,
    })
    const left = await house.asSuperuser('select status from access_request where id = $1', [elsewhere])
    assert.deepEqual(left, [{ status: 'pending' }])
  })
})
