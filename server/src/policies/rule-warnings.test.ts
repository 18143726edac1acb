import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { createdRule, onAccount, policyTenants } from '../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import type { Rule } from '../policy-engine/rule.ts'
import { createPolicy } from './create-policy.ts'
import { createRule } from './create-rule.ts'
import { getRule } from './get-rule.ts'
import { updateRule } from './update-rule.ts'

const testDb = await testDatabase()
const { database, asSuperuser } = testDb
const operations = { createPolicy, createRule, getRule, updateRule }
const call = await sliceServer(database, operations)
const { newTenant, newPolicy } = policyTenants(testDb, call)

let admin: Caller
let policy_id: string
let rulesPath: string

beforeEach(async () => {
  admin = await newTenant()
  policy_id = await newPolicy(admin)
  rulesPath = `/v1/policies/${policy_id}/rules`
})

const create = (body: object, caller = admin) => createdRule(call, caller, rulesPath, body)

const update = (rule: { id: string }, body: object | undefined, caller = admin) =>
  call(caller, 'PATCH', `${rulesPath}/${rule.id}`, body)
const read = async (rule: { id: string }) => (await call(admin, 'GET', `${rulesPath}/${rule.id}`)).body as Rule

suite('warnings', () => {
  test('are returned with a change to a rule that approves everything, and not stored', async () => {
    const rule = await create({ effect: 'permit', approval_mode: 'auto' })
    assert.match(rule.warnings?.join() ?? '', /approves every request/)
    assert.equal((await read(rule)).warnings, undefined)
    const { body } = await update(rule, { approval_mode: 'require' })
    assert.equal(body.warnings, undefined)
    assert.match(String((await update(rule, { approval_mode: 'auto' })).body.warnings), /approves every request/)
  })

  test('are returned with a change to a rule that trusts an address which nobody may have verified', async () => {
    const conditions = 'when { principal.email like "*@ops.corp.example" }'
    const trusting = /trusts `principal\.email`.*; add `&& principal\.email_verified` to its `when`$/
    const rule = await create(onAccount('000000000001', { conditions }))
    assert.match(rule.warnings?.join() ?? '', trusting)
    const reordered = await update(rule, { ordinal: 7 })
    assert.match(String(reordered.body.warnings), trusting)
    const text = `forbid (principal, action, resource == cloud_account::"000000000002") ${conditions};`
    assert.match(
      (await create({ policy_text: text })).warnings?.join() ?? '',
      /; add `\|\| !principal\.email_verified` to its `when`$/,
    )
    const cured = await update(rule, { conditions: conditions.replace(' }', ' && principal.email_verified }') })
    assert.deepEqual([cured.status, cured.body.warnings], [200, undefined])
  })

  test('name the rule that takes all effect from another, if its policy is enabled', async () => {
    const forbid = await create({ effect: 'forbid' })
    assert.match((await create(onAccount('000000000001'))).warnings?.join() ?? '', new RegExp(forbid.id))
    await asSuperuser('update policy set enabled = false where id = $1', [policy_id])
    assert.equal((await create(onAccount('000000000002'))).warnings, undefined)
  })

  test('report an unknown user, group or role, and a name given instead of an id', async () => {
    const about = async (
      principal_entity_type: string,
      principal_entity_id: string,
      principal_scope_type: 'in' | 'eq' | 'is_in' = 'in',
      scopes: readonly string[] = ['users:read', 'groups:read', 'roles:read'],
    ) =>
      (
        await create(onAccount('000000000001', { principal_scope_type, principal_entity_type, principal_entity_id }), {
          ...admin,
          scopes: [...(admin.scopes ?? []), ...scopes],
        })
      ).warnings?.join()
    const group = newId()
    await asSuperuser('insert into tenant_group (tenant_id, id, name, source) values ($1, $2, $3, $4)', [
      ...[admin.tenant_id, group, 'Engineers', 'local'],
    ])
    await asSuperuser('insert into role (tenant_id, id, name, scopes) values ($1, $2, $3, $4)', [
      ...[admin.tenant_id, 'on-call', 'On call', []],
    ])
    assert.equal(await about('User', String(admin.user_id), 'eq'), undefined)
    assert.equal(await about('Group', group), undefined)
    assert.equal(await about('Role', 'on-call'), undefined)
    assert.match(String(await about('User', newId(), 'eq')), /no user of the tenant has the id/)
    assert.match(String(await about('Group', group.toUpperCase())), /no group of the tenant has the id/)
    assert.match(String(await about('Group', 'engineers')), /a group has that name/)
    assert.match(String(await about('Role', 'On call')), /a role has that name/)
    assert.match(String(await about('User', `Group::"${newId()}"`, 'is_in')), /no group of the tenant/)
    // A caller who may not read names is told the same whether there is such a name or not (D7).
    for (const [type, name, scope] of [
      ['Group', 'engineers', 'roles:read'],
      ['Role', 'On call', 'groups:read'],
    ] as const) {
      assert.doesNotMatch(String(await about(type, name, 'in', [scope])), /that name/)
    }
    const stranger = await newTenant()
    assert.match(String(await about('User', String(stranger.user_id), 'eq')), /no user of the tenant/)
  })

  test('suggest the nearest action that rules or requests have used', async () => {
    let account = 0
    const of = (...action_ids: string[]) =>
      onAccount(String(account++).padStart(12, '0'), { action_scope_type: 'in', action_ids })
    assert.match((await create(of('ReadOnlyAccess'))).warnings?.join() ?? '', /no rule, request/)
    assert.equal((await create(of('ReadOnlyAccess'))).warnings, undefined)
    assert.match((await create(of('ReadOnlyAcces'))).warnings?.join() ?? '', /nearest known is `ReadOnlyAccess`/)
    await asSuperuser(
      `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
          approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
        values ($1, $2, $3, 'cloud_account', '1', 'Administrator', 'denied', 'require', false, 60, '{}', false, '[]',
          'token', '127.0.0.1')`,
      [admin.tenant_id, newId(), admin.user_id],
    )
    assert.equal((await create(of('Administrator'))).warnings, undefined)
  })

  test('are complete with 10,000 rules and long names', async () => {
    const name = (n: number) => `${String(n).padStart(5, '0')}${'x'.repeat(40)}`
    await asSuperuser(
      `insert into policy_rule (tenant_id, id, policy_id, ordinal, effect, principal_scope_type,
          action_scope_type, action_ids, resource_scope_type, policy_text, audit_session, approval_mode)
        select $1, gen_random_uuid(), $2, n, 'permit', 'any', 'eq',
          array[lpad(n::text, 5, '0') || repeat('y', 40)], 'any', 'unread', false, 'require'
        from generate_series(1, 9990) n`,
      [admin.tenant_id, policy_id],
    )
    const action_ids = Array.from({ length: 150 }, (_, index) => name(index))
    const rule = await create(onAccount('000000000001', { action_scope_type: 'in', action_ids }))
    assert.equal(rule.warnings?.length, 150)
  })
})
