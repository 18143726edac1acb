import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../src/http/operation.ts'
import { jsonSchemaOf } from '../src/http/schema.ts'
import { operations, type Reply } from './support/house.ts'
import { inTurns } from './support/in-turns.ts'
import { oddDates } from './support/odd-dates.ts'
import { presentedTo } from './support/presented.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed, makeOfAnyText, type Records } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Tries every operation with invalid paths and queries, and every list with invalid limits and cursors. */
const { house, ours: tenant, ourRecords: records } = await openStage()
const { tenant_id, owner, people } = tenant

const asOwner = async (method: string, url: string, body?: unknown) => {
  const reply = await house.call({ method, url, body, api_key: owner.api_key, tenant_id })
  assert.ok(reply.status < 300, `${method} ${url}: ${reply.text}`)
  return reply
}

// A second record of each kind, so that a page of one has a next page.
await asOwner('PUT', '/v1/cloud/accounts', { resources: ['a', 'b'].map((id) => ({ id, account_id: id })) })
await asOwner('POST', '/v1/policies', sampleBodies.createPolicy)
await asOwner('POST', addressed('/v1/users/{id}/invitations', records))
await asOwner('POST', '/v1/groups', sampleBodies.createGroup)
await asOwner('POST', '/v1/identity-providers', sampleBodies.createIdentityProvider)
await asOwner('POST', '/v1/provisioners', sampleBodies.createProvisioner)
await asOwner('POST', '/v1/notification-channels/email', sampleBodies.createEmailChannel)
for (const _ of [1, 2]) {
  await asOwner('POST', `/v1/requests/${records['/v1/requests/{id}']?.id}/comments`, sampleBodies.createRequestComment)
}
await asOwner('POST', `/v1/requests/${records['/v1/requests/{id}']?.id}/approve`, {})
await asOwner('POST', `/v1/groups/${records['/v1/groups/{id}']?.id}/members`, { user_id: people.admin.user_id })
for (const action of ['Read', 'Write']) {
  const rule = { effect: 'permit', action_scope_type: 'eq', action_ids: [action] }
  await asOwner('POST', `/v1/policies/${records['/v1/policies/{id}']?.id}/rules`, rule)
  const body = { resource: { type: 'cloud_account', id: '123456789012' }, action }
  await house.call({ method: 'POST', url: '/v1/users/me/favourites', body, tenant_id, token: people.user.token })
}
const account = { id: 'c', account_id: '123456789012' }
await asOwner('PUT', '/v1/cloud/accounts', { resources: [account] })
for (const user of [people.admin, { user_id: records['/v1/users/{id}']?.id }]) {
  await asOwner('PUT', `/v1/users/${user.user_id}/roles`, { roles: ['admin', records['/v1/roles/{role_id}']?.role_id] })
}
const second = await asOwner('POST', '/v1/groups', sampleBodies.createGroup)
for (const id of [second.body.id, records['/v1/groups/{id}']?.id]) {
  await asOwner('POST', `/v1/groups/${id}/members`, { user_id: records['/v1/users/{id}']?.id })
}
await asOwner('PUT', '/v1/actions/Write', sampleBodies.describeAction)
await house.notification(tenant_id, people.user.user_id)
await house.session(tenant_id, people.user.user_id)

/** The credential whose lists are not empty: the user's for personal lists, the owner's for all others. */
const credentialOf = (operation: Operation) => presentedTo(operation, { ...owner, token: people.user.token })

/** Asserts a refusal without text of the database or the service's internals. */
function requireRefused(reply: Reply, statuses: readonly number[], what: string): void {
  assert.ok(statuses.includes(reply.status), `${what}: ${reply.status} ${reply.text}`)
  assert.doesNotMatch(reply.text, /sql|relation|syntax|column|stack|\bat \//i, what)
}

/** Values that the database would refuse, by the format or type of the parameter. */
const oddValues: Readonly<Record<string, readonly string[]>> = {
  uuid: ['0', '{}', 'me', '00000000-0000-0000-0000-00000000000g'],
  boolean: ['1', 'yes', 'TRUE'],
  integer: ['1.5', '1e3', '0x10', '-0', '9'.repeat(30)],
}
/** Texts that a database, a pattern or a path could trip over. */
const oddTexts = [
  '',
  ' ',
  "'",
  '\\',
  '%',
  '$1',
  '\u{1F4A9}',
  '\ufffe',
  '\u202e',
  '[',
  '../..',
  'null',
  'x'.repeat(3_000),
]

const hostileParts = ['%00', '..%2f..%2fetc%2fpasswd', "'%20or%201=1--", 'a'.repeat(510), '%f0%9f%92%a9', '{id}']

/** In a usual run each place is tried with some of them. */
const someParts = inTurns(hostileParts, 3)
const someTexts = inTurns(oddTexts, 3)
const someDates = inTurns(oddDates, 4)
/** Of a cursor, the letters whose place leaves one of these when divided by eight. */
const someLetters = inTurns([0, 1, 2, 3, 4, 5, 6, 7], 1)

for (const [name, operation] of Object.entries(operations)) {
  const { method, path } = operation
  const call = (url: string) =>
    house.call({ method, url, body: sampleBodies[name], tenant_id, ...credentialOf(operation) })

  const placeholders = path.match(/\{\w+\}/g) ?? []
  const statuses = [400, 403, 404, ...(makeOfAnyText.includes(name) ? [200] : [])]
  for (const placeholder of placeholders) {
    test(`${name} finds nothing by ${placeholder} that names no record (I3, I11)`, async () => {
      for (const part of someParts()) {
        const url = addressed(path.replace(placeholder, '@part@'), recordsFor(path)).replace('@part@', part)
        requireRefused(await call(url), statuses, url)
      }
    })
  }

  const { properties = {} } = operation.query === undefined ? {} : jsonSchemaOf(operation.query)
  const url = addressed(path, records)
  if (operation.query !== undefined) {
    test(`${name} refuses a repeated parameter, an unknown one, and NUL (I3, I7)`, async () => {
      for (const unknown of ['no_such', '__proto__', 'constructor']) {
        requireRefused(await call(`${url}?${unknown}=1`), [400], unknown)
      }
      for (const parameter of Object.keys(properties)) {
        requireRefused(await call(`${url}?${parameter}=1&${parameter}=1`), [400], `${parameter} twice`)
        requireRefused(await call(`${url}?${parameter}=%00`), [400], `NUL in ${parameter}`)
      }
    })
  }

  for (const [parameter, { format, type = '' }] of Object.entries(properties)) {
    const odd = format === 'date-time' ? someDates() : (oddValues[format ?? type] ?? [])
    test(`${name} answers an odd \`${parameter}\` without a fault (I3, I7)`, async () => {
      for (const value of [...odd, ...someTexts()]) {
        const query = `${parameter}=${encodeURIComponent(value)}`
        requireRefused(await call(`${url}?${query}`), odd.includes(value) ? [400] : [200, 302, 400, 404], query)
      }
    })
  }

  if (!('limit' in properties)) continue
  test(`${name} takes plain numbers as limit, and serves at most 200 (I7)`, async () => {
    for (const limit of ['0', '-1', '+1', '1.5', '1e3', '10abc', 'NaN', 'Infinity', '0x10', '01', '%20', '', '٣']) {
      requireRefused(await call(`${url}?limit=${limit}`), [400], `limit=${limit}`)
    }
    for (const limit of [1, 200, 201, 1_000_000, 999_999_999]) {
      const { status, body, text } = await call(`${url}?limit=${limit}`)
      assert.equal(status, 200, text)
      assert.ok((body.data as unknown[]).length <= Math.min(limit, 200))
    }
    requireRefused(await call(`${url}?limit=${'9'.repeat(30)}`), [400], 'a limit beyond every number')
  })

  test(`${name} accepts its own unchanged cursors, and no others (I8)`, async () => {
    const first = await call(`${url}?limit=1`)
    const cursor = first.body.next_cursor
    assert.ok(typeof cursor === 'string', `make a second record for ${name}: ${first.text}`)
    assert.equal((await call(`${url}?limit=1&cursor=${cursor}`)).status, 200)
    const foreign = await call('/v1/roles?limit=1')
    const turn = someLetters()
    const bent = Array.from(cursor, (letter, at) => ({
      at,
      text: cursor.slice(0, at) + (letter === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    }))
    const broken = [
      ...bent.filter(({ at }) => turn.includes(at % 8)).map(({ text }) => text),
      cursor.slice(0, -1),
      cursor.slice(0, 10),
      `${cursor}A`,
      `${cursor}=`,
      `%20${cursor}`,
      `B${cursor}`,
      cursor.toUpperCase(),
      '',
      '%00',
      'null',
      '0',
      Buffer.from(JSON.stringify(['00000000-0000-0000-0000-000000000000'])).toString('base64url'),
      'A'.repeat(10_000),
      ...(path === '/v1/roles' ? [] : [String(foreign.body.next_cursor)]),
    ]
    for (const other of broken) {
      const reply = await call(`${url}?limit=1&cursor=${other}`)
      requireRefused(reply, [400], other)
      assert.equal(reply.body.code, 'invalid_input')
      assert.match(reply.text, /cursor/)
    }
  })
}

/** Header values that Node's client may send. */
const oddHeaders = [
  '',
  ' ',
  '*',
  '"',
  '"a',
  ',',
  'W/',
  'a b',
  '\u00e9',
  '0',
  '{}',
  'x'.repeat(5_000),
  `"${'x'.repeat(5_000)}"`,
  '%00',
]

for (const header of ['x-tenant-id', 'idempotency-key', 'if-match', 'x-api-key', 'authorization', 'last-event-id']) {
  test(`an odd \`${header}\` is answered without a fault (I3)`, async () => {
    for (const [method, path] of [
      ['PATCH', '/v1/policies/{id}'],
      ['POST', '/v1/groups'],
      ['GET', '/v1/users/me/notifications/stream'],
      ['GET', '/v1/stream'],
    ] as const) {
      const body = method === 'GET' ? undefined : { name: 'odd' }
      const credential = header === 'x-api-key' ? {} : { token: owner.token }
      for (const value of oddHeaders) {
        const headers = { [header]: value }
        // A stream that begins does not end: without a body in the answer, it is HEAD.
        const verb = method === 'GET' ? 'HEAD' : method
        const reply = await house.call({
          method: verb,
          url: addressed(path, records),
          body,
          tenant_id,
          ...credential,
          headers,
        })
        assert.ok(
          reply.status < 500,
          `${header}: ${value.slice(0, 20)} at ${method} ${path}: ${reply.status} ${reply.text}`,
        )
      }
    }
  })
}

/** The records whose ids fill the rest of a path while one part is tried. */
function recordsFor(path: string): Records {
  return { ...records, [path.slice(0, path.indexOf('{'))]: Object.assign({}, ...Object.values(records)) }
}
