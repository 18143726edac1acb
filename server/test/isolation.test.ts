import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../src/kernel/id.ts'
import { operations, type Reply } from './support/house.ts'
import { picturesOf } from './support/picture.ts'
import { browserOf, presentedTo } from './support/presented.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed, makeOfAnyText, namesRecord } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Tries every registered operation across tenants: no tenant can read or change another tenant's records. */
const { house, ours, theirs, theirRecords } = await openStage()
const browser = await browserOf(house, ours.tenant_id, ours.owner.user_id)
const noRecords = Object.fromEntries(
  Object.entries(theirRecords).map(([path, ids]) => [
    path,
    Object.fromEntries(Object.keys(ids).map((name) => [name, newId()])),
  ]),
)

/** A picture of all rows of a tenant, to assert that nothing changed. */
const picture = picturesOf(house, [
  'access_request',
  'access_grant',
  'policy',
  'policy_rule',
  'api_key',
  'notification',
  'notification_channel',
  'identity_provider',
  'provisioner',
  'tenant_user',
  'tenant_group',
  'role',
  'user_session',
  'sign_in_setting',
  'action_description',
])

for (const [operationId, operation] of Object.entries(operations)) {
  const body = operation.body === undefined ? undefined : sampleBodies[operationId]
  test(`${operationId} has a sample body, if it takes one`, () => {
    assert.ok(operation.body === undefined || body !== undefined, `add one to server/test/support/samples.ts`)
  })
  const request = { method: operation.method, body, ...presentedTo(operation, ours.owner) }

  if (operation.credential !== 'none' && operation.credential !== 'tenant') {
    test(`${operationId}: our credential with their tenant in the header is a mismatch, whatever else is requested (T1)`, async () => {
      const before = await picture(theirs.tenant_id)
      const call = { method: operation.method, body, url: addressed(operation.path, theirRecords) }
      // No browser's session is good enough for an operation that takes only a token.
      const byBrowser = operation.credential === 'token' ? [] : [{ headers: browser }]
      for (const credential of [presentedTo(operation, ours.owner), ...byBrowser]) {
        const reply = await house.call({ ...call, ...credential, tenant_id: theirs.tenant_id })
        assert.deepEqual([reply.status, reply.body.code], [403, 'tenant_mismatch'])
      }
      assert.deepEqual(await picture(theirs.tenant_id), before)
    })
  }

  if (namesRecord(operation.path) && !makeOfAnyText.includes(operationId)) {
    test(`${operationId}: a record of theirs gets exactly the answer of an unknown one (T2)`, async () => {
      const before = await picture(theirs.tenant_id)
      const [foreign, missing] = await Promise.all(
        [theirRecords, noRecords].map((records) =>
          house.call({ ...request, url: addressed(operation.path, records), tenant_id: ours.tenant_id }),
        ),
      )
      // An operation without a credential authenticates in its body, and reveals no more.
      const { [operation.credential]: expected = 404 } = { tenant: 401, none: 400 } as Record<string, number>
      assert.deepEqual(await picture(theirs.tenant_id), before)
      assert.equal(foreign?.status, expected)
      assert.equal(foreign?.text, missing?.text)
      const names = (reply: Reply | undefined) => Object.keys(reply?.headers ?? {}).sort()
      assert.deepEqual(names(foreign), names(missing))
    })
  }

  if (operation.method === 'GET' && !operation.path.includes('{') && operation.credential !== 'none') {
    test(`${operationId}: a list of ours contains nothing of theirs (T14)`, async () => {
      const reply = await house.call({ ...request, url: operation.path, tenant_id: ours.tenant_id })
      assert.equal(reply.status, 200)
      const foreign = new Set(Object.values(theirRecords).flatMap((ids) => Object.values(ids)))
      foreign.delete('requests.require_reason')
      foreign.delete('provider_a')
      for (const id of [...foreign, theirs.tenant_id]) assert.ok(!reply.text.includes(id), `${id} is in the answer`)
    })
  }
}

for (const operationId of makeOfAnyText) {
  test(`${operationId}: by a text of theirs it makes a record of ours, and theirs stays as it is (T2)`, async () => {
    const { method, path } = operations[operationId] ?? assert.fail()
    const before = await picture(theirs.tenant_id)
    const { token } = ours.owner
    const call = { method, url: addressed(path, theirRecords), token, tenant_id: ours.tenant_id }
    const reply = await house.call({ ...call, body: sampleBodies[operationId] })
    assert.ok(reply.status < 300, reply.text)
    assert.deepEqual(await picture(theirs.tenant_id), before)
  })
}

test('a mismatch is only in the audit log of the credential’s own tenant (T1)', async () => {
  const rows = await house.asSuperuser<{ tenant_id: string }>(
    `select distinct tenant_id from event where type = 'access.refused' and data ->> 'code' = 'tenant_mismatch'`,
  )
  assert.deepEqual(rows, [{ tenant_id: ours.tenant_id }])
})
