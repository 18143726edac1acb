import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import type { Driver } from '../../src/provisioners/driver.ts'
import type { Drivers } from '../../src/provisioners/drivers.ts'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** The directory of Identity Center is read by the connection of a provisioner, which others may change. */
const house = await openHouse()
const identity_store_id = 'd-1234567890'

async function centerStage(meanwhile: (provisioner_id: string) => Promise<unknown>) {
  const tenant = await house.tenant('Acme')
  const provisioner_id = newId()
  await house.asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type, enabled, config)
      values ($1, $2, 'AWS', 'aws-identity-center', false, $3)`,
    [tenant.tenant_id, provisioner_id, JSON.stringify({ instance_arn: 'arn', identity_store_id })],
  )
  async function* readDirectory() {
    yield { people: [member('a')] }
    await meanwhile(provisioner_id)
  }
  // A sync run uses no more of a driver.
  const drivers: Drivers = {
    of: async () => ({ readDirectory }) as unknown as Driver,
    beat: async () => true,
    close: async () => undefined,
  }
  const provider_type = 'cloud_identity_center'
  return syncStage(house, tenant, { provider_type, config: { provisioner_id, identity_store_id }, drivers })
}

test('it is read by the provisioner that the config names', async () => {
  const { sync, users } = await centerStage(async () => undefined)
  assert.equal((await sync()).status, 'synced')
  assert.equal((await users()).length, 1)
})

test('nobody is made of what was read while the provisioner was changed: it may be another directory', async () => {
  const { call, url, claim, run, get, users } = await centerStage((provisioner_id) =>
    house.asSuperuser('update provisioner set version = version + 1 where id = $1', [provisioner_id]),
  )
  const asked = await call('POST', `${url}/sync`, {})
  await run(await claim())
  assert.equal((await get(String(asked.body.id))).status, 'syncing', 'it is tried again')
  assert.deepEqual(await users(), [])
})
