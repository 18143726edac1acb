import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { policyTenants } from '../../../test/support/policy-tenant.ts'
import { rounds, together } from '../../../test/support/race.ts'
import { type Answer, type Caller, sliceServer } from '../../../test/support/slice-server.ts'
import type { Database } from '../../db/transaction.ts'
import type { Tx } from '../../kernel/context.ts'
import { findRuleSet } from '../../policy-engine/deciding/rule-set-store.ts'
import { createPolicy } from '../create-policy.ts'
import { createRule } from '../create-rule.ts'
import { deletePolicy } from '../delete-policy.ts'
import { deleteRule } from '../delete-rule.ts'
import { importPolicy } from '../files/import-policy.ts'
import { updatePolicy } from '../update-policy.ts'
import { updateRule } from '../update-rule.ts'
import type { PolicyCase } from './case.ts'
import { replacePolicyCases } from './replace-policy-cases.ts'

const testDb = await testDatabase()
/** The number of batches that the service sends to the database. */
let trips = 0
const database: Database = { ...testDb.database, tenant: (tenant_id) => counted(testDb.database.tenant(tenant_id)) }

function counted(tx: Tx): Tx {
  return {
    tenant_id: tx.tenant_id,
    read(statement) {
      trips += 1
      return tx.read(statement)
    },
    write(statements) {
      trips += 1
      return tx.write(statements)
    },
    interactive: (work) => tx.interactive((inside) => work(counted(inside))),
  }
}

const rulesOperations = { createRule, updateRule, deleteRule }
const operations = { createPolicy, updatePolicy, deletePolicy, importPolicy, ...rulesOperations, replacePolicyCases }
const call = await sliceServer(database, operations)
const { newTenant, newPolicy, changesNothing: tracelessly } = policyTenants(testDb, call)
const changesNothing = <Result>(attempt: () => Promise<Result>) => tracelessly(admin, attempt)

let admin: Caller
let policy: string
let rule: string

const path = () => `/v1/policies/${policy}`
const addRule = async (policy_text: string) => call(admin, 'POST', `${path()}/rules`, { policy_text })
const require = async (...cases: object[]) => {
  const { status, body } = await call(admin, 'PUT', '/v1/policies/cases', { cases })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const resource = { type: 'cloud_account', id: '111122223333' } as const
const reads: PolicyCase = {
  case: 'an engineer reads',
  required: true,
  who: { groups: ['engineers'] },
  asks: 'ReadOnlyAccess',
  resource,
  expect: 'permit',
}
const deletes: PolicyCase = { case: 'nobody deletes', required: true, asks: 'Delete', resource, expect: 'forbid' }

beforeEach(async () => {
  admin = await newTenant()
  policy = await newPolicy(admin)
  rule = String((await addRule('permit(principal, action == Action::"ReadOnlyAccess", resource);')).body.id)
})

function requireBroken({ status, body }: Answer, ...cases: string[]): void {
  assert.deepEqual([status, body.code], [409, 'case_broken'], JSON.stringify(body))
  const details = body.details as { count: number; cases: { case: string }[] }
  assert.equal(details.count, cases.length)
  assert.deepEqual(
    details.cases.map((one) => one.case),
    cases,
  )
  for (const name of cases) assert.ok(String(body.message).includes(`\`${name}\``))
}

suite('a change that breaks a required case is refused, names the case, and changes nothing', () => {
  const changes: Record<string, () => Promise<Answer>> = {
    'a new rule': () => addRule('forbid(principal, action, resource);'),
    'an update of a rule': () => call(admin, 'PATCH', `${path()}/rules/${rule}`, { action_ids: ['Other'] }),
    'a deleted rule': () => call(admin, 'DELETE', `${path()}/rules/${rule}`),
    'an imported file': () => call(admin, 'PUT', `${path()}/cedar`, { cedar: 'forbid(principal, action, resource);' }),
    'a deleted policy': () => call(admin, 'DELETE', path()),
    'a disabled policy': () => call(admin, 'PATCH', path(), { enabled: false }),
  }
  for (const [name, change] of Object.entries(changes))
    test(name, async () => {
      await require(deletes, reads)
      requireBroken(await changesNothing(change), reads.case)
    })

  test('a policy enabled again', async () => {
    await call(admin, 'PATCH', path(), { enabled: false })
    await require({ ...reads, expect: 'forbid' })
    requireBroken(await changesNothing(() => call(admin, 'PATCH', path(), { enabled: true })), reads.case)
  })

  test('the refusal has both answers, and the reasoning only for a caller who may read rules', async () => {
    await require(deletes)
    const { body } = await addRule('@approval_mode("auto") permit(principal, action, resource);')
    const { cases } = body.details as { cases: { expected: object; got: Record<string, unknown> }[] }
    assert.deepEqual(cases[0]?.expected, { expect: 'forbid' })
    assert.deepEqual([cases[0]?.got.answer, cases[0]?.got.mode], ['permit', 'auto'])
    assert.match(String(cases[0]?.got.reasoning), /approved at once/)
    const writer = { ...admin, scopes: ['policies:write'] }
    const unread = await call(writer, 'DELETE', path())
    assert.equal(unread.status, 204)
    await require(deletes)
    policy = await newPolicy(admin)
    const hidden = await call(writer, 'POST', `${path()}/rules`, { effect: 'permit' })
    requireBroken(hidden, deletes.case)
    assert.ok(!JSON.stringify(hidden.body).includes('reasoning'))
  })

  test('a call with an `Idempotency-Key` is refused too, and so is its repetition', async () => {
    await require(reads)
    const keyed = () => call(admin, 'DELETE', path(), undefined, { 'idempotency-key': 'once' })
    requireBroken(await changesNothing(keyed), reads.case)
    requireBroken(await keyed(), reads.case)
  })
})

suite('a change is accepted', () => {
  test('if the broken case is not required', async () => {
    await require({ ...reads, required: false })
    assert.equal((await call(admin, 'DELETE', path())).status, 204)
  })

  test('if the required case failed before; once fixed, the case must hold', async () => {
    await require({ ...reads, case: 'an engineer writes', asks: 'Write' }, reads)
    assert.equal((await addRule('permit(principal, action == Action::"Other", resource);')).status, 201)
    requireBroken(await addRule('forbid(principal, action, resource);'), reads.case)
    const writes = await addRule('permit(principal, action == Action::"Write", resource);')
    assert.equal(writes.status, 201)
    requireBroken(await call(admin, 'DELETE', `${path()}/rules/${writes.body.id}`), 'an engineer writes')
  })

  test('if it breaks a case of another tenant', async () => {
    const other = await newTenant()
    await call(other, 'PUT', '/v1/policies/cases', { cases: [deletes] })
    assert.equal((await addRule('permit(principal, action, resource);')).status, 201)
  })

  test('if it breaks no case, and the next decision uses the saved rules', async () => {
    await require(reads)
    assert.equal((await addRule('forbid(principal, action == Action::"Other", resource);')).status, 201)
    requireBroken(await addRule('forbid(principal, action, resource);'), reads.case)
    const [tenant] = await testDb.asSuperuser('select rule_set_version::text as v from tenant where id = $1', [
      admin.tenant_id,
    ])
    const { rules, version } = await findRuleSet(database.tenant(admin.tenant_id), String(tenant?.v))
    assert.deepEqual([rules.length, version], [2, tenant?.v])
  })

  test('if no case is required, without a further round trip', async () => {
    await require({ ...reads, required: false })
    const tripsOf = async (method: 'POST' | 'DELETE', url: string, body?: object) => {
      trips = 0
      const { status } = await call(admin, method, url, body)
      assert.ok(status < 300)
      return trips
    }
    // Its warnings are read afterwards.
    assert.equal(
      await tripsOf('POST', `${path()}/rules`, { effect: 'forbid', action_scope_type: 'eq', action_ids: ['x'] }),
      2,
    )
    assert.equal(await tripsOf('DELETE', `${path()}/rules/${rule}`), 1)
    assert.equal(await tripsOf('DELETE', path()), 1)
  })
})

suite('concurrent changes', () => {
  /** Retries a call that waited too long for another change and got 503. */
  const patiently = async (...args: Parameters<typeof call>): Promise<Answer> => {
    const answer = await call(...args)
    return answer.status === 503 ? patiently(...args) : answer
  }

  test('one of two changes is refused if only both together break a case', async () => {
    const text = 'permit(principal in Group::"engineers", action, resource);'
    let ways = [rule, String((await addRule(text)).body.id)]
    await require(reads)
    for (const _round of rounds(6)) {
      const answers = await together(ways.map((id) => () => patiently(admin, 'DELETE', `${path()}/rules/${id}`)))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409])
      const [left] = ways.filter((_id, index) => answers[index]?.status === 409)
      ways = [String(left), String((await addRule(text)).body.id)]
    }
  })

  test('a new required case and a change that breaks it are serialized', async () => {
    const disable = () => patiently(admin, 'PATCH', path(), { enabled: false })
    const remove = () => patiently(admin, 'DELETE', `${path()}/rules/${rule}`)
    for (const round of rounds(8)) {
      await require()
      const [kept, changed] = await together([
        () => patiently(admin, 'PUT', '/v1/policies/cases', { cases: [reads] }),
        round % 2 === 0 ? disable : remove,
      ])
      assert.equal(kept?.status, 200)
      // If the case came first, it held; if the change came first, the case fails.
      const holds = kept.body.failed === 0
      assert.equal(changed?.status === 409, holds, JSON.stringify(changed))
      await call(admin, 'PATCH', path(), { enabled: true })
      if (changed?.status === 204) rule = String((await addRule('permit(principal, action, resource);')).body.id)
    }
  })
})
