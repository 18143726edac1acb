import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** The list of grants follows their entitlements: which provisioner serves them, and whether they drifted. */
const house = await openHouse()
startWorkers(house)
const account = '610000000001'
type Stage = Awaited<ReturnType<typeof driftStage>>

async function idsOf(on: Stage, query: string): Promise<string[]> {
  const { body, status, text } = await on.call(on.people.user, 'GET', `/v1/grants?${query}`)
  assert.equal(status, 200, text)
  return (body.data as { id: string }[]).map(({ id }) => id).sort()
}

test('a grant is drifted from when its removal is found until it is there again, or has ended', async () => {
  const on = await driftStage(house, 'drift in the list', false)
  const access = await on.held(account)
  const other = await on.held('610000000002')
  const drifted = async () => [await idsOf(on, 'drifted=true'), await idsOf(on, 'drifted=false')]
  const [none, both] = [[], [access.grant, other.grant].sort()]
  assert.deepEqual(await drifted(), [none, both])
  await on.byHand.remove(account)
  await on.sweep()
  assert.deepEqual(await drifted(), [[access.grant], [other.grant]])
  assert.equal((await on.view(access)).drifted, true)
  await on.byHand.add(account)
  await on.sweep()
  assert.deepEqual(await drifted(), [none, both])
  await on.byHand.remove(account)
  await on.sweep()
  assert.deepEqual(await drifted(), [[access.grant], [other.grant]])
  await on.revoke(access)
  assert.deepEqual(await drifted(), [none, both])
  assert.equal((await on.view(access)).drifted, false)
})

/** From now on the provisioner serves the tenant's accounts. */
async function serve(on: Stage): Promise<void> {
  await house.asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type) values ($1, $2, 'rehearsal', 'sandbox')`,
    [on.tenant_id, on.provisioner_id],
  )
  await house.asSuperuser(
    `insert into served_resource (tenant_id, resource_type, provisioner_id) values ($1, 'cloud_account', $2)`,
    [on.tenant_id, on.provisioner_id],
  )
}

test('a grant that is planned again is listed with its new provisioner, and so are those that share its access', async () => {
  const on = await driftStage(house, 'another provisioner')
  const ended = await on.held(account)
  const elsewhere = await on.held('610000000003')
  await on.revoke(ended)
  await on.grantsAre(ended.request, 'revoked', 'deprovisioned')
  await on.inject({ failed: 1 })
  const request = await on.ask(on.account(account))
  const [failed] = await on.grantsAre(request, 'failed', 'failed')
  const id = failed?.id ?? ''
  assert.deepEqual(await idsOf(on, 'provisioner_id=sandbox'), [ended.grant, elsewhere.grant, id].sort())

  await serve(on)
  assert.equal((await on.call(on.people.user, 'POST', `/v1/grants/${id}/retry`)).status, 200)
  await on.grantsAre(request, 'active', 'successful')
  assert.deepEqual(await idsOf(on, `provisioner_id=${on.provisioner_id}`), [ended.grant, id].sort())
  assert.deepEqual(await idsOf(on, 'provisioner_id=sandbox'), [elsewhere.grant])
  for (const grant of [ended.grant, id]) {
    const { provisioning, provisioner_name } = await on.view({ grant })
    assert.deepEqual((provisioning.provisioner as { id: string }).id, on.provisioner_id)
    assert.equal(provisioner_name, 'rehearsal')
  }
  const { provisioner_name } = await on.view(elsewhere)
  assert.equal(provisioner_name, 'sandbox')
})

test('a grant that waits to be planned again has no provisioner', async () => {
  const on = await driftStage(house, 'between two plans')
  await on.inject({ failed: 1 })
  const request = await on.ask(on.account(account))
  const [failed] = await on.grantsAre(request, 'failed', 'failed')
  await serve(on)
  await house.asSuperuser('update provisioner set enabled = false where tenant_id = $1', [on.tenant_id])
  assert.equal((await on.call(on.people.user, 'POST', `/v1/grants/${failed?.id}/retry`)).status, 200)
  await until('it was tried', async () => {
    const { provisioning } = await on.view({ grant: failed?.id ?? '' })
    return provisioning.last_error !== null
  })
  const { provisioning, provisioner_name } = await on.view({ grant: failed?.id ?? '' })
  assert.deepEqual([provisioning.provisioner, provisioner_name], [null, null])
  for (const id of ['sandbox', on.provisioner_id]) assert.deepEqual(await idsOf(on, `provisioner_id=${id}`), [])
})

test('the grants of a deleted provisioner are still listed by its id', async () => {
  const on = await driftStage(house, 'a deleted provisioner', false)
  const access = await on.held(account)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  const deleted = await on.call(on.owner, 'DELETE', `/v1/provisioners/${on.provisioner_id}`)
  assert.equal(deleted.status, 204, deleted.text)
  assert.deepEqual(await idsOf(on, `provisioner_id=${on.provisioner_id}`), [access.grant])
  assert.deepEqual(await idsOf(on, 'provisioner_id=sandbox'), [])
  assert.equal((await on.view(access)).provisioner_name, null)
})
