import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { jsonSchemaOf } from '../../src/http/schema.ts'
import { operations, type Person, type TestTenant } from '../support/house.ts'
import { inTurns } from '../support/in-turns.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed, makeRecords, type Records } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/** Tries every list: the cursor of a page is valid only for the next page of the same list. */
const { house, ours, theirs, ourRecords: otherRecords } = await openStage()
const ourRecords = await makeMore(ours)
const theirRecords = await makeMore(theirs)

/** Every list needs two records. */
async function makeMore(tenant: TestTenant): Promise<Records> {
  const { tenant_id, owner } = tenant
  const records = await makeRecords(house, tenant)
  const { id } = records['/v1/groups/{id}'] ?? {}
  for (const { user_id } of Object.values(tenant.people)) {
    await call(tenant, owner, 'POST', `/v1/groups/${id}/members`, { user_id })
  }
  // A user with two groups, and a role with two holders.
  const user_id = records['/v1/users/{id}']?.id
  const second = await call(tenant, owner, 'POST', '/v1/groups', sampleBodies.createGroup)
  for (const group of [id, second.body.id])
    await call(tenant, owner, 'POST', `/v1/groups/${group}/members`, { user_id })
  const body = { roles: ['user', records['/v1/roles/{role_id}']?.role_id] }
  for (const holder of [user_id, tenant.people.user.user_id]) {
    await call(tenant, owner, 'PUT', `/v1/users/${holder}/roles`, body)
  }
  await call(tenant, owner, 'POST', addressed('/v1/users/{id}/invitations', records))
  const resources = ['1', '2', '3'].map((number) => ({ id: number, account_id: number, rank: 7 }))
  await call(tenant, owner, 'PUT', '/v1/cloud/accounts', { resources })
  for (let count = 0; count < 2; count += 1) await house.notification(tenant_id, owner.user_id)
  await call(tenant, owner, 'POST', '/v1/requests', sampleBodies.createRequest)
  // The catalogue and the favourites of the owner.
  for (const action of ['Read', 'Write']) {
    const rule = { effect: 'permit', action_scope_type: 'eq', action_ids: [action] }
    await call(tenant, owner, 'POST', addressed('/v1/policies/{id}/rules', records), rule)
    const favourite = { resource: { type: 'cloud_account', id: '123456789012' }, action }
    await call(tenant, owner, 'POST', '/v1/users/me/favourites', favourite)
  }
  const account = { id: '4', account_id: '123456789012', rank: 7 }
  await call(tenant, owner, 'PUT', '/v1/cloud/accounts', { resources: [account] })
  const request = records['/v1/requests/{id}'] ?? {}
  for (const person of [tenant.people.approver, tenant.people.user]) {
    await call(tenant, person, 'POST', `/v1/requests/${request.id}/comments`, sampleBodies.createRequestComment)
  }
  // A second evaluation of the request.
  await call(tenant, tenant.people.approver, 'POST', `/v1/requests/${request.id}/deny`, {})
  return records
}

function call({ tenant_id }: TestTenant, { token }: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token, tenant_id, ...(body !== undefined && { body }) })
}

const lists = Object.entries(operations).filter(
  ([, { query }]) => query !== undefined && jsonSchemaOf(query).properties?.cursor !== undefined,
)

/** The cursor after the first record of the list. */
async function cursorOf(tenant: TestTenant, url: string, mark: '?' | '&' = '?'): Promise<string> {
  const reply = await call(tenant, tenant.owner, 'GET', `${url}${mark}limit=1`)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.has_more, true, `make two for ${url} here`)
  return String(reply.body.next_cursor)
}

async function requireRefused(url: string, cursor: string, why: string): Promise<void> {
  const reply = await call(ours, ours.owner, 'GET', `${url}?cursor=${encodeURIComponent(cursor)}`)
  assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], why)
  const { fields } = reply.body.details as { fields: { pointer: string; why: string }[] }
  assert.deepEqual(fields, [{ pointer: 'cursor', why: expected }], 'one answer for every cause')
}
/** In a usual run each cursor is tried with some of its bytes changed, and at some of the other lists. */
const someBytes = inTurns([0, 1, 2, 3, 4, 5, 6, 7], 1)
const someLists = inTurns(lists, 6)
const expected = 'is not a cursor of this list with these filters; leave it out to start from the first page'

for (const [operationId, { path, query }] of lists) {
  const url = addressed(path, ourRecords)

  suite(`a cursor of ${operationId}`, () => {
    test('leads to the next page of its own list', async () => {
      const cursor = await cursorOf(ours, url)
      const [first, next] = await Promise.all(
        ['', `&cursor=${cursor}`].map((more) => call(ours, ours.owner, 'GET', `${url}?limit=1${more}`)),
      )
      assert.equal(next?.status, 200)
      assert.notDeepEqual(next?.body.data, first?.body.data)
    })

    test('made for another tenant is refused (T8)', async () => {
      await requireRefused(url, await cursorOf(theirs, addressed(path, theirRecords)), 'theirs')
    })

    test('is refused with a bit changed, cut, lengthened, or spelt another way (T8)', async () => {
      const cursor = await cursorOf(ours, url)
      const bytes = Buffer.from(cursor, 'base64url')
      const turn = someBytes()
      for (let at = 0; at < bytes.length; at += 1) {
        if (!turn.includes(at % 8)) continue
        const bent = Buffer.from(bytes)
        bent.writeUInt8(bent.readUInt8(at) ^ 1, at)
        await requireRefused(url, bent.toString('base64url'), `byte ${at}`)
      }
      const spellings = [`${cursor}=`, `${cursor} `, ` ${cursor}`, `${cursor}\n`, cursor.slice(0, -1), `${cursor}A`]
      for (const other of ['', 'null', '[]', '{}', '0', `${cursor}${cursor}`, 'A'.repeat(5_000), ...spellings]) {
        await requireRefused(url, other, other)
      }
      const plain = Buffer.from(JSON.stringify(['0'])).toString('base64url')
      await requireRefused(url, plain, 'the key itself')
    })

    test('is refused by every other list (T8)', async () => {
      const cursor = await cursorOf(ours, url)
      for (const [otherId, other] of someLists()) {
        if (otherId !== operationId) await requireRefused(addressed(other.path, ourRecords), cursor, otherId)
      }
      const elsewhere = addressed(path, otherRecords)
      if (elsewhere !== url) await requireRefused(elsewhere, cursor, 'the same list of another record')
    })

    const filters = Object.entries(jsonSchemaOf(query as never).properties ?? {}).filter(
      ([name]) => name !== 'limit' && name !== 'cursor',
    )
    for (const [name, { format, enum: words }] of filters) {
      test(`is refused with the filter ${name} set or changed (T8)`, async () => {
        const values = words ?? (format === 'date-time' ? ['2020-01-01T00:00:00Z'] : [ours.owner.user_id])
        const cursor = await cursorOf(ours, url)
        const set = `${url}?${name}=${encodeURIComponent(String(values[0]))}&cursor=${encodeURIComponent(cursor)}`
        const reply = await call(ours, ours.owner, 'GET', set)
        assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      })
    }
  })
}
