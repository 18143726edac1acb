import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { callScim, openScimStage, type ScimReply } from '../support/scim-stage.ts'

const { house, acme, directory } = await openScimStage()
const { call } = directory

/** An error as SCIM has it (RFC 7644, section 3.12): a text for the status, a sentence, and nothing of the inside. */
function requireError({ status, body, headers, text }: ScimReply, expected: number, scimType?: string): void {
  assert.equal(status, expected, text)
  const { detail, ...rest } = body
  assert.deepEqual(rest, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(expected),
    ...(scimType !== undefined && { scimType }),
  })
  assert.match(String(detail), /^[^\n]{10,}$/)
  assert.doesNotMatch(String(detail), /select |relation|constraint|node_modules|\bat .*:\d+/)
  assert.equal(headers['content-type'], 'application/scim+json; charset=utf-8')
}

const user = (more: object) => ({ userName: 'x@example.com', ...more })
const patch = (operation: object) => ({ Operations: [operation] })

suite('an error has the form of SCIM', () => {
  const nobody = newId()
  const cases: [string, string, string, unknown, Record<string, string>, number, string?][] = [
    ['an unknown path', 'GET', '/Nope', undefined, {}, 404],
    ['the path itself', 'GET', '', undefined, {}, 404],
    ['an unknown path below', 'GET', `/Users/${nobody}/roles`, undefined, {}, 404],
    ['bulk, which is not offered', 'POST', '/Bulk', { Operations: [] }, {}, 404],
    ['Me, which a key is not', 'GET', '/Me', undefined, {}, 404],
    ['an unknown user', 'GET', `/Users/${nobody}`, undefined, {}, 404],
    ['an id that is none', 'GET', '/Users/ada@example.com', undefined, {}, 404],
    ['an unknown group', 'DELETE', `/Groups/${nobody}`, undefined, {}, 404],
    ['an unknown schema', 'GET', '/Schemas/urn:nope', undefined, {}, 404],
    ['an unknown type', 'GET', '/ResourceTypes/Nope', undefined, {}, 404],
    ['another media type', 'POST', '/Users', user({}), { 'content-type': 'text/plain' }, 415],
    ['a form', 'POST', '/Users', 'userName=x', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['another character set', 'POST', '/Users', user({}), { 'content-type': 'application/json; charset=utf-16' }, 415],
    ['an encoded body', 'POST', '/Users', user({}), { 'content-encoding': 'gzip' }, 415],
    ['malformed JSON', 'POST', '/Users', '{"userName": ', {}, 400, 'invalidSyntax'],
    [
      'a name twice',
      'POST',
      '/Users',
      '{"userName": "x@example.com", "userName": "y@example.com"}',
      {},
      400,
      'invalidSyntax',
    ],
    [
      'a name twice, in another case',
      'POST',
      '/Users',
      '{"userName": "x@example.com", "username": "y@example.com"}',
      {},
      400,
      'invalidSyntax',
    ],
    ['deep JSON', 'POST', '/Users', `{"name": ${'['.repeat(5_000)}${']'.repeat(5_000)}}`, {}, 400, 'invalidSyntax'],
    ['no body', 'POST', '/Users', undefined, {}, 400, 'invalidSyntax'],
    ['a list', 'POST', '/Users', [], {}, 400, 'invalidSyntax'],
    ['a text', 'POST', '/Users', '"x"', {}, 400, 'invalidSyntax'],
    ['a body that is too large', 'POST', '/Users', user({ title: 'x'.repeat(1_100_000) }), {}, 413],
    ['a value that is too long', 'POST', '/Users', user({ title: 'x'.repeat(601) }), {}, 400, 'invalidValue'],
    ['NUL', 'POST', '/Users', '{"userName": "x\\u0000@example.com"}', {}, 400, 'invalidSyntax'],
    ['half a character', 'POST', '/Users', '{"userName": "x\\ud800@example.com"}', {}, 400, 'invalidSyntax'],
    ['no address', 'POST', '/Users', { userName: 'x' }, {}, 400, 'invalidValue'],
    ['no user name', 'POST', '/Users', { emails: [{ value: 'x@example.com' }] }, {}, 400, 'invalidValue'],
    ['no name', 'POST', '/Groups', {}, {}, 400, 'invalidValue'],
    ['a faulty filter', 'GET', '/Users?filter=userName%20is%20%22x%22', undefined, {}, 400, 'invalidFilter'],
    ['two filters', 'GET', '/Users?filter=title%20pr&filter=title%20pr', undefined, {}, 400, 'invalidFilter'],
    ['NUL in a filter', 'GET', '/Users?filter=userName%20eq%20%22%5Cu0000%22', undefined, {}, 400, 'invalidFilter'],
    ['NUL in an address', 'GET', '/Users?filter=userName%20eq%20%22%00%22', undefined, {}, 400, 'invalidFilter'],
    [
      'an endless open quote',
      'GET',
      `/Users?filter=userName%20eq%20%22${'%0a'.repeat(1_000)}`,
      undefined,
      {},
      400,
      'invalidFilter',
    ],
    [
      'a year that no database has',
      'GET',
      '/Users?filter=meta.created%20gt%20%22%2B275760-09-13T00:00:00Z%22',
      undefined,
      {},
      400,
      'invalidFilter',
    ],
    ['a filter of a search that is no text', 'POST', '/Users/.search', { filter: { a: 1 } }, {}, 400, 'invalidFilter'],
    ['a faulty filter of a search of all', 'POST', '/.search', { filter: '((' }, {}, 400, 'invalidFilter'],
    ['a filter of what nothing has', 'POST', '/.search', { filter: 'nope pr' }, {}, 400, 'invalidFilter'],
    ['a count that is none', 'GET', '/Users?count=ten', undefined, {}, 400, 'invalidValue'],
    ['two counts', 'GET', '/Users?count=1&count=2', undefined, {}, 400, 'invalidValue'],
    ['two selections', 'GET', '/Users?attributes=id&excludedAttributes=title', undefined, {}, 400, 'invalidValue'],
    [
      'a path that leads nowhere',
      'PATCH',
      `/Users/${nobody}`,
      patch({ op: 'add', path: 'nope', value: 1 }),
      {},
      400,
      'invalidPath',
    ],
    ['a patch without operations', 'PATCH', `/Users/${nobody}`, {}, {}, 400, 'invalidSyntax'],
    [
      '10,000 operations',
      'PATCH',
      `/Groups/${nobody}`,
      { Operations: Array(10_000).fill({ op: 'add', path: 'members', value: [] }) },
      {},
      400,
      'invalidSyntax',
    ],
    ['no credential', 'GET', '/Users', undefined, { authorization: '' }, 401],
    ['another scheme', 'GET', '/Users', undefined, { authorization: `Basic ${btoa(`x:${directory.key}`)}` }, 401],
    ['two credentials', 'GET', '/Users', undefined, { 'x-api-key': directory.key }, 400],
    ['another tenant’s id', 'GET', '/Users', undefined, { 'x-tenant-id': nobody }, 403],
    ['a tenant’s id that is none', 'GET', '/Users', undefined, { 'x-tenant-id': 'x' }, 400, 'invalidSyntax'],
  ]
  for (const [what, method, path, body, headers, status, scimType] of cases) {
    test(`for ${what}: ${status} ${scimType ?? ''}`, async () => {
      requireError(await call(method, path, body, headers), status, scimType)
    })
  }

  test('for a refusal says where a credential belongs', async () => {
    const reply = await call('GET', '/Users', undefined, { authorization: '' })
    assert.match(String(reply.headers['www-authenticate']), /^Bearer/)
  })

  test('for an address that is no directory’s, as for another’s', async () => {
    const replies = await Promise.all(
      [newId(), 'nope', '%00', acme.tenant_id].map((id) =>
        callScim(house, { ...directory, id }, { method: 'GET', path: '/Users' }),
      ),
    )
    for (const reply of replies) {
      assert.ok([403, 404].includes(reply.status), reply.text)
      requireError(reply, reply.status)
    }
  })
})

test('a call without an error leaves nothing behind of those with one', async () => {
  assert.equal((await call('GET', '/Users')).body.totalResults, 0)
  assert.equal((await call('GET', '/Groups')).body.totalResults, 0)
})

test('the media types of JSON and of SCIM are taken, with or without their character set', async () => {
  for (const [n, type] of [
    ...[
      'application/scim+json',
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/SCIM+JSON;charset=UTF-8',
    ],
  ].entries()) {
    const reply = await call('POST', '/Users', user({ userName: `type${n}@example.com` }), { 'content-type': type })
    assert.equal(reply.status, 201, reply.text)
  }
})
