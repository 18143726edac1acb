import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Refusal } from '../support/client.ts'
import { type Person, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

type Grant = { id: string; status: string; provisioning_status: string; expires_at: string; ended_at?: string }
type UserNotification = { event_type: string; resource_id: string }

const sallyport = await startOnTestServer()
const { asSuperuser } = sallyport
const key = sallyport.client({ api_key: sallyport.bootstrap.api_key })
const ada = await sallyport.join('Ada', ['user'])

const policy = await key<{ id: string }>('POST', '/v1/policies', { name: 'On time' })
const rules = `/v1/policies/${policy.body.id}/rules`
await key('POST', rules, { effect: 'permit' })
await key('POST', rules, { effect: 'permit', action_scope_type: 'eq', action_ids: ['Look'], approval_mode: 'auto' })

async function ask(person: Person, action: string): Promise<string> {
  const resource = { type: 'cloud_account', id: '123456789012' }
  const body = { resource, action, reason: 'a look', duration_seconds: 60 }
  const reply = await person.call<{ id: string }>('POST', '/v1/requests', body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return reply.body.id
}

function grantOf(request_id: string, wanted: (grant: Grant) => boolean): Promise<Grant> {
  return until('the grant has the wanted state', async () => {
    const { body } = await ada.call<Page<Grant>>('GET', `/v1/grants?request_id=${request_id}`)
    return body.data.find(wanted)
  })
}

function untilNotified(event_type: string, resource_id: string): Promise<UserNotification> {
  return until(`Ada has a notification of ${event_type}`, async () => {
    const { body } = await ada.call<Page<UserNotification>>('GET', '/v1/users/me/notifications')
    return body.data.find((one) => one.event_type === event_type && one.resource_id === resource_id)
  })
}

test('access ends on time, is revoked, and its holder is notified', async (t) => {
  const request_id = await ask(ada, 'Look')
  const { id } = await grantOf(request_id, ({ status }) => status === 'active')
  const held = () => asSuperuser(`select key from sandbox_assignment where key like '%"Look"%'`)
  assert.equal((await held()).length, 1)

  // Sets its end to a moment from now: the ledger's check is due at the end, as always.
  await asSuperuser(
    `with nearer as (update access_grant set activated_at = clock_timestamp() - interval '59.3 seconds',
        expires_at = clock_timestamp() + interval '0.7 seconds' where id = $1 returning *)
     update entitlement set next_look_at = nearer.expires_at from nearer where entitlement.id = nearer.entitlement_id`,
    [id],
  )
  const ended = await grantOf(request_id, ({ status }) => status !== 'active')
  assert.equal(ended.status, 'expired')
  const late = Date.parse(ended.ended_at ?? '') - Date.parse(ended.expires_at)
  assert.ok(late >= 0 && late < 2_000, `it ended ${late} ms after its end`)
  await grantOf(request_id, ({ provisioning_status }) => provisioning_status === 'deprovisioned')
  assert.deepEqual(await held(), [])
  await untilNotified('grant.expired', id)
  const refused = await ada.call<Refusal>('POST', `/v1/grants/${id}/revoke`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'grant_not_live'])
  t.diagnostic(`ended ${late} ms after its moment`)
})

test('a request that is not decided in time expires, and its requester is notified', async () => {
  const request_id = await ask(ada, 'Change')
  await asSuperuser('update access_request set next_look_at = clock_timestamp() where id = $1', [request_id])
  // From that moment on its time is over, whether or not a worker has ended it yet.
  const refused = await key<Refusal>('POST', `/v1/requests/${request_id}/approve`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'request_not_pending'])
  assert.equal(refused.body.details?.status, 'expired')
  await until('the request is expired', async () => {
    const { body } = await ada.call<{ status: string }>('GET', `/v1/requests/${request_id}`)
    return body.status === 'expired'
  })
  await untilNotified('request.expired', request_id)
  assert.equal((await ada.call('DELETE', `/v1/requests/${request_id}`)).status, 409)
  const { body } = await ada.call<Page<Grant>>('GET', `/v1/grants?request_id=${request_id}`)
  assert.deepEqual(body.data, [])
})
