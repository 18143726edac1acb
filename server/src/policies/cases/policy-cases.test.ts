import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { policyTenants } from '../../../test/support/policy-tenant.ts'
import { type Caller, sliceServer } from '../../../test/support/slice-server.ts'
import { testPolicies } from '../../policy-analysis/test-policies.ts'
import { policyEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import { createPolicy } from '../create-policy.ts'
import { createRule } from '../create-rule.ts'
import { updatePolicy } from '../update-policy.ts'
import { casesTag, maxCases, type PolicyCase } from './case.ts'
import { listPolicyCases } from './list-policy-cases.ts'
import type { CaseOutcomes } from './outcome.ts'
import { replacePolicyCases } from './replace-policy-cases.ts'

const testDb = await testDatabase()
const { database } = testDb
const operations = { createPolicy, updatePolicy, createRule, listPolicyCases, replacePolicyCases, testPolicies }
const call = await sliceServer(database, operations)
const { newTenant, newPolicy, versionOf, eventsOf } = policyTenants(testDb, call)

let admin: Caller

beforeEach(async () => {
  admin = await newTenant()
})

const account = { type: 'cloud_account', id: '111122223333' } as const
const reads: PolicyCase = {
  case: 'an engineer reads production',
  required: true,
  who: { groups: ['engineers'] },
  asks: 'ReadOnlyAccess',
  resource: { ...account, tags: { env: 'production' }, in: ['cloud_organizational_unit::ou-ab12-12345678'] },
  context: { duration_seconds: 14_400 },
  expect: 'permit',
}
const deletes: PolicyCase = { case: 'nobody deletes', asks: 'Delete', resource: account, expect: 'forbid' }

const put = (cases: unknown, caller = admin) => call(caller, 'PUT', '/v1/policies/cases', { cases })
const list = async (caller = admin) => (await call(caller, 'GET', '/v1/policies/cases')).body.cases as PolicyCase[]
const tried = async (body: object = {}, caller = admin) => {
  const answer = await call(caller, 'POST', '/v1/policies/test', body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body as CaseOutcomes
}
const permit = async (policy_text: string, caller = admin) => {
  const answer = await call(caller, 'POST', `/v1/policies/${await newPolicy(caller)}/rules`, { policy_text })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return String(answer.body.id)
}

suite('the cases of a tenant', () => {
  test('are returned as they were sent, in their order', async () => {
    assert.deepEqual(await list(), [])
    const { status, body } = await put([deletes, reads])
    assert.equal(status, 200)
    assert.deepEqual(await list(), [deletes, reads])
    assert.deepEqual(body.cases, [deletes, reads])
    await put([reads])
    assert.deepEqual(await list(), [reads])
    await put([])
    assert.deepEqual(await list(), [])
  })

  test('are not replaced by a call whose `If-Match` is outdated', async () => {
    const [none, one] = [{ cases: [] }, { cases: [reads] }].map(casesTag)
    const seeing = (etag: string | undefined, cases: object[]) =>
      call(admin, 'PUT', '/v1/policies/cases', { cases }, { 'if-match': String(etag) })
    const answers = await Promise.all([[reads], [deletes]].map((cases) => seeing(none, cases)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412])
    const { expect, ...others } = reads
    await put([{ expect, ...others }])
    assert.equal((await seeing(none, [])).body.code, 'precondition_failed')
    assert.deepEqual(await list(), [reads])
    assert.equal((await seeing(one, [deletes])).status, 200)
  })

  test('emit an event only when they change, and leave the version of the rules', async () => {
    await put([deletes, reads])
    await put([deletes, reads])
    assert.deepEqual(await eventsOf(admin), [
      {
        type: 'policy.cases_changed',
        subject_type: 'tenant',
        subject_id: admin.tenant_id,
        actor_id: admin.user_id,
        data: { count: 2, required: 1 },
      },
    ])
    assert.equal(await versionOf(admin), 1)
  })

  test('are answered with the outcome of each; a required case that fails is stored', async () => {
    const { body } = await put([reads, deletes])
    const { passed, failed, outcomes } = body as unknown as CaseOutcomes
    assert.deepEqual([passed, failed], [1, 1])
    assert.deepEqual(
      outcomes.map((one) => [one.case, one.required, one.passed, one.got.answer]),
      [
        [reads.case, true, false, 'forbid'],
        [deletes.case, false, true, 'forbid'],
      ],
    )
    assert.match(outcomes[0]?.got.reasoning ?? '', /no rule permits `ReadOnlyAccess` on cloud_account `111122223333`/)
  })

  test('belong to one tenant (T1)', async () => {
    await put([reads])
    const stranger = await newTenant()
    assert.deepEqual(await list(stranger), [])
    await put([deletes], stranger)
    assert.deepEqual(await list(), [reads])
    await permit('permit(principal, action, resource);', stranger)
    assert.equal((await tried()).failed, 1)
  })

  test('number at most a thousand', async () => {
    const many = Array.from({ length: maxCases + 1 }, (_, index) => ({ ...deletes, case: `case ${index}` }))
    assert.equal((await put(many)).status, 400)
    const { status, body } = await put(many.slice(1))
    assert.deepEqual([status, body.passed], [200, maxCases])
  })
})

suite('a test of policies', () => {
  test('evaluates the tenant’s cases, or sent cases without storing them', async () => {
    await put([deletes])
    assert.deepEqual(
      (await tried()).outcomes.map((one) => one.case),
      [deletes.case],
    )
    const { passed, failed } = await tried({ cases: [reads, deletes] })
    assert.deepEqual([passed, failed], [1, 1])
    assert.deepEqual(await list(), [deletes])
  })

  test('returns the expected and the actual answer, with the rules that decided', async () => {
    const id = await permit(
      '@notice("Be careful.") @approval_mode("auto") permit(principal in Group::"engineers", action, resource);',
    )
    const wants = { mode: 'require', audit_session: true, notice: 'careful', rule_ids: [id] } as const
    const { outcomes } = await tried({ cases: [{ ...reads, ...wants }] })
    const reasoning = 'approved at once by a rule (Be careful.)'
    assert.deepEqual(outcomes, [
      {
        case: reads.case,
        required: true,
        passed: false,
        expected: { expect: 'permit', ...wants },
        got: {
          answer: 'permit',
          mode: 'auto',
          audit_session: false,
          notices: ['Be careful.'],
          reasoning,
          rule_ids: [id],
        },
      },
    ])
  })

  test('shows rules only to a caller who may read them', async () => {
    await permit('permit(principal, action, resource);')
    const writer = { ...admin, scopes: ['policies:write'] }
    const { status, body } = await put([reads], writer)
    assert.equal(status, 200)
    const got = (body.outcomes as CaseOutcomes['outcomes'])[0]?.got
    assert.deepEqual(got, { answer: 'permit', mode: 'require', audit_session: false, notices: [] })
    assert.equal((await call(writer, 'POST', '/v1/policies/test', {})).status, 403)
    assert.equal((await put([], { ...admin, scopes: ['policies:read'] })).status, 403)
  })

  test('evicts no rule in force from the cache', async () => {
    await tried()
    const held = policyEvaluator.rules.held()
    const rules = Array.from({ length: 50 }, () => ({ effect: 'permit' }))
    const draft = { policies: [{ name: 'Many', rules }] }
    assert.equal((await tried({ cases: [reads], draft })).passed, 1)
    assert.equal(policyEvaluator.rules.held(), held)
  })

  test('evaluates a draft, of changes or of the whole set, as if it were saved', async () => {
    const add = { create_policy: { name: 'More', rules: [{ effect: 'permit' }] } }
    const all = { name: 'All', rules: [{ policy_text: 'permit(principal in Group::"engineers", action, resource);' }] }
    const drafts: [draft: object, answers: string[]][] = [
      [{ changes: [add] }, ['permit', 'permit']],
      [{ policies: [all] }, ['permit', 'forbid']],
    ]
    await put([reads, deletes])
    for (const [draft, answers] of drafts) {
      const { outcomes } = await tried({ draft })
      assert.deepEqual(
        outcomes.map(({ got }) => got.answer),
        answers,
      )
    }
    assert.equal((await tried()).failed, 1)
    const faulty = { draft: { policies: [{ name: 'a', rules: [{ policy_text: 'permit(' }] }] } }
    const { status, body } = await call(admin, 'POST', '/v1/policies/test', faulty)
    assert.deepEqual([status, body.code], [400, 'invalid_policy'])
    assert.equal((body.details as { pointer: string }).pointer, '/draft/policies/0/rules/0')
  })

  test('changes nothing', async () => {
    const before = await eventsOf(admin)
    await tried({ cases: [reads] })
    assert.deepEqual([await eventsOf(admin), await versionOf(admin)], [before, 1])
  })
})

suite('a case is refused, with a pointer to the fault', () => {
  const bucket = { type: 'cloud_storage_bucket', id: 'logs' } as const
  const faulty: [name: string, change: object, pointer: string][] = [
    ['without a question', { asks: undefined }, '/asks'],
    ['that both asks and approves', { approves: 'Delete' }, '/approves'],
    ['that asks for approve', { asks: 'approve' }, '/asks'],
    ['about an action reserved for the engine', { asks: '__unnamed' }, '/asks'],
    ['with a requester beside `asks`', { requester: { id: 'ada' } }, '/requester'],
    ['with an invalid account number', { resource: { ...account, id: '12' } }, '/resource/id'],
    ['with an account number that is not text', { resource: { ...account, id: 111122223333 } }, '/resource/id'],
    ['about a resource whose parent is not type and id', { resource: { ...account, in: ['ou-1'] } }, '/resource/in/0'],
    [
      'about an account with a bucket as its parent',
      { resource: { ...account, in: ['cloud_storage_bucket::logs'] } },
      '/resource/in/0',
    ],
    ['about a bucket in an invalid account', { resource: { ...bucket, in: ['cloud_account::12'] } }, '/resource/in/0'],
    [
      'with a tag name that is an escape of the engine',
      { resource: { ...account, tags: { __extn: 'x' } } },
      '/resource/tags',
    ],
    [
      'with a tag value that is an escape of the engine',
      { resource: { ...account, tags: { a: { __extn: 1 } } } },
      '/resource/tags/a',
    ],
    ['with an escape of the engine as an id', { who: { id: { __extn: { fn: 'unknown', arg: 'x' } } } }, '/who/id'],
    ['with NUL in a name', { case: 'a\0b' }, '/cases/0/case'],
    ['on a day that does not exist', { context: { now: '2025-02-30T00:00:00Z' } }, '/context/now'],
    ['after the year 9999', { context: { now: '9999-12-31T23:59:59-12:00' } }, '/context/now'],
    ['in an unknown time zone', { context: { time_zone: 'Mars/Base' } }, '/context/time_zone'],
    ['from an invalid address', { context: { source_ip: '10.0.0.0/8' } }, '/context/source_ip'],
    [
      'about an emergency without a reason',
      { context: { break_glass: true, has_reason: false } },
      '/context/has_reason',
    ],
    ['that expects a forbid with a mode', { mode: 'auto' }, '/mode'],
    ['that expects a mode of an approval', { asks: undefined, approves: 'a', expect: 'permit', mode: 'auto' }, '/mode'],
    ['with an unknown field', { on: account }, '/on'],
  ]
  for (const [name, change, pointer] of faulty)
    test(name, async () => {
      for (const [method, path] of [
        ['PUT', '/v1/policies/cases'],
        ['POST', '/v1/policies/test'],
      ] as const) {
        const { status, body } = await call(admin, method, path, { cases: [{ ...deletes, ...change }] })
        assert.deepEqual([status, body.code], [400, 'invalid_input'], JSON.stringify(body))
        const text = JSON.stringify(body.details ?? body.message)
        assert.ok(text.includes(pointer), text)
      }
      assert.deepEqual(await list(), [])
    })

  test('with the name of another case', async () => {
    const { status, body } = await put([deletes, reads, deletes])
    assert.equal(status, 400)
    assert.deepEqual(body.details, {
      fields: [{ pointer: '/cases/2/case', why: 'is also the name of `/cases/0`; give each case its own name' }],
    })
  })
})
