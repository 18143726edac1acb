import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import { createPolicy } from '../../src/policies/create-policy.ts'
import { createRule } from '../../src/policies/create-rule.ts'
import { findGains } from '../../src/policy-analysis/gains/find-gains.ts'
import type { Gains, GainsChange } from '../../src/policy-analysis/gains/gains.ts'
import type { RuleInput } from '../../src/policy-engine/rule.ts'
import type { TestDatabase } from './database.ts'
import { createdRule, policyTenants } from './policy-tenant.ts'
import { type Caller, sliceServer } from './slice-server.ts'

type Query = TestDatabase['asSuperuser']
/** `actor`: the rehearsal made them. */
type Person = { role?: 'asker' | 'guest'; group?: string; actor?: string | null }

const mayAsk = `insert into role (tenant_id, id, name, scopes)
  values ($1, 'asker', 'Asker', '{requests:create}'), ($1, 'guest', 'Guest', '{}')`

/** Inserts of one tenant. */
function insertsOf(query: Query, tenant_id: string) {
  const giveRole = (to: string, role = 'asker') =>
    query('insert into user_role (tenant_id, user_id, role_id) values ($1, $2, $3)', [tenant_id, to, role])

  async function person(name: string, { role = 'asker', group, actor = null }: Person = {}) {
    const id = newId()
    await query(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, rehearsal)
        values ($1, $2, $3, $3, $4, 'local', $5)`,
      [tenant_id, id, `${id}@example.invalid`, name, actor],
    )
    await giveRole(id, role)
    if (group !== undefined)
      await query(
        `insert into group_member (tenant_id, group_id, user_id, membership_source) values ($1, $2, $3, 'local')`,
        [tenant_id, group, id],
      )
    return id
  }

  async function group(name: string) {
    const id = newId()
    const values = [tenant_id, id, name]
    await query(`insert into tenant_group (tenant_id, id, name, source) values ($1, $2, $3, 'local')`, values)
    return id
  }

  const account = (name: string, number: string, metadata: object = {}, rank = 0) =>
    query(
      `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank) values ($1, $2, $2, $3, $4, $5)`,
      [tenant_id, name, number, JSON.stringify(metadata), rank],
    )

  return { giveRole, person, group, account }
}

/** Tenants with people, groups, accounts and rules, for which drafts are compared. */
export async function gainsStage(testDb: TestDatabase) {
  const call = await sliceServer(testDb.database, { createPolicy, createRule, findGains })
  const { newTenant, newPolicy, changesNothing } = policyTenants(testDb, call)

  /** A tenant whose caller, Ada, may compare drafts. She may request nothing until she gets the role. */
  async function stage() {
    const { tenant_id, user_id } = await newTenant()
    const scopes = ['policies:read', 'policies:write', 'users:read', 'groups:read', 'cloud_accounts:read']
    const admin: Caller = { tenant_id, user_id, scopes }
    await testDb.asSuperuser(mayAsk, [tenant_id])
    const policy_id = await newPolicy(admin)
    const rule = (body: RuleInput) => createdRule(call, admin, `/v1/policies/${policy_id}/rules`, body)
    const created = (...rules: RuleInput[]) => ({
      changes: rules.map((one) => ({ create_rule: { policy_id, rule: one } })),
    })
    async function gains(draft: object, caller = admin): Promise<Gains> {
      const answer = await changesNothing(caller, () => call(caller, 'POST', '/v1/policies/gains', { draft }))
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body as Gains
    }
    return { tenant_id, user_id, admin, policy_id, rule, created, gains, ...insertsOf(testDb.asSuperuser, tenant_id) }
  }

  return { stage, call }
}

/** A change in words: `gains Read by_approval: Ada, Ben on play`. */
export function inWords({ kind, action, answer, emergency, people, accounts }: GainsChange): string {
  const named = ({ count, names }: { count: number; names: { name: string }[] }) =>
    names.map(({ name }) => name).join(', ') + (count > names.length ? ` and ${count - names.length} more` : '')
  return `${kind} ${action} ${answer}${emergency ? ' in an emergency' : ''}: ${named(people)} on ${named(accounts)}`
}
