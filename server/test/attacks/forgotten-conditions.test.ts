import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Statement } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { type House, operations, type TestTenant } from '../support/house.ts'
import { picturesOfAll } from '../support/picture.ts'
import { presentedTo } from '../support/presented.ts'
import { rewrittenDatabase } from '../support/rewritten-database.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed, makeOfAnyText, namesRecord, type Records } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/**
 * The service as if every statement had forgotten its tenant condition: each `tenant_id = …` is removed on its way to the
 * database. Row-level security alone must keep tenants apart.
 */
const bound = /(?:\b\w+\.)?\btenant_id = (\$\d+)(?:::uuid)?/g
const joined = /\b\w+\.tenant_id = \w+\.tenant_id\b/g
const forgotten = new Set<string>()

function forget(statement: Statement): Statement {
  // The value stays in the statement, so that the other values keep their numbers.
  const text = statement.text.replace(bound, '$1::uuid is not null').replace(joined, 'true')
  if (text !== statement.text) forgotten.add(statement.text)
  return { ...statement, text }
}

const {
  house: ours,
  ours: ourTenant,
  theirs: theirTenant,
  theirRecords,
} = await openStage({}, (database) => rewrittenDatabase(database, forget))
const noRecords: Records = Object.fromEntries(
  Object.entries(theirRecords).map(([path, ids]) => [
    path,
    Object.fromEntries(Object.keys(ids).map((name) => [name, newId()])),
  ]),
)
const theirIds = new Set(Object.values(theirRecords).flatMap((ids) => Object.values(ids)))
for (const common of ['requests.require_reason', 'provider_a']) theirIds.delete(common)

/** Calls as our owner, who has all permissions of a tenant's own users. Some calls end the session, so each has a new one. */
async function asOurs(house: House, tenant: TestTenant, operationId: string, records: Records) {
  const operation = operations[operationId]
  assert.ok(operation)
  const credential = presentedTo(operation, await house.signInAgain(tenant.tenant_id, tenant.owner))
  const body = operation.body === undefined ? undefined : sampleBodies[operationId]
  const url = addressed(operation.path, records)
  return house.call({ method: operation.method, url, body, ...credential, tenant_id: tenant.tenant_id })
}

const picture = await picturesOfAll(ours, 'event')

const closed = Object.entries(operations).filter(
  ([, { credential }]) => credential !== 'none' && credential !== 'tenant',
)

suite('a service that forgot every tenant condition', () => {
  for (const [operationId, { path }] of closed.filter(([, { path }]) => namesRecord(path))) {
    if (makeOfAnyText.includes(operationId)) continue
    test(`${operationId} answers a record of theirs like an unknown one, and changes nothing: ${path} (T13)`, async () => {
      const before = await picture(theirTenant.tenant_id)
      const foreign = await asOurs(ours, ourTenant, operationId, theirRecords)
      const missing = await asOurs(ours, ourTenant, operationId, noRecords)
      assert.deepEqual(await picture(theirTenant.tenant_id), before)
      assert.deepEqual([foreign.status, foreign.text], [404, missing.text])
    })
  }

  for (const [operationId, { method, path }] of closed) {
    if (method !== 'GET' || path.includes('{')) continue
    test(`${operationId} returns nothing of theirs (T13)`, async () => {
      const reply = await asOurs(ours, ourTenant, operationId, {})
      assert.equal(reply.status, 200, reply.text)
      for (const id of [...theirIds, theirTenant.tenant_id]) assert.ok(!reply.text.includes(id), `${id} is in it`)
    })
  }

  test('changes nothing of theirs in operations without a record (T13)', async () => {
    const before = await picture(theirTenant.tenant_id)
    for (const [operationId, { method, path }] of closed) {
      if (method === 'GET' || path.includes('{')) continue
      const { status, text } = await asOurs(ours, ourTenant, operationId, {})
      assert.ok(![401, 403, 421].includes(status), `${operationId} was not carried out: ${text}`)
    }
    for (const operationId of makeOfAnyText) {
      const { status, text } = await asOurs(ours, ourTenant, operationId, theirRecords)
      assert.equal(status, 200, `${operationId}: ${text}`)
    }
    assert.deepEqual(await picture(theirTenant.tenant_id), before)
  })

  test('has lost the condition in most of its statements (T13)', () => {
    assert.ok(forgotten.size > 60, `only ${forgotten.size} statements had one`)
  })
})

test('without row-level security such a service leaks them: row-level security kept them apart (T13)', async () => {
  for (const { name } of await ours.asSuperuser<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity`,
  )) {
    await ours.asSuperuser(`alter table ${name} disable row level security`)
  }
  const leaking: string[] = []
  for (const [operationId, { method, path }] of closed) {
    if (method !== 'GET' || path.includes('{')) continue
    const { text } = await asOurs(ours, ourTenant, operationId, {})
    if ([...theirIds].some((id) => text.includes(id))) leaking.push(operationId)
  }
  assert.ok(leaking.length >= 8, `only ${leaking.join(', ')}`)
})
