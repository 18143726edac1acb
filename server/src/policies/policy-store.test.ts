import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { idsOf, policyTenants } from '../../test/support/policy-tenant.ts'
import { type Answer, type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import { findRuleSet } from '../policy-engine/deciding/rule-set-store.ts'
import { createPolicy } from './create-policy.ts'
import { createRule } from './create-rule.ts'
import { deletePolicy } from './delete-policy.ts'
import { getPolicy } from './get-policy.ts'
import { listPolicies } from './list-policies.ts'
import type { Policy } from './policy.ts'
import { reorderPolicies } from './reorder-policies.ts'
import { updatePolicy } from './update-policy.ts'

const testDb = await testDatabase()
const { database, asSuperuser } = testDb
const operations = { createPolicy, listPolicies, getPolicy, updatePolicy, deletePolicy, reorderPolicies, createRule }
const call = await sliceServer(database, operations)
const { newTenant, versionOf, eventsOf, changesNothing: tracelessly } = policyTenants(testDb, call)
const changesNothing = <Result>(attempt: () => Promise<Result>) => tracelessly(admin, attempt)

let admin: Caller

beforeEach(async () => {
  admin = await newTenant()
})

async function create(body: object, caller = admin): Promise<Policy> {
  const answer = await call(caller, 'POST', '/v1/policies', body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body as Policy
}

const createSeveral = async (...names: string[]) => {
  const made: Policy[] = []
  for (const name of names) made.push(await create({ name }))
  return made
}

const list = async (query = '') => (await call(admin, 'GET', `/v1/policies${query}`)).body as { data: Policy[] }
const reorder = (ids: unknown, caller = admin) => call(caller, 'PATCH', '/v1/policies/reorder', { ids })

test('a policy is created enabled, without rules, after all others', async () => {
  const first = await create({ name: 'Production' })
  assert.deepEqual(Object.keys(first), [
    'id',
    'name',
    'description',
    'enabled',
    'priority',
    'rules',
    'created_at',
    'updated_at',
  ])
  assert.deepEqual([first.description, first.enabled, first.priority, first.rules], ['', true, 0, []])
  assert.match(first.created_at, /Z$/)
  const second = await create({ name: 'Production', description: 'again', enabled: false })
  assert.deepEqual([second.description, second.enabled, second.priority], ['again', false, 1])
  assert.deepEqual((await call(admin, 'GET', `/v1/policies/${second.id}`)).body, second)
})

test('a policy may have a given priority, unless another policy has it', async () => {
  await create({ name: 'a', priority: 7 })
  assert.equal((await create({ name: 'b' })).priority, 8)
  const { status, body } = await changesNothing(() => call(admin, 'POST', '/v1/policies', { name: 'c', priority: 7 }))
  assert.deepEqual([status, body.code], [409, 'priority_taken'])
  assert.match(String(body.message), /`7`/)
  await create({ name: 'd', priority: 1_000_000_000 })
  assert.equal((await create({ name: 'e' })).priority, 1_000_000_001)
})

test('policies created at the same time have distinct priorities (R9)', async () => {
  const made = await Promise.all(Array.from({ length: 12 }, (_, index) => create({ name: `p${index}` })))
  assert.deepEqual(
    made.map(({ priority }) => priority).sort((a, b) => a - b),
    Array.from({ length: 12 }, (_, index) => index),
  )
  assert.equal(await versionOf(admin), 13)
})

const faulty: [string, unknown][] = [
  ['no name', {}],
  ['an empty name', { name: '' }],
  ['a name of two lines', { name: 'a\nb' }],
  ['a name of 201 characters', { name: 'x'.repeat(201) }],
  ['a negative priority', { name: 'a', priority: -1 }],
  ['a priority without room above', { name: 'a', priority: 2_147_483_647 }],
  ['an unknown field', { name: 'a', tenant_id: newId() }],
]
for (const [what, body] of faulty) {
  test(`a policy with ${what} is not created`, async () => {
    const answer = await changesNothing(() => call(admin, 'POST', '/v1/policies', body))
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_input'])
  })
}

test('the list is ordered by priority, across pages', async () => {
  const [a, b, c] = await createSeveral('a', 'b', 'c')
  assert.ok(a && b && c)
  await reorder([c.id, a.id])
  const first = await call(admin, 'GET', '/v1/policies?limit=2')
  const second = await call(admin, 'GET', `/v1/policies?limit=2&cursor=${first.body.next_cursor}`)
  const data = [first, second].flatMap(({ body }) => body.data as Policy[])
  assert.deepEqual(idsOf(data), [c.id, b.id, a.id])
  assert.equal(second.body.has_more, false)
})

test('an update changes only the fields sent, and emits an event', async () => {
  const before = await create({ name: 'Production', description: 'of old' })
  const { status, body } = await call(admin, 'PATCH', `/v1/policies/${before.id}`, { name: 'Prod', enabled: false })
  assert.equal(status, 200)
  assert.deepEqual(body, { ...before, name: 'Prod', enabled: false, updated_at: body.updated_at })
  assert.equal(await versionOf(admin), 3)
  assert.deepEqual((await eventsOf(admin)).at(-1), {
    type: 'policy.updated',
    subject_type: 'policy',
    subject_id: before.id,
    actor_id: admin.user_id,
    data: { change: 'policy_changed', fields: ['name', 'enabled'], enabled: false },
  })
})

test('an update to the current values changes nothing and emits no event', async () => {
  const policy = await create({ name: 'Production' })
  for (const body of [{}, undefined, { name: 'Production', enabled: true }]) {
    const answer = await changesNothing(() => call(admin, 'PATCH', `/v1/policies/${policy.id}`, body))
    assert.deepEqual(answer, { status: 200, body: policy })
  }
})

test('concurrent updates of different fields are all kept', async () => {
  const { id } = await create({ name: 'Production' })
  const changes = [{ name: 'Prod' }, { description: 'new' }, { enabled: false }]
  await Promise.all(changes.map((change) => call(admin, 'PATCH', `/v1/policies/${id}`, change)))
  const { body } = await call(admin, 'GET', `/v1/policies/${id}`)
  assert.deepEqual([body.name, body.description, body.enabled], ['Prod', 'new', false])
  assert.equal(await versionOf(admin), 5)
})

test('the rules of a disabled policy are not in the rule set', async () => {
  const { id } = await create({ name: 'Production' })
  await call(admin, 'POST', `/v1/policies/${id}/rules`, { effect: 'permit' })
  const tx = database.tenant(admin.tenant_id)
  assert.equal((await findRuleSet(tx, '3')).rules.length, 1)
  await call(admin, 'PATCH', `/v1/policies/${id}`, { enabled: false })
  const ruleSet = await findRuleSet(tx, '4')
  assert.deepEqual([ruleSet.version, ruleSet.rules], ['4', []])
})

test('concurrent readers share one rule set, never older than the requested version', async () => {
  const { id } = await create({ name: 'Production' })
  const tx = database.tenant(admin.tenant_id)
  for (const version of [3, 4]) {
    await call(admin, 'POST', `/v1/policies/${id}/rules`, { effect: 'permit' })
    const [one, ...others] = await Promise.all([1, 2, 3].map(() => findRuleSet(tx, String(version))))
    assert.deepEqual([one?.version, one?.rules.length], [String(version), version - 2])
    for (const other of others) assert.equal(other.rules, one?.rules)
  }
})

test('a deleted policy is gone with its rules', async () => {
  const { id } = await create({ name: 'Production' })
  await call(admin, 'POST', `/v1/policies/${id}/rules`, { effect: 'permit' })
  assert.deepEqual(await call(admin, 'DELETE', `/v1/policies/${id}`), { status: 204, body: {} })
  assert.equal((await call(admin, 'GET', `/v1/policies/${id}`)).status, 404)
  assert.deepEqual(await asSuperuser('select id from policy_rule where tenant_id = $1', [admin.tenant_id]), [])
  assert.equal(await versionOf(admin), 4)
  assert.equal((await eventsOf(admin)).filter(({ type }) => type === 'policy.deleted').length, 1)
  assert.equal((await changesNothing(() => call(admin, 'DELETE', `/v1/policies/${id}`))).status, 404)
})

test('a policy of another tenant gets the answer of an unknown one (T1)', async () => {
  const other = await newTenant()
  const { id } = await create({ name: 'Theirs' }, other)
  const version = await versionOf(other)
  for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
    const body = method === 'PATCH' ? { name: 'Mine' } : undefined
    const theirs = await changesNothing(() => call(admin, method, `/v1/policies/${id}`, body))
    assert.deepEqual(theirs, await call(admin, method, `/v1/policies/${newId()}`, body))
    assert.equal(theirs.status, 404)
  }
  assert.deepEqual((await call(other, 'GET', `/v1/policies/${id}`)).body.name, 'Theirs')
  assert.equal(await versionOf(other), version)
})

test('a reordering puts the listed policies into the given order on their own places', async () => {
  const made = await createSeveral('a', 'b', 'c', 'd')
  const [a, b, c, d] = idsOf(made)
  assert.deepEqual(await reorder([d, a]), { status: 204, body: {} })
  const { data } = await list()
  assert.deepEqual(idsOf(data), [d, b, c, a])
  assert.deepEqual(
    data.map(({ priority }) => priority),
    [0, 1, 2, 3],
  )
  assert.equal(await versionOf(admin), 6)
  assert.deepEqual((await eventsOf(admin)).at(-1), {
    type: 'policy.reordered',
    subject_type: 'tenant',
    subject_id: admin.tenant_id,
    actor_id: admin.user_id,
    data: { change: 'policies_reordered', ids: [d, a], count: 2 },
  })
})

test('a reordering to the current order changes nothing and emits no event', async () => {
  const ids = idsOf(await createSeveral('a', 'b'))
  assert.equal((await changesNothing(() => reorder(ids))).status, 204)
})

test('a reordering with a foreign id changes nothing, and does not say which id it is (T6)', async () => {
  const other = await newTenant()
  const foreign = await create({ name: 'Theirs' }, other)
  const [a, b] = idsOf(await createSeveral('a', 'b'))
  const answers: Answer[] = []
  for (const ids of [
    [b, foreign.id, a],
    [b, newId(), a],
    [foreign.id, b, a],
  ]) {
    answers.push(await changesNothing(() => reorder(ids)))
  }
  assert.equal(answers[0]?.status, 400)
  assert.equal(answers[0]?.body.code, 'invalid_input')
  assert.deepEqual(answers[1], answers[0])
  assert.deepEqual(answers[2], answers[0])
})

test('a reordering takes up to 10,000 uuids, each once (I2)', async () => {
  const [a, b] = idsOf(await createSeveral('a', 'b'))
  const many = Array.from({ length: 10_001 }, () => newId())
  for (const ids of [[], [b, a, b], [b, a, b?.toUpperCase()], [b, 'x'], [b, null], {}, undefined, many]) {
    const { status, body } = await changesNothing(() => reorder(ids))
    assert.deepEqual([status, body.code], [400, 'invalid_input'])
    assert.ok(JSON.stringify(body).length < 5_000)
  }
  assert.equal((await reorder([b?.toUpperCase(), a])).status, 204)
})

test('concurrent reorderings leave a total order without a duplicate priority (R9)', async () => {
  const ids = idsOf(await createSeveral('a', 'b', 'c', 'd', 'e'))
  const [a, b, c, d, e] = ids
  const answers = await Promise.all([
    reorder([e, d, c, b, a]),
    reorder([b, a]),
    reorder([c, e, a]),
    create({ name: 'f' }),
    reorder([a, e]),
    reorder([d, b, c]),
  ])
  assert.deepEqual(
    answers.map((answer) => ('status' in answer ? answer.status : 201)),
    [204, 204, 204, 201, 204, 204],
  )
  const { data } = await list()
  assert.deepEqual(
    data.map(({ priority }) => priority),
    [0, 1, 2, 3, 4, 5],
  )
  assert.deepEqual(idsOf(data).slice(0, 5).sort(), [...ids].sort())
})

test('two concurrent reorderings of all policies end in the order of one of them', async () => {
  const ids = idsOf(await createSeveral('a', 'b', 'c', 'd'))
  const orders = [[...ids].reverse(), [...ids.slice(2), ...ids.slice(0, 2)]]
  await Promise.all(orders.map((order) => reorder(order)))
  const end = idsOf((await list()).data)
  assert.ok(orders.some((order) => order.join() === end.join()))
})

test('the scope to read does not permit writing, nor the other way round', async () => {
  const { id } = await create({ name: 'a' })
  const reader = { ...admin, scopes: ['policies:read'] }
  const writer = { ...admin, scopes: ['policies:write'] }
  for (const [caller, method, url, body] of [
    [reader, 'POST', '/v1/policies', { name: '' }],
    [reader, 'PATCH', `/v1/policies/${id}`, { name: '' }],
    [reader, 'DELETE', `/v1/policies/${id}`, undefined],
    [reader, 'PATCH', '/v1/policies/reorder', { ids: [] }],
    [writer, 'GET', '/v1/policies', undefined],
    [writer, 'GET', `/v1/policies/${id}`, undefined],
  ] as const) {
    const answer = await changesNothing(() => call(caller, method, url, body))
    assert.deepEqual([answer.status, answer.body.code], [403, 'forbidden'])
  }
})
