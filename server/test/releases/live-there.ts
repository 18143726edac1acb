import type { Client } from '../support/client.ts'
import type { Sallyport } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** What is to be found again in the data that a version left. */
export type Holds = {
  tenant_id: string
  admin: { email: string; password: string }
  /** Of a provider with a sealed secret. */
  provider_id: string
  /** It is active when the service stops. */
  grant_id: string
  /** In the list of audit events by threes, and the events that follow it. */
  cursor: string
  next_ids: string[]
}

/** Uses a service that has just started as people do, until it has a grant that is active. */
export async function liveThere(service: Sallyport): Promise<Holds> {
  const { tenant_id, admin, api_key } = service.bootstrap
  const owner = service.client({ api_key })
  const rehearsal = await call<{ policy_id: string }>(owner, 'POST', '/v1/rehearsal', {})
  const config = { url: 'https://directory.example', token: 'of the directory' }
  const provider = { name: 'Directory', provider_type: 'custom_scim', config }
  const { id: provider_id } = await call<{ id: string }>(owner, 'POST', '/v1/identity-providers', provider)
  // Of an event that does not come: nothing is to be sent there, neither now nor by a later version.
  const channel = { name: 'Hook', url: 'https://hooks.example.com', event_filters: ['user.suspended'] }
  await call(owner, 'POST', '/v1/notification-channels/webhook', channel)
  await call(owner, 'POST', `/v1/policies/${rehearsal.policy_id}/rules`, {
    effect: 'permit',
    approval_mode: 'auto',
    action_scope_type: 'eq',
    action_ids: ['LookOnly'],
  })
  const grant_id = await getActiveGrant(owner, await service.join('Ada', ['user']))
  const page = await call<{ next_cursor: string }>(owner, 'GET', '/v1/audit-events?limit=3')
  const cursor = page.next_cursor
  const next = await call<{ data: { id: string }[] }>(owner, 'GET', auditPage(cursor))
  return { tenant_id, admin, provider_id, grant_id, cursor, next_ids: next.data.map(({ id }) => id) }
}

export const auditPage = (cursor: string) => `/v1/audit-events?limit=3&cursor=${encodeURIComponent(cursor)}`

/** The shortest that there is: its end is over when a later version starts. */
async function getActiveGrant(owner: Client, { call: ada }: { call: Client }): Promise<string> {
  const resource = { type: 'cloud_account', id: '123456789012' }
  const asked = { resource, action: 'LookOnly', reason: 'for a later version', duration_seconds: 60 }
  const request = await call<{ id: string }>(ada, 'POST', '/v1/requests', asked)
  return until('the grant is active', async () => {
    const { grants } = await call<{ grants: { id: string; status: string }[] }>(
      owner,
      'GET',
      `/v1/access/requests/${request.id}`,
    )
    return grants.find(({ status }) => status === 'active')?.id
  })
}

async function call<Body>(client: Client, ...args: Parameters<Client>): Promise<Body> {
  const { status, body } = await client<Body>(...args)
  if (status >= 300) throw new Error(`${args[0]} ${args[1]} is ${status}: ${JSON.stringify(body)}`)
  return body
}
