import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person, type TestTenant } from '../support/house.ts'
import { until } from '../support/wait.ts'

/** Two tenants that are given access on accounts with the same number, by real workers. */
const house = await openHouse()
const ours = await house.tenant('ours')
const theirs = await house.tenant('theirs')
house.app.startWorkers()

type Grant = { id: string; status: string; provisioning_status: string }

function call({ tenant_id }: TestTenant, { token }: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token, tenant_id, ...(body !== undefined && { body }) })
}

async function given(tenant: TestTenant): Promise<string> {
  const policy = await call(tenant, tenant.owner, 'POST', '/v1/policies', { name: 'at once' })
  const rule = { effect: 'permit', approval_mode: 'auto' }
  await call(tenant, tenant.owner, 'POST', `/v1/policies/${policy.body.id}/rules`, rule)
  const resource = { type: 'cloud_account', id: '123456789012' }
  const reply = await call(tenant, tenant.people.user, 'POST', '/v1/requests', { resource, action: 'ReadOnly' })
  assert.equal(reply.status, 201, reply.text)
  return (await grantThat(tenant, ({ status }) => status === 'active')).id
}

function grantThat(tenant: TestTenant, wanted: (grant: Grant) => boolean): Promise<Grant> {
  return until('the grant has the wanted state', async () => {
    const { body } = await call(tenant, tenant.people.user, 'GET', '/v1/grants')
    return (body.data as Grant[]).find(wanted)
  })
}

const heldBy = ({ tenant_id }: TestTenant) =>
  house.asSuperuser<{ key: string }>('select key from sandbox_assignment where tenant_id = $1', [tenant_id])

test('one tenant’s access is never the other’s, and ending it ends nothing there (T15)', async () => {
  const [mine] = await Promise.all([given(ours), given(theirs)])
  for (const tenant of [ours, theirs]) {
    const held = await heldBy(tenant)
    assert.equal(held.length, 1)
    assert.ok(held[0]?.key.includes(tenant.people.user.user_id))
  }
  assert.equal((await call(theirs, theirs.owner, 'POST', `/v1/grants/${mine}/revoke`, {})).status, 404)
  assert.equal((await call(ours, ours.people.user, 'POST', `/v1/grants/${mine}/revoke`, {})).status, 200)
  await grantThat(ours, ({ provisioning_status }) => provisioning_status === 'deprovisioned')
  assert.deepEqual(await heldBy(ours), [])
  assert.equal((await heldBy(theirs)).length, 1)
  await grantThat(
    theirs,
    ({ status, provisioning_status }) => status === 'active' && provisioning_status === 'successful',
  )
})
