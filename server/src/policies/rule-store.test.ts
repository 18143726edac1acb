import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { createdRule, idsOf, onAccount, policyTenants } from '../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import { findRuleSet } from '../policy-engine/deciding/rule-set-store.ts'
import type { Rule } from '../policy-engine/rule.ts'
import { createPolicy } from './create-policy.ts'
import { createRule } from './create-rule.ts'
import { deleteRule } from './delete-rule.ts'
import { getPolicy } from './get-policy.ts'
import { getRule } from './get-rule.ts'
import { reorderRules } from './reorder-rules.ts'
import { updateRule } from './update-rule.ts'

const testDb = await testDatabase()
const { database, asSuperuser } = testDb
const operations = { createPolicy, getPolicy, createRule, getRule, updateRule, deleteRule, reorderRules }
const call = await sliceServer(database, operations)
const { newTenant, newPolicy, versionOf, eventsOf, changesNothing: tracelessly } = policyTenants(testDb, call)
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

const read = async (rule: { id: string }) => (await call(admin, 'GET', `${rulesPath}/${rule.id}`)).body as Rule
const listRules = async () => (await call(admin, 'GET', `/v1/policies/${policy_id}`)).body.rules as Rule[]
const savedBy = async (rule: { id: string }) =>
  (await asSuperuser('select saved_by from policy_rule where id = $1', [rule.id]))[0]?.saved_by

suite('a rule', () => {
  test('is returned with its fields and its text, and listed in its policy', async () => {
    const before = await call(admin, 'GET', `/v1/policies/${policy_id}`)
    const rule = await create(onAccount('123456789012', { conditions: 'when { context.has_reason }', notice: 'Ask.' }))
    const { id, policy_text, created_at, updated_at, ...fields } = rule
    assert.deepEqual(fields, {
      policy_id,
      ordinal: 0,
      effect: 'permit',
      principal_scope_type: 'any',
      action_scope_type: 'any',
      action_ids: [],
      resource_scope_type: 'eq',
      resource_entity_type: 'cloud_account',
      resource_entity_id: '123456789012',
      conditions: 'when { context.has_reason }',
      notice: 'Ask.',
      audit_session: false,
      approval_mode: 'require',
    })
    assert.match(policy_text, /permit\(/)
    for (const moment of [created_at, updated_at]) assert.match(moment, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
    assert.deepEqual(await read({ id }), rule)
    const { body: after } = await call(admin, 'GET', `/v1/policies/${policy_id}`)
    assert.deepEqual(after.rules, [rule])
    assert.ok(String(after.updated_at) > String(before.body.updated_at))
  })

  test('may be sent as text, which is stored as it was written', async () => {
    const policy_text = '@notice("Ask.")\npermit ( principal, action, resource == cloud_account::"1");'
    const rule = await create({ policy_text, effect: 'forbid' })
    assert.equal(rule.policy_text, policy_text)
    assert.deepEqual([rule.effect, rule.notice, rule.resource_entity_id], ['permit', 'Ask.', '1'])
  })

  test('ignores structured fields beside its text, also on its change, even when they are not valid', async () => {
    const policy_text = 'permit (principal, action, resource == cloud_account::"1");'
    const invalid = {
      ...{ effect: 'garbage', principal_scope_type: 7, principal_entity_type: '', principal_entity_id: {} },
      ...{ action_scope_type: null, action_ids: 'all', resource_scope_type: [], resource_entity_type: 'x'.repeat(200) },
      ...{ resource_entity_id: 1, conditions: 'when {' },
    }
    const rule = await create({ policy_text, ...invalid })
    assert.deepEqual([rule.policy_text, rule.effect, rule.resource_entity_id], [policy_text, 'permit', '1'])
    const changed = await call(admin, 'PATCH', `${rulesPath}/${rule.id}`, {
      ...invalid,
      policy_text: policy_text.replace('permit', 'forbid'),
    })
    assert.deepEqual([changed.status, changed.body.effect], [200, 'forbid'])
  })

  const counting = {
    ordinal: -1,
    notice: 1,
    audit_session: 'yes',
    approval_mode: 'garbage',
    policy_text: 7,
    no_such: 1,
  }
  for (const [field, value] of Object.entries(counting)) {
    test(`is refused for an invalid \`${field}\` beside a text`, async () => {
      const text = 'permit(principal, action, resource);'
      const answer = await changesNothing(() => call(admin, 'POST', rulesPath, { policy_text: text, [field]: value }))
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_input'])
    })
  }

  test('takes part in the next decision, and its creation emits an event', async () => {
    const rule = await create(onAccount('1'))
    assert.equal(await versionOf(admin), 3)
    const { rules } = await findRuleSet(database.tenant(admin.tenant_id), '3')
    assert.deepEqual(idsOf(rules), [rule.id])
    assert.equal(rules[0]?.saved_by, admin.user_id)
    const event = (await eventsOf(admin)).findLast(({ type }) => type === 'policy.updated')
    assert.deepEqual(event, {
      type: 'policy.updated',
      subject_type: 'policy',
      subject_id: policy_id,
      actor_id: admin.user_id,
      data: { rule_id: rule.id, change: 'rule_created' },
    })
  })

  test('created by an API key is saved in the name of the key’s creator', async () => {
    const rule = await create(onAccount('1'), { ...admin, kind: 'api_key' })
    assert.equal(await savedBy(rule), admin.user_id)
  })

  test('comes last without an ordinal, and after the others that share its ordinal', async () => {
    assert.equal((await create(onAccount('1'))).ordinal, 0)
    assert.equal((await create(onAccount('2', { ordinal: 8 }))).ordinal, 8)
    assert.equal((await create(onAccount('3'))).ordinal, 9)
    assert.equal((await create(onAccount('4', { ordinal: 8 }))).ordinal, 8)
    assert.deepEqual(
      (await listRules()).map(({ resource_entity_id }) => resource_entity_id),
      ['1', '2', '4', '3'],
    )
  })

  test('comes last after a rule with the largest possible ordinal', async () => {
    await create(onAccount('1', { ordinal: 2_147_483_647 }))
    const last = await create(onAccount('2'))
    assert.equal(last.ordinal, 2_147_483_647)
    assert.equal((await listRules()).at(-1)?.id, last.id)
  })

  test('has its own ordinal if many are created at once (R9)', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, (_, index) => create(onAccount(String(index)))))
    assert.deepEqual(
      made.map(({ ordinal }) => ordinal).sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, index) => index),
    )
    assert.equal(await versionOf(admin), 14)
  })

  test('is refused beyond 10,000 rules of a tenant', async () => {
    const { id } = await create(onAccount('1'))
    const columns = (
      await asSuperuser<{ names: string }>(
        `select string_agg(column_name, ', ') as names from information_schema.columns
          where table_name = 'policy_rule' and column_name <> 'id'`,
      )
    )[0]?.names
    await asSuperuser(
      `insert into policy_rule (id, ${columns})
        select gen_random_uuid(), ${columns} from policy_rule, generate_series(1, 9998) where id = $1`,
      [id],
    )
    const both = await Promise.all([1, 2].map((n) => call(admin, 'POST', rulesPath, onAccount(String(n)))))
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422])
    const { status, body } = await changesNothing(() => call(admin, 'POST', rulesPath, onAccount('1')))
    assert.deepEqual([status, body.code], [422, 'unprocessable'])
    assert.equal((await call(admin, 'POST', `/v1/policies/${newId()}/rules`, onAccount('1'))).status, 404)
  })
})

suite('the statement of a rule', () => {
  const refused: [string, object, string][] = [
    ['neither text nor effect', {}, 'invalid_input'],
    ['an entity without its scope type', { effect: 'permit', principal_entity_id: 'x' }, 'invalid_input'],
    ['two statements (J2)', { policy_text: 'permit(principal, action, resource);'.repeat(2) }, 'invalid_policy'],
    ['a template slot (J2)', { policy_text: 'permit(principal == ?principal, action, resource);' }, 'invalid_policy'],
    [
      'conditions that begin another statement (J3)',
      { effect: 'forbid', conditions: 'when { true }; permit(principal, action, resource)' },
      'invalid_policy',
    ],
    [
      'conditions nested 10,000 deep (J3)',
      { effect: 'permit', conditions: `when { ${'('.repeat(10_000)}` },
      'invalid_policy',
    ],
    ['conditions of half a megabyte (J3)', { effect: 'permit', conditions: 'x'.repeat(500_000) }, 'invalid_policy'],
    ['a type that does not fit', { effect: 'permit', conditions: 'when { context.now == 1 }' }, 'invalid_policy'],
  ]
  for (const [what, body, code] of refused) {
    test(`is refused for ${what}, before the policy is looked up`, async () => {
      for (const path of [rulesPath, `/v1/policies/${newId()}/rules`]) {
        const answer = await changesNothing(() => call(admin, 'POST', path, body))
        assert.deepEqual([answer.status, answer.body.code], [400, code])
      }
    })
  }

  for (const id of ['"); permit(principal, action, resource); //', '\\u{1F600}', '\u0001', '"\n\\', '']) {
    test(`holds the entity id ${JSON.stringify(id)} as a value (J1)`, async () => {
      const rule = await create({
        effect: 'forbid',
        principal_scope_type: 'eq',
        principal_entity_type: 'User',
        principal_entity_id: id,
      })
      assert.equal(rule.principal_entity_id, id)
      const again = await create({ policy_text: rule.policy_text })
      assert.deepEqual([again.effect, again.principal_entity_id], ['forbid', id])
    })
  }
})

suite('a deleted rule', () => {
  test('is gone, and emits one event', async () => {
    const rule = await create(onAccount('1'))
    const path = `${rulesPath}/${rule.id}`
    assert.deepEqual(await call(admin, 'DELETE', path), { status: 204, body: {} })
    const deleted = (await eventsOf(admin)).findLast(({ type }) => type === 'policy.updated')
    assert.deepEqual(deleted?.data, { rule_id: rule.id, change: 'rule_deleted' })
    assert.equal(await versionOf(admin), 4)
    assert.equal((await changesNothing(() => call(admin, 'DELETE', path))).status, 404)
    assert.deepEqual((await findRuleSet(database.tenant(admin.tenant_id), '4')).rules, [])
  })
})

suite('a rule of another tenant or another policy', () => {
  test('gets the answer of an unknown rule', async () => {
    const other = await newTenant()
    const theirPolicy = await newPolicy(other)
    const { body: theirs } = await call(other, 'POST', `/v1/policies/${theirPolicy}/rules`, onAccount('1'))
    const mine = await create(onAccount('1'))
    const otherPolicy = await newPolicy(admin)
    const paths = [
      `/v1/policies/${theirPolicy}/rules/${theirs.id}`,
      `${rulesPath}/${theirs.id}`,
      `/v1/policies/${otherPolicy}/rules/${mine.id}`,
      `${rulesPath}/${newId()}`,
    ]
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      for (const path of paths) {
        const answer = await changesNothing(() =>
          call(admin, method, path, method === 'PATCH' ? { notice: 'x' } : undefined),
        )
        assert.deepEqual(answer, { status: 404, body: { code: 'not_found', message: 'rule not found' } })
      }
    }
    const intoTheirs = await call(admin, 'POST', `/v1/policies/${theirPolicy}/rules`, onAccount('2'))
    assert.deepEqual(intoTheirs, await call(admin, 'POST', `/v1/policies/${newId()}/rules`, onAccount('2')))
    assert.equal(intoTheirs.status, 404)
    assert.equal(
      (await call(admin, 'PATCH', `/v1/policies/${theirPolicy}/rules/reorder`, { ids: [theirs.id] })).status,
      404,
    )
    const unknown = await changesNothing(() => call(admin, 'PATCH', `${rulesPath}/reorder`, { ids: [theirs.id] }))
    assert.deepEqual([unknown.status, unknown.body.code], [422, 'unprocessable'])
    assert.equal(await versionOf(other), 3)
  })
})

test('the scope to read does not permit writing a rule', async () => {
  const rule = await create(onAccount('1'))
  const reader = { ...admin, scopes: ['policies:read'] }
  assert.equal((await call(reader, 'GET', `${rulesPath}/${rule.id}`)).status, 200)
  for (const [method, path, body] of [
    ['POST', rulesPath, {}],
    ['PATCH', `${rulesPath}/${rule.id}`, { effect: 'x' }],
    ['DELETE', `${rulesPath}/${rule.id}`, undefined],
    ['PATCH', `${rulesPath}/reorder`, { ids: [] }],
  ] as const) {
    const answer = await changesNothing(() => call(reader, method, path, body))
    assert.deepEqual([answer.status, answer.body.code], [403, 'forbidden'])
  }
})
