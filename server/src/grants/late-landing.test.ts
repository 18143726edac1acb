import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** Access that is ended while it is being given, at targets that carry out calls late. */
const house = await openHouse()
const auto = '@approval_mode("auto") permit (principal, action, resource);'
const account = '400000000001'

async function stage(name: string) {
  const on = await requestStage(house, name)
  await on.rule(auto)
  const { tenant_id } = on
  const operations = (kind: 'create' | 'delete') =>
    house.asSuperuser<{ key: string; polls_left: number }>(
      'select key, polls_left from sandbox_operation where tenant_id = $1 and kind = $2',
      [tenant_id, kind],
    )
  const makeCheckDue = () =>
    house.asSuperuser('update entitlement set next_look_at = clock_timestamp() where tenant_id = $1', [tenant_id])
  /** What the ledger knows about the entitlement, and whether another check is due. */
  const entitlement = async () => {
    const [row] = await house.asSuperuser<{ observed: string; act: string | null; looks_again: boolean }>(
      'select observed, act, next_look_at is not null as looks_again from entitlement where tenant_id = $1',
      [tenant_id],
    )
    return row
  }
  const revoke = async (request: string) => {
    const [grant] = await on.grantsOf(request)
    const reply = await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`)
    assert.equal(reply.status, 200, reply.text)
  }
  /** A call that gives access is not answered, and the access is revoked and seen absent. Returns the key under which it may still come. */
  async function loseAnswer(): Promise<string> {
    const request = await on.ask(on.account(account))
    const [begun] = await until('a call was begun and not answered', async () => {
      const begun = await operations('create')
      return begun.length > 0 && begun
    })
    await until('the lost call is recorded', async () => (await entitlement())?.act === null)
    await revoke(request)
    await on.inject({})
    await until('it is observed absent', async () => (await entitlement())?.observed === 'absent')
    return String(begun?.key)
  }
  return { ...on, operations, makeCheckDue, entitlement, revoke, loseAnswer }
}

test('a grant revoked while its create is under way ends revoked and absent at the target (R3)', async () => {
  const on = await stage('slow create')
  await on.inject({ polls: 1_000 })
  const { stop } = startWorkers(house)
  const request = await on.ask(on.account(account))
  await on.grantsAre(request, 'pending', 'attempting')
  await on.revoke(request)
  assert.equal((await on.operations('delete')).length, 0)
  await on.inject({})
  await on.grantsAre(request, 'revoked', 'deprovisioned')
  const [created] = await on.operations('create')
  assert.equal(created?.polls_left, 0, 'the create was carried out')
  assert.equal(await on.heldAt(account), 0)
  await until('no check is due', async () => (await on.entitlement())?.looks_again === false)
  assert.deepEqual(await on.entitlement(), { observed: 'absent', act: null, looks_again: false })
  await stop()
})

test('the late effect of an unanswered call is found and revoked after the revocation (R3)', async () => {
  const on = await stage('lost answer')
  await on.inject({ forgotten: 1, throttled: 1_000 })
  const { stop } = startWorkers(house)
  const key = await on.loseAnswer()
  assert.deepEqual(await on.entitlement(), { observed: 'absent', act: null, looks_again: true })

  await house.asSuperuser('insert into sandbox_assignment (tenant_id, key) values ($1, $2)', [on.tenant_id, key])
  await on.makeCheckDue()
  await until('it is revoked', async () => (await on.heldAt(account)) === 0)
  await until('it is observed absent again', async () => (await on.entitlement())?.observed === 'absent')

  // A new grant that finds the access there does not take it for foreign access.
  await house.asSuperuser('insert into sandbox_assignment (tenant_id, key) values ($1, $2)', [on.tenant_id, key])
  const second = await on.ask(on.account(account))
  await on.grantsAre(second, 'active', 'successful')
  await on.revoke(second)
  await on.grantsAre(second, 'revoked', 'deprovisioned')
  assert.equal(await on.heldAt(account), 0)
  await stop()
})

test('a revocation without an answer is repeated before the access is given again', async () => {
  const on = await stage('lost revocation')
  const { stop } = startWorkers(house)
  const first = await on.ask(on.account(account))
  await on.grantsAre(first, 'active', 'successful')
  await on.inject({ throttled: 1_000 })
  await on.revoke(first)
  const failures = async () => {
    const [row] = await house.asSuperuser<{ failures: number }>(
      'select failures from entitlement where tenant_id = $1',
      [on.tenant_id],
    )
    return row?.failures ?? 0
  }
  await until('the revocation has failed', async () => (await failures()) > 0)
  const second = await on.ask(on.account(account))
  await on.grantsHang(second)
  // It still has the access, and would lose it to the revocation that may come late.
  const seen = await failures()
  await until('the revocation was repeated', async () => {
    const [grant] = await on.grantsOf(second)
    assert.equal(grant?.status, 'pending')
    const [ended] = await on.grantsOf(first)
    assert.notEqual(ended?.provisioning_status, 'deprovisioned', 'its access is still there')
    return (await failures()) > seen
  })
  await on.inject({})
  await on.grantsAre(second, 'active', 'successful')
  await on.grantsAre(first, 'revoked', 'deprovisioned')
  const [deleted, created] = [await on.operations('delete'), await on.operations('create')]
  assert.deepEqual([deleted.length, created.length, await on.heldAt(account)], [1, 2, 1])
  await stop()
})

test('a late effect is found that came while no process ran, after the time for which it is checked', async () => {
  const on = await stage('outage')
  await on.inject({ forgotten: 1, throttled: 1_000 })
  const before = startWorkers(house)
  const key = await on.loseAnswer()
  await before.stop()

  // The next check was due in twelve minutes, and no process ran for an hour.
  await house.asSuperuser('insert into sandbox_assignment (tenant_id, key) values ($1, $2)', [on.tenant_id, key])
  await house.asSuperuser(
    `update entitlement set may_land_until = clock_timestamp() - interval '45 minutes',
      next_look_at = clock_timestamp() - interval '48 minutes' where tenant_id = $1`,
    [on.tenant_id],
  )
  const { stop } = startWorkers(house)
  await until('it is revoked', async () => (await on.heldAt(account)) === 0)
  await until('no check is due', async () => (await on.entitlement())?.looks_again === false)
  await stop()
})
