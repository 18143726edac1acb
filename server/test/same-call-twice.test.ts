import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takesKey } from '../src/http/idempotency-key.ts'
import type { Operation } from '../src/http/operation.ts'
import { jsonSchemaOf } from '../src/http/schema.ts'
import { newId } from '../src/kernel/id.ts'
import { operations, type Person, type Reply } from './support/house.ts'
import { picturesOfAll } from './support/picture.ts'
import { fromOwnPage } from './support/presented.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed, makeRecords, type Records } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Calls every registered operation that changes something twice with one idempotency key: it is carried out once. */
const { house, ours, theirs, ourRecords, theirRecords } = await openStage()

/** A picture of all rows of a tenant, except the kept answers. */
const picture = await picturesOfAll(house, 'kept_answer')

/** Bodies that succeed, for operations whose sample names a record that does not exist. */
const bodies: Record<string, (records: Records) => unknown> = {
  addGroupMember: () => ({ user_id: ours.people.approver.user_id }),
  createUser: () => ({ email: `${newId()}@example.com`, name: 'New', roles: ['user'], auth_provider: 'oidc' }),
  reorderPolicies: (records) => ({ ids: [records['/v1/policies/{id}']?.id] }),
  reorderRules: (records) => ({ ids: [records['/v1/policies/{id}/rules/{rule_id}']?.rule_id] }),
  setGroupRoleMappings: () => ({ role_ids: ['user'] }),
  setUserRoles: () => ({ roles: ['approver'] }),
  // Requiring reasons would break the creation of the next records.
  upsertSetting: () => ({ value: 'false' }),
}

/** The same body with one text changed; undefined if the body has no text field. */
function reworded(operation: Operation, body: unknown): unknown {
  const { properties = {} } = operation.body === undefined ? {} : jsonSchemaOf(operation.body)
  const field = ['name', 'reasoning', 'reason', 'notice', 'display_name'].find((name) => name in properties)
  return field === undefined ? undefined : { ...(body as object), [field]: 'in other words' }
}

const carriedOut: string[] = []
const located: string[] = []
const answered422: string[] = []

/** What a call has made is read at its `Location`. */
async function requireLocation({ headers, body }: Reply): Promise<void> {
  const location = String(headers.location)
  const read = await house.call({ method: 'GET', url: location, token: ours.owner.token, tenant_id: ours.tenant_id })
  assert.deepEqual([read.status, read.body.id], [200, location.split('/').at(-1)], location)
  assert.ok([body.id, body.user_id].includes(read.body.id))
  located.push(location)
}

for (const [operationId, operation] of Object.entries(operations)) {
  if (!takesKey(operation)) continue
  const headers = { 'idempotency-key': `walk:${operationId}` }

  test(`${operationId}: the same call with one key is carried out once; another caller’s with that key is separate (R12)`, async () => {
    // Of the kind that the path addresses, a new one: another operation may have ended or deleted it.
    const records = {
      ...ourRecords,
      ...(operation.path.includes('{') && (await makeRecords(house, ours, operation.path))),
    }
    const body = operation.body && (bodies[operationId]?.(records) ?? sampleBodies[operationId])
    const call = (person: Person, tenant_id = ours.tenant_id, at = records, sent = body) => {
      const url = addressed(operation.path, at)
      const { token } = person
      return house.call({
        method: operation.method,
        url,
        token,
        tenant_id,
        headers,
        ...(sent !== undefined && { body: sent }),
      })
    }

    const first = await call(ours.owner)
    assert.equal(first.headers['idempotency-replayed'], undefined)
    if (first.status < 300) carriedOut.push(operationId)
    if (first.status < 300 && operation.location !== undefined) await requireLocation(first)
    const after = await picture(ours.tenant_id)
    const second = await call(ours.owner)
    const seenOf = ({ status, text, headers: { etag, location, ...of } }: typeof first) => [
      status,
      text,
      ...[etag, location],
      of['content-type'],
    ]
    assert.deepEqual(seenOf(second), seenOf(first))
    assert.equal(second.headers['idempotency-replayed'], 'true')
    assert.deepEqual(await picture(ours.tenant_id), after, 'the second call did something')

    const other = reworded(operation, body)
    if (other !== undefined) {
      const reused = await call(ours.owner, ours.tenant_id, records, other)
      assert.deepEqual([reused.status, reused.body.code], [422, 'idempotency_key_reused'])
      assert.deepEqual(await picture(ours.tenant_id), after)
      answered422.push(operationId)
    }

    for (const independent of [
      await call(ours.people.admin),
      await call(theirs.owner, theirs.tenant_id, theirRecords),
    ]) {
      assert.notEqual(independent.body.code, 'idempotency_key_reused')
      assert.equal(independent.headers['idempotency-replayed'], undefined)
    }
  })
}

test('what is created has a `Location`, or no path of its own', () => {
  const without = Object.entries(operations)
    .filter(([, { status, location }]) => status === 201 && location === undefined)
    .map(([operationId]) => operationId)
  assert.deepEqual(without.sort(), [
    ...['addFavourite', 'addGroupMember', 'beginSecondFactor', 'createApiKey', 'createRehearsalToken'],
    ...['createRequestComment', 'inviteUser', 'issueRefreshToken', 'replaceRecoveryCodes', 'startSession'],
  ])
  assert.ok(located.length >= 11, located.join())
})

test('most of them were carried out, and most could be sent with another body', () => {
  assert.ok(carriedOut.length >= 55, `only ${carriedOut.length}: ${carriedOut}`)
  assert.ok(answered422.length >= 20, `only ${answered422.length}: ${answered422}`)
})

test('reads and sign-ins take no key: the header is ignored (R12)', async () => {
  const headers = { 'idempotency-key': 'not a key' }
  const { tenant_id, owner } = ours
  const list = await house.call({ method: 'GET', url: '/v1/roles', token: owner.token, tenant_id, headers })
  assert.equal(list.status, 200)
  const body = sampleBodies.login
  const login = await house.call({ method: 'POST', url: '/v1/auth/login', tenant_id: theirs.tenant_id, body, headers })
  assert.equal(login.headers['idempotency-replayed'], undefined)
  assert.notEqual(login.status, 400)
  const { token } = await house.signInAgain(tenant_id, owner)
  // An answer with a cookie is kept for no later call. The second of each finds the session taken, then ended.
  for (const [url, statuses] of [
    ['/v1/auth/session', [201, 401]],
    ['/v1/auth/logout', [200, 401]],
  ] as const) {
    for (const status of statuses) {
      const reply = await house.call({ method: 'POST', url, token, headers: { ...headers, ...fromOwnPage } })
      assert.deepEqual([reply.status, reply.headers['idempotency-replayed']], [status, undefined], reply.text)
    }
  }
})
