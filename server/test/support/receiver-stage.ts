import assert from 'node:assert/strict'
import { after } from 'node:test'
import { openHouse, type Person } from './house.ts'
import { until } from './wait.ts'
import { signedResult, startReceiver } from './webhook-receiver.ts'

/** A tenant whose accounts a receiver serves, which works on each act until it is told to finish. */
export async function receiverStage() {
  const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
  const tenant = await house.tenant('Own systems')
  const receiver = await startReceiver('whsec_', { later: Number.POSITIVE_INFINITY })
  after(() => receiver.stop())
  house.app.startWorkers()

  const as = async (person: Person, method: string, url: string, body?: unknown, expected = 201) => {
    const { tenant_id } = tenant
    const call = { method, url, api_key: person.api_key, tenant_id, ...(body !== undefined && { body }) }
    const reply = await house.call(call)
    assert.equal(reply.status, expected, reply.text)
    return reply.body
  }
  const { owner, people } = tenant
  const policy = await as(owner, 'POST', '/v1/policies', { name: 'all' })
  await as(owner, 'POST', `/v1/policies/${policy.id}/rules`, { effect: 'permit' })
  const made = await as(owner, 'POST', '/v1/provisioners', {
    name: 'Door system',
    provisioner_type: 'webhook',
    config: { url: receiver.url, headers: { authorization: 'Bearer gateway' } },
    serves: [{ resource_type: 'cloud_account' }],
  })
  receiver.secret = (made.shown_once as { signing_secret: string }).signing_secret
  const results = `/v1/provisioners/${made.id}/results`

  const report = (id: string, data: Record<string, unknown>, more: { key?: string; at?: Date; type?: string } = {}) => {
    const { key = receiver.secret, ...rest } = more
    return signedResult(key, { id, ...data }, rest)
  }
  const send = ({ body, headers }: ReturnType<typeof report>, to = results, tenant_id = tenant.tenant_id) =>
    house.call({ method: 'POST', url: to, tenant_id, body, headers })
  const received = (type: string, resource_id: string) =>
    until(`${type} of ${resource_id}`, async () =>
      receiver.received.find((one) => one.type === type && (one.data.resource as { id?: string })?.id === resource_id),
    )

  async function approved(resource_id: string, requester = people.user): Promise<string> {
    const resource = { type: 'cloud_account', id: resource_id }
    const created = await as(requester, 'POST', '/v1/requests', { resource, action: 'open', duration_seconds: 3_600 })
    await as(people.approver, 'POST', `/v1/requests/${created.id}/approve`, {}, 200)
    return String(created.id)
  }

  async function grantOf(request_id: string, status: string) {
    return until(`a grant that is ${status}`, async () => {
      const reply = await as(owner, 'GET', `/v1/access/requests/${request_id}`, undefined, 200)
      const [grant] = reply.grants as { id: string; status: string }[]
      return grant?.status === status && grant
    })
  }

  const provisioner_id = String(made.id)
  return {
    house,
    receiver,
    tenant,
    owner,
    people,
    provisioner_id,
    results,
    as,
    report,
    send,
    received,
    approved,
    grantOf,
  }
}
