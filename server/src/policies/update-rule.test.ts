import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { createdRule, onAccount, policyTenants } from '../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import type { Rule } from '../policy-engine/rule.ts'
import { createPolicy } from './create-policy.ts'
import { createRule } from './create-rule.ts'
import { deleteRule } from './delete-rule.ts'
import { getRule } from './get-rule.ts'
import { updateRule } from './update-rule.ts'

const testDb = await testDatabase()
const { database, asSuperuser } = testDb
const operations = { createPolicy, createRule, deleteRule, getRule, updateRule }
const call = await sliceServer(database, operations)
const { newTenant, newUser, newPolicy, versionOf, eventsOf, changesNothing: tracelessly } = policyTenants(testDb, call)
const changesNothing = <Result>(attempt: () => Promise<Result>) => tracelessly(admin, attempt)

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
const savedBy = async (rule: { id: string }) =>
  (await asSuperuser('select saved_by from policy_rule where id = $1', [rule.id]))[0]?.saved_by

const lastOf = async (type: string) => (await eventsOf(admin)).findLast((event) => event.type === type)?.data

suite('a change of a rule', () => {
  test('keeps fields that are not sent', async () => {
    const before = await create(onAccount('1', { notice: 'Ask.', ordinal: 4, audit_session: true }))
    const { status, body } = await update(before, { approval_mode: 'auto' })
    assert.equal(status, 200)
    const { policy_text, updated_at, ...kept } = body as Rule
    assert.deepEqual(
      { ...kept, policy_text: before.policy_text, updated_at: before.updated_at },
      { ...before, approval_mode: 'auto' },
    )
    assert.match(policy_text, /@approval_mode\("auto"\)/)
    assert.notEqual(updated_at, before.updated_at)
    assert.deepEqual(await lastOf('policy.updated'), { rule_id: before.id, change: 'rule_changed' })
    const rules = [{ rule_id: before.id, before: before.policy_text, after: policy_text }]
    assert.deepEqual(await lastOf('policy.rule_texts'), { rules })
    assert.equal(await versionOf(admin), 4)
  })

  test('of its place alone records no text, and a deletion what the rule said', async () => {
    const before = await create(onAccount('1'))
    const { policy_text, id: rule_id } = before
    const created = { rules: [{ rule_id, after: policy_text }] }
    assert.deepEqual(await lastOf('policy.rule_texts'), created)
    await update(before, { ordinal: 7 })
    assert.deepEqual(await lastOf('policy.updated'), { rule_id, change: 'rule_changed' })
    assert.deepEqual(await lastOf('policy.rule_texts'), created)
    await call(admin, 'DELETE', `/v1/policies/${before.policy_id}/rules/${rule_id}`)
    assert.deepEqual(await lastOf('policy.updated'), { rule_id, change: 'rule_deleted' })
    assert.deepEqual(await lastOf('policy.rule_texts'), { rules: [{ rule_id, before: policy_text }] })
  })

  test('by text replaces the statement and keeps the ordinal', async () => {
    const before = await create(onAccount('1', { ordinal: 4 }))
    const { body } = await update(before, { policy_text: 'forbid(principal, action, resource);', effect: 'permit' })
    assert.deepEqual([body.effect, body.resource_scope_type, body.ordinal], ['forbid', 'any', 4])
    assert.equal('resource_entity_id' in body, false)
    assert.equal('approval_mode' in body, false)
  })

  test('of the place alone keeps the statement as written, and who saved it', async () => {
    const policy_text = 'permit (principal, action, resource == cloud_account::"1" );'
    const before = await create({ policy_text })
    const other = await newUser(admin)
    const { body } = await update(before, { ordinal: 9 }, other)
    assert.deepEqual([body.ordinal, body.policy_text], [9, policy_text])
    assert.equal(await savedBy(before), admin.user_id)
  })

  test('of the statement records who saved it (P15)', async () => {
    const before = await create(onAccount('1'))
    const other = await newUser(admin)
    await update(before, { approval_mode: 'auto' }, other)
    assert.equal(await savedBy(before), other.user_id)
  })

  test('to the current values changes nothing and emits no event', async () => {
    const policy_text = 'permit (principal, action, resource == cloud_account::"1" );'
    const rule = await create({ policy_text, notice: 'Ask.' })
    const other = await newUser(admin)
    for (const body of [undefined, {}, { notice: 'Ask.' }, { effect: 'permit', ordinal: 0 }, { policy_text }]) {
      const answer = await changesNothing(() => update(rule, body, other))
      assert.deepEqual(answer, { status: 200, body: rule })
    }
    assert.equal(await savedBy(rule), admin.user_id)
  })

  test('concurrent with others loses none', async () => {
    const rule = await create(onAccount('1'))
    const changes = [
      { notice: 'Ask.' },
      { audit_session: true },
      { ordinal: 5 },
      { conditions: 'when { context.has_reason }' },
    ]
    const answers = await Promise.all(changes.map((change) => update(rule, change)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const { notice, audit_session, ordinal, conditions, policy_text } = await read(rule)
    assert.deepEqual([notice, audit_session, ordinal, conditions], ['Ask.', true, 5, 'when { context.has_reason }'])
    for (const part of ['@notice', '@audit_session', 'has_reason']) assert.ok(policy_text.includes(part), part)
    assert.equal(await versionOf(admin), 7)
  })

  test('that is invalid changes nothing, and is refused before the rule is looked up', async () => {
    const rule = await create(onAccount('1'))
    for (const body of [{ policy_text: 'permit' }, { conditions: 'when {' }]) {
      for (const at of [rule, { id: newId() }]) {
        const answer = await changesNothing(() => update(at, body))
        assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_policy'])
      }
    }
    const misfit = await changesNothing(() => update(rule, { resource_scope_type: 'any', resource_entity_id: '2' }))
    assert.deepEqual([misfit.status, misfit.body.code], [400, 'invalid_input'])
  })
})
