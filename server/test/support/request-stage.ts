import assert from 'node:assert/strict'
import type { House, Person } from './house.ts'
import { type InjectedFaults, injectFaults } from './sandbox-faults.ts'
import { until } from './wait.ts'

/** A tenant of its own where access is requested, approved and given: for tests of policy verdicts over time. */
export async function requestStage(house: House, name: string) {
  const tenant = await house.tenant(name)
  const { tenant_id, owner, people } = tenant

  const call = (person: Person, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
  const created = async (person: Person, url: string, body: unknown) => {
    const reply = await call(person, 'POST', url, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const policy = await created(owner, '/v1/policies', { name })
  const rulesUrl = `/v1/policies/${policy.id}/rules`

  /** Adds a rule by its text; returns a function that deletes it again. */
  async function rule(policy_text: string): Promise<() => Promise<void>> {
    const { id } = await created(owner, rulesUrl, { policy_text })
    return async () => {
      assert.equal((await call(owner, 'DELETE', `${rulesUrl}/${id}`)).status, 204)
    }
  }

  const account = (id: string, more: object = {}) => ({
    resource: { type: 'cloud_account', id },
    action: 'ReadOnly',
    ...more,
  })
  const ask = async (body: object, person = people.user) => String((await created(person, '/v1/requests', body)).id)

  async function approve(request_id: string): Promise<string> {
    const reply = await call(people.approver, 'POST', `/v1/requests/${request_id}/approve`, {})
    assert.equal(reply.status, 200, reply.text)
    return request_id
  }

  /** Writes accounts into the cache, in these units and with these tags. */
  async function cache(accounts: Record<string, { units?: string[]; tags?: Record<string, string> }>): Promise<void> {
    const resources = Object.entries(accounts).map(([id, { units = [], tags = {} }]) => {
      return { id, account_id: id, name: `account ${id}`, metadata: { ...tags, organizational_unit_ids: units } }
    })
    assert.equal((await call(owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
  }

  return { ...tenant, ...kept(house, tenant_id), call, created, rule, account, ask, approve, cache }
}

/** Reads the tenant's rows from the database. */
function kept(house: House, tenant_id: string) {
  type GrantKept = {
    id: string
    resource_id: string
    status: string
    provisioning_status: string
    end_reason: string | null
    expires_at: string | null
  }
  const grantsOf = (request_id: string) =>
    house.asSuperuser<GrantKept>(
      `select id, resource_id, status, provisioning_status, end_reason, expires_at from access_grant
        where tenant_id = $1 and request_id = $2 order by resource_id`,
      [tenant_id, request_id],
    )
  /** Waits until all grants of the request have this status. */
  const grantsAre = (request_id: string, status: string, provisioning_status: string) =>
    until(`grants are ${status}, ${provisioning_status}`, async () => {
      const grants = await grantsOf(request_id)
      return (
        grants.length > 0 &&
        grants.every((one) => one.status === status && one.provisioning_status === provisioning_status) &&
        grants
      )
    })
  /** Waits until each grant of the request has an entitlement in the ledger. */
  const grantsHang = (request_id: string) =>
    until('the grants have their entitlements', async () => {
      const rows = await house.asSuperuser(
        'select 1 from access_grant where tenant_id = $1 and request_id = $2 and entitlement_id is null',
        [tenant_id, request_id],
      )
      return rows.length === 0
    })
  /** The number of assignments that the sandbox holds on an account. */
  const heldAt = async (account_id: string) => {
    const rows = await house.asSuperuser('select key from sandbox_assignment where tenant_id = $1 and key like $2', [
      tenant_id,
      `%${account_id}%`,
    ])
    return rows.length
  }
  const eventsOf = (subject_id: string) =>
    house.asSuperuser<{ type: string; data: Record<string, unknown> }>(
      'select type, data from event where tenant_id = $1 and subject_id = $2 order by seq',
      [tenant_id, subject_id],
    )
  /** Makes the tenant's acts at the sandbox meet these faults and no others. */
  const inject = (faults: InjectedFaults) => injectFaults(house.asSuperuser, tenant_id, faults)
  return { grantsOf, grantsAre, grantsHang, heldAt, eventsOf, inject }
}
