import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { createdRule, onAccount, policyTenants } from '../../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../../test/support/slice-server.ts'
import { newId } from '../../kernel/id.ts'
import type { Rule } from '../../policy-engine/rule.ts'
import { replacePolicyCases } from '../cases/replace-policy-cases.ts'
import { createPolicy } from '../create-policy.ts'
import { createRule } from '../create-rule.ts'
import { getPolicy } from '../get-policy.ts'
import { getPolicySchema } from '../get-policy-schema.ts'
import { maxRules } from '../policy.ts'
import { updatePolicy } from '../update-policy.ts'
import { exportPolicy } from './export-policy.ts'
import { applyImport } from './import-policy.flow.ts'
import { importPolicy } from './import-policy.ts'
import { findPolicyAt } from './policy-file-store.ts'
import { planImport } from './policy-import.ts'

const testDb = await testDatabase()
const { database, asSuperuser } = testDb
const operations = {
  createPolicy,
  getPolicySchema,
  getPolicy,
  updatePolicy,
  createRule,
  exportPolicy,
  importPolicy,
  replacePolicyCases,
}
const call = await sliceServer(database, operations)
const { newTenant, newUser, newPolicy, versionOf, eventsOf, changesNothing } = policyTenants(testDb, call)

let admin: Caller
let policy_id: string
let filePath: string

beforeEach(async () => {
  admin = await newTenant()
  policy_id = await newPolicy(admin)
  filePath = `/v1/policies/${policy_id}/cedar`
})

const create = (body: object) => createdRule(call, admin, `/v1/policies/${policy_id}/rules`, body)
const rulesOf = async () => (await call(admin, 'GET', `/v1/policies/${policy_id}`)).body.rules as Rule[]
const exported = async () => String((await call(admin, 'GET', filePath)).body.cedar)
const send = (cedar: string, { by = admin, query = '' } = {}) => call(by, 'PUT', `${filePath}${query}`, { cedar })
const savers = async () =>
  (await asSuperuser('select saved_by from policy_rule where tenant_id = $1 order by ordinal', [admin.tenant_id])).map(
    ({ saved_by }) => saved_by,
  )
const account = (id: string, head = '') => `${head}permit(principal, action, resource == cloud_account::"${id}");`

suite('a policy as a file', () => {
  test('is returned as JSON or as plain text, and changes nothing when imported unchanged', async () => {
    await create(onAccount('1', { notice: 'Ask.', approval_mode: 'auto' }))
    await create({ policy_text: '@id("two")\nforbid(principal, action, resource in cloud_account::"2");', ordinal: 9 })
    const file = await exported()
    const plain = await call(admin, 'GET', filePath, undefined, { accept: 'text/plain, */*' })
    assert.deepEqual([plain.status, plain.text], [200, file])
    assert.equal(
      (await call(admin, 'GET', filePath, undefined, { accept: 'application/json, text/plain' })).body.cedar,
      file,
    )
    const other = await newUser(admin)
    await changesNothing(admin, async () => {
      const none = { added: 0, changed: 0, removed: 0, unchanged: 2, changes: [] }
      assert.deepEqual((await send(file, { by: other })).body, { dry_run: false, ...none })
      const asText = await call(other, 'PUT', filePath, file.replaceAll('\n', '\r\n'), { 'content-type': 'text/plain' })
      assert.deepEqual(asText.body, { dry_run: false, ...none })
    })
  })

  test('is imported in one change, which leaves identical rules and who saved them', async () => {
    const [kept, moved, changed, gone] = [
      await create(onAccount('111111111111')),
      await create(onAccount('222222222222')),
      await create(onAccount('333333333333')),
      await create(onAccount('444444444444')),
    ]
    const version = await versionOf(admin)
    const other = await newUser(admin)
    const file = `@id("${kept.id}") ${account('111111111111')} @ordinal("5") @id("${moved.id}") permit ( principal, action, resource == cloud_account::"222222222222" );
@ordinal("2") @id("${changed.id}") ${account('999999999999', '@approval_mode("auto")')} @ordinal("7") ${account('888888888888')}`
    const answer = await send(file, { by: other })
    const rules = await rulesOf()
    const [, , , added] = [...rules].sort((a, b) => a.created_at.localeCompare(b.created_at))
    assert.deepEqual(answer.body, {
      dry_run: false,
      added: 1,
      changed: 2,
      removed: 1,
      unchanged: 1,
      changes: [
        { change: 'changed', rule_id: moved.id, statement: 2, line: 1 },
        { change: 'changed', rule_id: changed.id, statement: 3, line: 2 },
        { change: 'added', rule_id: added?.id, statement: 4, line: 2 },
        { change: 'removed', rule_id: gone.id },
      ],
    })
    assert.deepEqual(
      rules.map(({ id, ordinal, resource_entity_id, approval_mode }) => [
        id,
        ordinal,
        resource_entity_id,
        approval_mode,
      ]),
      [
        [kept.id, 0, '111111111111', 'require'],
        [changed.id, 2, '999999999999', 'auto'],
        [moved.id, 5, '222222222222', 'require'],
        [added?.id, 7, '888888888888', 'require'],
      ],
    )
    assert.deepEqual(rules[0], kept)
    assert.deepEqual(await savers(), [admin.user_id, other.user_id, admin.user_id, other.user_id])
    assert.equal(await versionOf(admin), version + 1)
    const events = await eventsOf(admin)
    assert.deepEqual(
      events.find(({ data }) => data.change === 'rules_imported'),
      {
        type: 'policy.updated',
        subject_type: 'policy',
        subject_id: policy_id,
        actor_id: other.user_id,
        data: {
          change: 'rules_imported',
          added: { ids: [added?.id], count: 1 },
          changed: { ids: [moved.id, changed.id], count: 2 },
          removed: { ids: [gone.id], count: 1 },
        },
      },
    )
    const texts = [
      { rule_id: changed.id, before: changed.policy_text, after: rules[1]?.policy_text },
      { rule_id: gone.id, before: gone.policy_text },
      { rule_id: added?.id, after: added?.policy_text },
    ]
    assert.deepEqual(events.findLast(({ type }) => type === 'policy.rule_texts')?.data, {
      rules: texts.toSorted((one, next) => (String(one.rule_id) < String(next.rule_id) ? -1 : 1)),
    })
  })

  test('returns in a dry run what would change, and changes nothing', async () => {
    const rule = await create(onAccount('1'))
    await changesNothing(admin, async () => {
      const { body } = await send(`${account('2')}\n@approval_mode("auto") permit(principal, action, resource);`, {
        query: '?dry_run=true',
      })
      const [first, second, third] = body.changes as { warnings?: string[] }[]
      assert.deepEqual([body.dry_run, body.added, body.removed], [true, 2, 1])
      assert.match(String(first?.warnings), /those approve without a person/)
      assert.match(String(second?.warnings), /approves every request of every user at once/)
      assert.deepEqual(third, { change: 'removed', rule_id: rule.id })
    })
  })

  test('returns a warning of a rule that trusts an unverified address, in a dry run too', async () => {
    const rule = (id: string, and = '') =>
      account(id).replace(';', ` when { principal.email like "*@ops.example"${and} };`)
    const cedar = `${rule('000000000001')}\n${rule('000000000002', ' && principal.email_verified')}`
    for (const query of ['?dry_run=true', '']) {
      const [first, second] = (await send(cedar, { query })).body.changes as { warnings?: string[] }[]
      assert.match(String(first?.warnings), /; add `&& principal\.email_verified` to its `when`$/)
      assert.equal(second?.warnings, undefined)
    }
  })

  test('is refused in a dry run too if it would break a required case', async () => {
    await create(onAccount('111122223333'))
    const kept = {
      case: 'one',
      required: true,
      asks: 'Read',
      resource: { type: 'cloud_account', id: '111122223333' },
      expect: 'permit',
    }
    assert.equal((await call(admin, 'PUT', '/v1/policies/cases', { cases: [kept] })).status, 200)
    await changesNothing(admin, async () => {
      for (const query of ['?dry_run=true', ''])
        assert.equal((await send(account('2'), { query })).body.code, 'case_broken')
      assert.equal((await send(`${account('2')}${account('111122223333')}`, { query: '?dry_run=true' })).body.added, 1)
    })
  })

  test('with a fault changes nothing, and the refusal has the fault’s place', async () => {
    await create(onAccount('1'))
    await changesNothing(admin, async () => {
      const { status, body } = await send(`${account('1')}\n permit(principal, action);`)
      assert.deepEqual([status, body.code], [400, 'invalid_policy'])
      const details = body.details as { statement: number; line: number; column: number; faults: unknown[] }
      assert.deepEqual([details.statement, details.line, details.column, details.faults.length], [2, 2, 26, 1])
    })
  })

  test('is refused with NUL, without text, or with another content type', async () => {
    await changesNothing(admin, async () => {
      const put = (text: string, type = 'text/plain') => call(admin, 'PUT', filePath, text, { 'content-type': type })
      assert.deepEqual(
        [(await put('// \0')).status, (await put('')).status, (await put('// a', 'text/html')).status],
        [400, 400, 415],
      )
    })
  })

  test('is found only in its own tenant', async () => {
    const stranger = await newTenant()
    assert.equal((await call(stranger, 'GET', filePath)).status, 404)
    assert.equal((await send('// nothing', { by: stranger })).status, 404)
    assert.equal((await call(admin, 'PUT', `/v1/policies/${newId()}/cedar`, { cedar: '//' })).status, 404)
  })

  test('never leaves a tenant with more than the maximum number of rules', async () => {
    await asSuperuser(
      `insert into policy_rule (tenant_id, id, policy_id, ordinal, effect, principal_scope_type, action_scope_type,
          action_ids, resource_scope_type, policy_text, audit_session)
        select $1, gen_random_uuid(), $2, n, 'permit', 'any', 'any', '{}', 'any',
          'permit(principal, action, resource);', false
        from generate_series(1, $3::integer) n`,
      [admin.tenant_id, await newPolicy(admin), maxRules - 1],
    )
    assert.equal((await send(account('1'))).status, 200)
    await changesNothing(admin, async () => {
      const { status, body } = await send(`${account('1')}${account('2')}`)
      assert.deepEqual([status, body.code], [422, 'unprocessable'])
      assert.match(String(body.message), /maximum of 10000 rules by 1;/)
    })
    assert.equal((await send(account('3'))).status, 200)
  })

  test('is not saved if the rules changed after it was compared with them', async () => {
    const ctx = {
      tx: database.tenant(admin.tenant_id),
      actor: { kind: 'user', user_id: admin.user_id, api_key_id: null, scopes: new Set<string>() },
      request_id: 'r',
    } as const
    const found = await findPolicyAt(ctx.tx, policy_id)
    assert.ok(found)
    const plan = await planImport(account('1'), found.policy.rules)
    await create(onAccount('2'))
    await changesNothing(admin, async () =>
      assert.equal(await applyImport(ctx, { policy_id, version: found.version, plan }), false),
    )
  })

  test('is imported whole, one file after another, if several come at once', async () => {
    const files = ['1', '2', '3'].map((tag) => [1, 2].map((id) => account(`${tag}${id}`)).join(''))
    const answers = await Promise.all(files.map((file) => send(file)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    const tags = new Set((await rulesOf()).map(({ resource_entity_id }) => resource_entity_id?.[0]))
    assert.deepEqual([tags.size, (await rulesOf()).length], [1, 2])
  })
})

test('the schema has the actions that the tenant has used, as JSON and as text', async () => {
  await create({ effect: 'permit', action_scope_type: 'in', action_ids: ['ReadOnly', 'a "quoted" one', 'approve'] })
  const { body } = await call(admin, 'GET', '/v1/policies/schema')
  for (const action of ['action "ReadOnly"', 'action "a \\"quoted\\" one"', 'action "approve"'])
    assert.ok(String(body.cedar).includes(action))
  const { actions } = (body.json as Record<string, { actions: object }>)[''] ?? { actions: {} }
  assert.deepEqual(Object.keys(actions).sort(), ['ReadOnly', '__unnamed', 'a "quoted" one', 'approve'])
  assert.equal((await call(admin, 'GET', '/v1/policies/schema', undefined, { accept: 'text/plain' })).text, body.cedar)
})
