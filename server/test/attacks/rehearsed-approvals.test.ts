import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { rehearsalStage } from '../support/rehearsal-stage.ts'
import { until } from '../support/wait.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

/** An owner approves their own request as a colleague of the rehearsal, for a target that is still turned off, and turns it on. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })

test('what was approved in the rehearsal is never given for real, and not by a retry either (P38)', async () => {
  const stage = await rehearsalStage(house, 'puppet')
  const { call, owner } = stage
  const receiver = await startReceiver('whsec_')
  after(() => receiver.stop())
  house.app.startWorkers()
  const policy = await call(owner, 'POST', '/v1/policies', { name: 'Own' })
  await call(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
  const target = await call(owner, 'POST', '/v1/provisioners', {
    ...{ name: 'Door system', provisioner_type: 'webhook', enabled: false },
    config: { url: receiver.url },
    serves: [{ resource_type: 'cloud_account' }],
  })
  const { signing_secret } = target.body.shown_once as { signing_secret: string }
  receiver.secret = signing_secret
  const asked = await stage.request(owner, '123456789012', 'AdministratorAccess')
  const ada = await stage.become('ada')
  assert.equal((await call(ada, 'POST', `/v1/requests/${asked.body.id}/approve`, {})).status, 200)
  assert.equal((await call(owner, 'PATCH', `/v1/provisioners/${target.body.id}`, { enabled: true })).status, 200)
  assert.equal(await stage.modeNow(), 'live')

  await stage.rows('update access_grant set next_look_at = now() where tenant_id = $1 and next_look_at is not null')
  const grants = () => stage.rows<{ id: string; status: string }>(`select * from access_grant where tenant_id = $1`)
  await until('the grant has failed', async () => (await grants()).every(({ status }) => status === 'failed'))
  const [grant] = await grants()
  const retried = await call(owner, 'POST', `/v1/grants/${grant?.id}/retry`)
  assert.deepEqual([retried.status, retried.body.code], [409, 'grant_not_retryable'])
  assert.match(String(retried.body.message), /approved in the rehearsal/)
  assert.deepEqual(receiver.received, [])
})
