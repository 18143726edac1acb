import assert from 'node:assert/strict'
import { decisionEngine, textEngine } from '../../src/policy-engine/cedar/engine.ts'
import { openHouse, type Person, type Reply, type TestTenant } from './house.ts'

const permitted = '111111111111'

/**
 * A tenant whose owner attacks through the rules they save, and a second tenant. After each attempt no engine has lost an
 * instance, the attacker's tenant permits what it permitted before, and the second tenant is answered as before.
 */
export async function policyAttack() {
  const house = await openHouse()
  const attacker = await house.tenant('attacker')
  const bystander = await house.tenant('bystander')

  const call = ({ tenant_id }: TestTenant, { token }: Person, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token, tenant_id, ...(body !== undefined && { body }) })
  async function rulesOf(tenant: TestTenant): Promise<string> {
    const policy = await call(tenant, tenant.owner, 'POST', '/v1/policies', { name: 'a policy' })
    return `/v1/policies/${policy.body.id}/rules`
  }
  const rules = await rulesOf(attacker)
  await call(bystander, bystander.owner, 'POST', await rulesOf(bystander), {
    ...{ effect: 'permit', resource_scope_type: 'eq', resource_entity_type: 'cloud_account' },
    resource_entity_id: permitted,
  })

  /** Whether the tenant's user may have an account; asserts that the engine decided and did not give up. */
  async function may(tenant: TestTenant, id: string): Promise<boolean> {
    const body = { resource: { type: 'cloud_account', id }, action: 'ReadOnly' }
    const { status, body: answer } = await call(tenant, tenant.people.user, 'POST', '/v1/requests/preview', body)
    assert.equal(status, 200)
    assert.doesNotMatch(String(answer.reasoning), /could not be answered/)
    return answer.allowed === true
  }

  /** Runs the attempt and asserts that it harms neither tenant, during and after it. */
  async function harmless(attempt: () => Promise<Reply>): Promise<Reply> {
    const faults = textEngine.faults() + decisionEngine.faults()
    const [reply, beside] = await Promise.all([attempt(), may(bystander, permitted)])
    assert.ok(beside, 'another tenant is answered meanwhile')
    assert.ok(await may(bystander, permitted), 'and afterwards')
    assert.equal(textEngine.faults() + decisionEngine.faults(), faults, 'an instance was lost')
    assert.ok(reply.status < 500, reply.text)
    return reply
  }

  const asAttacker = (method: string, url: string, body?: unknown) =>
    harmless(() => call(attacker, attacker.owner, method, url, body))
  return {
    /** Tries to save a rule. */
    create: (body: object) => asAttacker('POST', rules, body),
    change: (id: unknown, body: object) => asAttacker('PATCH', `${rules}/${id}`, body),
    remove: (id: unknown) => call(attacker, attacker.owner, 'DELETE', `${rules}/${id}`),
    /** Whether the attacker's tenant permits access that none of its rules should permit. */
    permitsAnything: () => may(attacker, permitted),
  }
}
