import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import type { Rule, RuleInput } from '../../src/policy-engine/rule.ts'
import type { TestDatabase } from './database.ts'
import type { Caller, sliceServer } from './slice-server.ts'

type Call = Awaited<ReturnType<typeof sliceServer>>

type EventRow = {
  type: string
  subject_type: string
  subject_id: string
  actor_id: string
  data: Record<string, unknown>
}

/** Fixtures of policy and rule tests besides the operations: users, and reads of what changes leave in the database. */
export function policyTenants({ asSuperuser }: TestDatabase, call: Call) {
  /** A user of a new tenant who may read and write policies. */
  async function newTenant(): Promise<Caller> {
    const tenant_id = newId()
    await asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'Acme'])
    return newUser({ tenant_id, user_id: '', scopes: ['policies:read', 'policies:write'] })
  }

  /** Another user of the same tenant with the same scopes. */
  async function newUser(like: Caller): Promise<Caller> {
    const user_id = newId()
    await asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        values ($1, $2::uuid, $2::text, $2::text, 'Ada', 'local')`,
      [like.tenant_id, user_id],
    )
    return { ...like, user_id }
  }

  async function versionOf({ tenant_id }: Caller): Promise<number> {
    const [tenant] = await asSuperuser('select rule_set_version as v from tenant where id = $1', [tenant_id])
    return Number(tenant?.v)
  }

  const eventsOf = ({ tenant_id }: Caller) =>
    asSuperuser<EventRow>(
      'select type, subject_type, subject_id, actor_id, data from event where tenant_id = $1 order by seq',
      [tenant_id],
    )

  /** Asserts that the attempt changes nothing in the tenant: same version, no event, every row unchanged. */
  async function changesNothing<Result>(caller: Caller, attempt: () => Promise<Result>): Promise<Result> {
    const rowsOf = (table: 'policy' | 'policy_rule') =>
      asSuperuser(`select * from ${table} where tenant_id = $1 order by id`, [caller.tenant_id])
    const seen = async () => [
      await versionOf(caller),
      await eventsOf(caller),
      await rowsOf('policy'),
      await rowsOf('policy_rule'),
    ]
    const before = await seen()
    const result = await attempt()
    assert.deepEqual(await seen(), before)
    return result
  }

  const newPolicy = async (caller: Caller) =>
    String((await call(caller, 'POST', '/v1/policies', { name: 'Production' })).body.id)

  return { newTenant, newUser, newPolicy, versionOf, eventsOf, changesNothing }
}

/** Creates a rule at this path, and asserts that it was created. */
export async function createdRule(call: Call, caller: Caller, rulesPath: string, body: object): Promise<Rule> {
  const answer = await call(caller, 'POST', rulesPath, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body as Rule
}

/** A rule that causes no warning: it is limited to one account. */
export const onAccount = (resource_entity_id: string, more: RuleInput = {}) => ({
  effect: 'permit' as const,
  resource_scope_type: 'eq' as const,
  resource_entity_type: 'cloud_account',
  resource_entity_id,
  ...more,
})

export const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
