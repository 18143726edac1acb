import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { createdRule, onAccount, policyTenants } from '../../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../../test/support/slice-server.ts'
import { createPolicy } from '../../policies/create-policy.ts'
import { createRule } from '../../policies/create-rule.ts'
import { testPolicies } from '../test-policies.ts'
import { checkInvariants } from './check-invariants.ts'

const testDb = await testDatabase()
const call = await sliceServer(testDb.database, { createPolicy, createRule, checkInvariants, testPolicies })
const { newTenant, newPolicy, versionOf, changesNothing } = policyTenants(testDb, call)

let admin: Caller
let policy_id: string

beforeEach(async () => {
  admin = await newTenant()
  policy_id = await newPolicy(admin)
})

const create = (body: object) => createdRule(call, admin, `/v1/policies/${policy_id}/rules`, body)
const check = async (body: object) => {
  const answer = await changesNothing(admin, () => call(admin, 'POST', '/v1/policies/invariants', body))
  return { ...answer, checks: (answer.body.checks ?? []) as Checked[] }
}
type Checked = {
  result: string
  counterexample?: { asks: string; resource: object; decision: { mode: string; rule_ids: string[] } }
}

const unit = { scope_type: 'in', entity_type: 'cloud_organizational_unit', entity_id: 'ou-ab12-12345678' }
const noAutoIn = (...resources: object[]) => ({ no_auto_approval: { resources } })

const approversIn = (resources: object[], ...only: object[]) => ({ approvers: { resources, only } })

test('the current rules are checked, and a question shows how they break an invariant', async () => {
  const { id } = await create(
    onAccount('123456789012', { approval_mode: 'auto', action_scope_type: 'eq', action_ids: ['Read'] }),
  )
  const other = { ...unit, scope_type: 'eq', entity_type: 'cloud_account', entity_id: '210987654321' }
  const { status, body, checks } = await check({ checks: [noAutoIn(other), noAutoIn(other, unit)] })
  assert.deepEqual([status, body.rule_set_version], [200, String(await versionOf(admin))])
  assert.deepEqual(checks[0], { result: 'proved', tried: 0 })
  assert.equal(checks[1]?.result, 'counterexample')
  assert.deepEqual(checks[1]?.counterexample?.decision.rule_ids, [id])
  assert.equal(checks[1]?.counterexample?.asks, 'Read')
  assert.deepEqual(checks[1]?.counterexample?.resource, {
    type: 'cloud_account',
    id: '123456789012',
    tags: {},
    in: ['cloud_organizational_unit::ou-ab12-12345678'],
  })
})

test('the question is a valid case without changes', async () => {
  const conditions =
    'when { principal.scopes.contains("audit:read") && context.weekday == 6 && principal in Role::"admin" && principal.email_verified }'
  await create(onAccount('123456789012', { approval_mode: 'auto', conditions }))
  const { decision, ...question } =
    (await check({ checks: [noAutoIn({ scope_type: 'any' })] })).checks[0]?.counterexample ?? {}
  const one = { case: 'as it stands', ...question, expect: 'permit', mode: decision?.mode }
  const { status, body } = await call(admin, 'POST', '/v1/policies/test', { cases: [one] })
  assert.deepEqual([status, body.passed], [200, 1], JSON.stringify(body))
})

test('a draft is checked instead of the current rules, or compared with them', async () => {
  const rule = await create(onAccount('1'))
  const changed = (more: object) => ({ draft: { changes: [{ update_rule: { rule_id: rule.id, rule: more } }] } })
  const both = { checks: [noAutoIn({ scope_type: 'any' }), { permits_nothing_new: true }] }
  const results = async (more: object) =>
    (await check({ ...changed(more), ...both })).checks.map(({ result }) => result)
  assert.deepEqual(await results({ notice: 'Why?' }), ['proved', 'proved'])
  assert.deepEqual(await results({ approval_mode: 'auto' }), ['counterexample', 'counterexample'])
  assert.deepEqual(await results({ conditions: 'when { context.has_reason }' }), ['proved', 'proved'])
})

test('who may approve is proved, until a draft deletes the policy that says so', async () => {
  const text = (effect: string, more = '') => `${effect} (principal, action == Action::"approve", resource)${more};`
  const bySecurity = text('forbid', ' unless { principal in Group::"security" }')
  await create({ policy_text: text('permit', ' when { principal.scopes.contains("requests:approve") }') })
  const { id } = await createdRule(call, admin, `/v1/policies/${await newPolicy(admin)}/rules`, {
    policy_text: bySecurity,
  })
  const checks = [approversIn([{ scope_type: 'any' }], { type: 'Group', id: 'security' })]
  assert.deepEqual((await check({ checks })).checks, [{ result: 'proved', tried: 0 }])

  const draft = { changes: [{ delete_rule: { rule_id: id } }] }
  const { checks: found } = await check({ draft, checks: [...checks, { permits_nothing_new: true }] })
  assert.deepEqual(
    found.map(({ result }) => result),
    ['counterexample', 'counterexample'],
  )
  // Each is a valid case: it is permitted by the draft, and refused by the current rules.
  for (const { counterexample } of found) {
    const { decision, before: _, ...question } = counterexample as Record<string, unknown> & { decision: object }
    assert.deepEqual((decision as { allowed: boolean }).allowed, true)
    const cases = (expect: string) => [{ case: 'as it stands', ...question, expect }]
    const passed = async (body: object) => (await call(admin, 'POST', '/v1/policies/test', body)).body.passed
    assert.deepEqual(
      [await passed({ cases: cases('permit'), draft }), await passed({ cases: cases('forbid') })],
      [1, 1],
    )
  }
})

test('a fault of a check is reported with its place', async () => {
  const refused: [object, string][] = [
    [{ checks: [{ permits_nothing_new: true }] }, '/checks/0/permits_nothing_new'],
    [
      { checks: [noAutoIn({ scope_type: 'any' }, { scope_type: 'eq', entity_type: 'cloud_account' })] },
      '/checks/0/no_auto_approval/resources/1/entity_id',
    ],
    [
      { checks: [approversIn([{ scope_type: 'in', entity_type: 'cloud_account' }], { type: 'User', id: 'ada' })] },
      '/checks/0/approvers/resources/0/entity_id',
    ],
    [
      { checks: [approversIn([{ scope_type: 'is', entity_type: 'access_request' }], { type: 'User', id: 'ada' })] },
      '/checks/0/approvers/resources/0/entity_type',
    ],
    [
      { checks: [approversIn([{ scope_type: 'any' }], { type: 'Team', id: 'ada' })] },
      '/checks/0/approvers/only/0/type',
    ],
    [{ checks: [approversIn([{ scope_type: 'any' }])] }, '/checks/0/approvers/only'],
    [{ checks: [{}] }, '/checks/0'],
    [{ checks: [] }, '/checks'],
  ]
  for (const [body, pointer] of refused) {
    const answer = await check(body)
    const { fields } = answer.body.details as { fields: { pointer: string }[] }
    assert.deepEqual([answer.status, fields[0]?.pointer], [400, pointer])
  }
  const draft = { changes: [{ create_rule: { policy_id, rule: { policy_text: 'permit(' } } }] }
  assert.equal((await check({ draft, checks: [{ permits_nothing_new: true }] })).body.code, 'invalid_policy')
})

test('a draft takes a text with invalid structured fields beside it, in each place of a rule', async () => {
  const rule = { policy_text: 'forbid(principal, action, resource);', effect: 'garbage', action_ids: 7 }
  const { id } = await create({ policy_text: rule.policy_text })
  const changes = [
    { create_rule: { policy_id, rule } },
    { update_rule: { rule_id: id, rule } },
    { create_policy: { name: 'B', rules: [rule] } },
  ]
  for (const draft of [{ changes }, { policies: [{ id: policy_id, name: 'A', rules: [rule] }] }]) {
    for (const [path, more] of Object.entries({ invariants: { checks: [{ permits_nothing_new: true }] }, test: {} })) {
      const answer = await call(admin, 'POST', `/v1/policies/${path}`, { draft, ...more })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
  }
})
