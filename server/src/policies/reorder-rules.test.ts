import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { createdRule, idsOf, onAccount, policyTenants } from '../../test/support/policy-tenant.ts'
import { type Answer, type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import type { Rule } from '../policy-engine/rule.ts'
import { createPolicy } from './create-policy.ts'
import { createRule } from './create-rule.ts'
import { getPolicy } from './get-policy.ts'
import { reorderRules } from './reorder-rules.ts'

const testDb = await testDatabase()
const { database } = testDb
const operations = { createPolicy, getPolicy, createRule, reorderRules }
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

const reorder = (ids: unknown) => call(admin, 'PATCH', `${rulesPath}/reorder`, { ids })
const listRules = async () => (await call(admin, 'GET', `/v1/policies/${policy_id}`)).body.rules as Rule[]

suite('a reordering of rules', () => {
  test('puts the listed rules into the given order on their own places', async () => {
    const made: Rule[] = []
    for (const ordinal of [1, 5, 9, 12]) made.push(await create(onAccount(String(ordinal), { ordinal })))
    const [a, b, c, d] = idsOf(made)
    assert.deepEqual(await reorder([d, b]), { status: 204, body: {} })
    const after = await listRules()
    assert.deepEqual(idsOf(after), [a, d, c, b])
    assert.deepEqual(
      after.map(({ ordinal }) => ordinal),
      [1, 5, 9, 12],
    )
    assert.deepEqual((await eventsOf(admin)).at(-1), {
      type: 'policy.reordered',
      subject_type: 'policy',
      subject_id: policy_id,
      actor_id: admin.user_id,
      data: { change: 'rules_reordered', ids: [d, b], count: 2 },
    })
    assert.equal(await versionOf(admin), 7)
    assert.equal((await changesNothing(() => reorder([a, d, c, b]))).status, 204)
  })

  test('also orders rules that share an ordinal', async () => {
    const made: Rule[] = []
    for (const n of ['1', '2', '3']) made.push(await create(onAccount(n, { ordinal: 3 })))
    const wanted = idsOf(made).reverse()
    assert.equal((await reorder(wanted)).status, 204)
    assert.deepEqual(idsOf(await listRules()), wanted)
  })

  test('concurrent with others leaves each rule its own place (R9)', async () => {
    const made: Rule[] = []
    for (const n of ['1', '2', '3', '4']) made.push(await create(onAccount(n)))
    const [a, b, c, d] = idsOf(made)
    await Promise.all([reorder([d, c, b, a]), reorder([b, a]), create(onAccount('5')), reorder([c, a, d])])
    assert.deepEqual(
      (await listRules()).map(({ ordinal }) => ordinal),
      [0, 1, 2, 3, 4],
    )
  })

  test('with an id of another policy or tenant changes nothing, and does not say which id it is (T6)', async () => {
    const [a, b] = [await create(onAccount('1')), await create(onAccount('2'))]
    const inOther = async (caller: Caller) => {
      const { body } = await call(caller, 'POST', `/v1/policies/${await newPolicy(caller)}/rules`, onAccount('3'))
      return String(body.id)
    }
    const strangers = [await inOther(admin), await inOther(await newTenant()), newId()]
    const answers: Answer[] = []
    for (const id of strangers) answers.push(await changesNothing(() => reorder([b.id, id, a.id])))
    for (const answer of answers) assert.deepEqual(answer, answers[0])
    assert.deepEqual([answers[0]?.status, answers[0]?.body.code], [422, 'unprocessable'])
    assert.equal((await changesNothing(() => reorder([a.id, b.id, a.id]))).status, 400)
    assert.equal((await changesNothing(() => reorder([]))).status, 400)
  })
})
