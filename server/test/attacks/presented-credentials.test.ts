import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { operations } from '../support/house.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/** A valid credential, sent incorrectly: twice, beside another, elsewhere. Over a real socket. */
const { house, ours, ourRecords } = await openStage()
const { tenant_id, owner, people } = await house.tenant('presented')
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const port = Number(new URL(address).port)

type Answer = { status: number; head: string; text: string; code: string | undefined }

async function send(...lines: string[]): Promise<Answer> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(Buffer.from(`${[...lines, 'Host: x', 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1'))
  const answer = await text(socket)
  const split = answer.indexOf('\r\n\r\n')
  const body = answer.slice(split + 4)
  const code = body.startsWith('{') ? (JSON.parse(body) as { code?: string }).code : undefined
  return { status: Number(answer.split(' ')[1]), head: answer.slice(0, split), text: body, code }
}

const listing = `GET /v1/policies HTTP/1.1\r\nX-Tenant-ID: ${tenant_id}`
const bearer = `Authorization: Bearer ${owner.token}`
const apiKey = `X-API-Key: ${owner.api_key}`
const refusal = await send(listing)

test('each is accepted when it is sent correctly', async () => {
  assert.deepEqual([refusal.status, refusal.code], [401, 'unauthenticated'])
  for (const line of [bearer, apiKey]) assert.equal((await send(listing, line)).status, 200)
})

suite('two credentials', () => {
  const ofBothKinds: Record<string, string[]> = {
    'both valid': [bearer, apiKey],
    'the key invalid': [bearer, 'X-API-Key: nobody'],
    'the token invalid': ['Authorization: Bearer nobody', apiKey],
    'the token empty': ['Authorization:', apiKey],
    'the key empty': [bearer, 'X-API-Key:'],
    'one of them Basic': ['Authorization: Basic YTpi', apiKey],
  }
  for (const [name, lines] of Object.entries(ofBothKinds)) {
    test(`of both kinds, ${name}, are refused (A1)`, async () => {
      const answer = await send(listing, ...lines)
      assert.deepEqual([answer.status, answer.code], [400, 'ambiguous_credentials'])
    })
  }
  const ofOneKind: Record<string, string[]> = {
    'one token twice': [bearer, bearer],
    'two tokens': [bearer, `Authorization: Bearer ${people.user.token}`],
    'two tokens, the weaker first': [`Authorization: Bearer ${people.user.token}`, bearer],
    'two tokens in two spellings of the header': [bearer, bearer.replace('A', 'a')],
    'a token and an empty one': [bearer, 'AUTHORIZATION:'],
    'one key twice': [apiKey, apiKey],
    'two keys': [apiKey, `x-api-key: ${people.user.api_key}`],
  }
  for (const [name, lines] of Object.entries(ofOneKind)) {
    test(`that are ${name} are refused, whichever comes first (A2)`, async () => {
      const answer = await send(listing, ...lines)
      assert.deepEqual([answer.status, answer.code], [400, 'ambiguous_credentials'])
    })
  }
})

suite('a token', () => {
  const cases: [string, string, number][] = [
    ['after bearer in small letters', `Authorization: bearer ${owner.token}`, 401],
    ['after two spaces', `Authorization: Bearer  ${owner.token}`, 401],
    ['after a tab', `Authorization: Bearer\t${owner.token}`, 401],
    ['after a colon', `Authorization: Bearer: ${owner.token}`, 401],
    ['without a scheme', `Authorization: ${owner.token}`, 401],
    ['after Bearer twice', `Authorization: Bearer Bearer ${owner.token}`, 401],
    ['in quotes', `Authorization: Bearer "${owner.token}"`, 401],
    ['with a comma and another token', `Authorization: Bearer ${owner.token}, Bearer ${owner.token}`, 401],
    ['with a parameter', `Authorization: Bearer ${owner.token}; x=y`, 401],
    ['that is empty', 'Authorization: Bearer ', 401],
    ['that is missing', 'Authorization: Bearer', 401],
    ['with bytes outside ASCII', `Authorization: Bearer ${owner.token}\u00e4`, 401],
    ['of 10 KB', `Authorization: Bearer ${'a'.repeat(10_000)}`, 401],
    ['of 20 KB', `Authorization: Bearer ${'a'.repeat(20_000)}`, 431],
  ]
  for (const [name, line, status] of cases) {
    test(`${name} is refused (A13)`, async () => {
      const answer = await send(listing, line)
      assert.equal(answer.status, status)
      if (status === 401) assert.equal(answer.text, refusal.text)
    })
  }

  test('of 1 MB is not read to its end (A13)', async () => {
    const line = `Authorization: Bearer ${'a'.repeat(1_000_000)}`
    // The answer may be lost with the connection, which is closed on a caller that keeps sending.
    const answer = await send(listing, line).catch((error: NodeJS.ErrnoException) => error.code)
    assert.ok(typeof answer === 'string' ? ['ECONNRESET', 'EPIPE'].includes(answer) : answer?.status === 431)
    assert.equal((await send(listing, bearer)).status, 200)
  })
})

suite('an API key', () => {
  const { api_key } = owner
  const flipped = (place: number) =>
    `${api_key.slice(0, place)}${api_key[place] === 'a' ? 'b' : 'a'}${api_key.slice(place + 1)}`
  const cases: Record<string, string[]> = {
    'with one letter changed': Array.from({ length: Math.ceil(api_key.length / 7) }, (_, step) => flipped(step * 7)),
    cut: [4, 20, 40, api_key.length - 6, api_key.length - 1].map((length) => api_key.slice(0, length)),
    'of only its prefix': ['sp_', 'sp', 'spscim_', '_'],
    'with another prefix': ['spscim_', 'sk_', 'SP_', 'sp_sp_', ''].map((prefix) => api_key.replace('sp_', prefix)),
    'with text around it': [
      `"${api_key}"`,
      `Bearer ${api_key}`,
      `${api_key},${api_key}`,
      `${api_key}=`,
      `${api_key}\u00a0`,
    ],
    'in upper case': [api_key.toUpperCase()],
    encoded: [encodeURIComponent(`${api_key} `), Buffer.from(api_key).toString('base64')],
  }
  for (const [name, texts] of Object.entries(cases)) {
    test(`${name} is refused like an unknown one (A8)`, async () => {
      for (const one of texts) {
        const answer = await send(listing, `X-API-Key: ${one}`)
        assert.deepEqual([answer.status, answer.text], [401, refusal.text], one.slice(0, 12))
      }
    })
  }
})

suite('a credential', () => {
  const basic = (pair: string) => Buffer.from(pair).toString('base64')
  const { token, api_key } = owner
  const tenantLine = `X-Tenant-ID: ${tenant_id}`
  const elsewhere: Record<string, string[]> = {
    'in the query': [`GET /v1/policies?access_token=${token}&api_key=${api_key} HTTP/1.1`, tenantLine],
    'in the query, by the header’s name': [`GET /v1/policies?authorization=Bearer%20${token} HTTP/1.1`, tenantLine],
    'in a cookie': [listing, `Cookie: token=${token}; api_key=${api_key}; access_token=${token}`],
    'as Basic, with the key as the name': [listing, `Authorization: Basic ${basic(`${api_key}:`)}`],
    'as Basic, with the key as the password': [listing, `Authorization: Basic ${basic(`x:${api_key}`)}`],
    'as Basic, with the real password': [
      listing,
      `Authorization: Basic ${basic('owner@example.com:a long enough password')}`,
    ],
    'in the header for proxies': [listing, `Proxy-Authorization: Bearer ${token}`],
    'in a header with another name': [
      listing,
      `X-Auth-Token: ${token}`,
      `Api-Key: ${api_key}`,
      `X_API_KEY: ${api_key}`,
    ],
    'that is a key in the token’s header': [listing, `Authorization: Bearer ${api_key}`],
    'that is a token in the key’s header': [listing, `X-API-Key: ${token}`],
  }
  for (const [name, lines] of Object.entries(elsewhere)) {
    test(`${name} does not count (A12)`, async () => {
      const answer = await send(...lines)
      assert.deepEqual([answer.status, answer.text], [401, refusal.text])
    })
  }

  test('in a body does not count (A12)', async () => {
    const body = { name: 'x', authorization: `Bearer ${token}`, api_key, access_token: token }
    const reply = await house.call({ method: 'POST', url: '/v1/policies', tenant_id, body })
    assert.deepEqual([reply.status, reply.text], [401, refusal.text])
  })

  test('is not sent by pages of other origins: no header allows them to call or read (A12)', async () => {
    const origin = 'Origin: https://evil.example'
    for (const lines of [
      [listing, bearer, origin],
      [listing.replace('GET', 'OPTIONS'), origin, 'Access-Control-Request-Method: GET'],
      ['OPTIONS /v1/auth/login HTTP/1.1', origin, 'Access-Control-Request-Method: POST'],
    ]) {
      const { head } = await send(...lines)
      assert.doesNotMatch(head, /access-control-allow/i)
    }
  })
})

/** The credential of each of the 21 endpoints, and whether the other kind works as well. */
const endpoints: [operationId: string, takes: ('token' | 'api_key')[]][] = [
  ['approveRequest', ['api_key', 'token']],
  ['updateRole', ['token', 'api_key']],
  ['createRule', ['api_key', 'token']],
  ['upsertSetting', ['api_key', 'token']],
  ['createEmailChannel', ['api_key', 'token']],
  ['upsertCloudAccounts', ['api_key', 'token']],
  ['listApiKeys', ['api_key', 'token']],
  ['setAiProviderDefault', ['api_key', 'token']],
  ['reorderPolicies', ['api_key', 'token']],
  ['createUser', ['token', 'api_key']],
  ['cancelRequest', ['api_key', 'token']],
  ['addGroupMember', ['token', 'api_key']],
  ['updateOwnPreferences', ['token']],
  ['getAccessRequestStatus', ['token', 'api_key']],
  ['getIdentityProvider', ['api_key', 'token']],
  ['revokeApiKey', ['api_key', 'token']],
  ['listPermissions', ['token', 'api_key']],
  ['updateOwnProfile', ['token']],
  ['listGroups', ['token', 'api_key']],
  ['markNotificationRead', ['token']],
]

suite('of the 21 endpoints', async () => {
  const [tenant, records] = [ours, ourRecords]
  const provider = records['/v1/identity-providers/{id}']?.id
  const scimKey = await house.call({
    ...{ method: 'POST', url: '/v1/api-keys', tenant_id: tenant.tenant_id, token: tenant.owner.token },
    body: { name: 'a directory', identity_provider_id: provider },
  })
  const { token, api_key } = tenant.owner

  for (const [operationId, takes] of endpoints) {
    const operation = operations[operationId]
    test(`${operationId} takes ${takes.join(' or ')}, and no SCIM key (A11)`, async () => {
      assert.ok(operation)
      const { method, path, body } = operation
      const call = (credential: object) =>
        house.call({
          ...{ method, url: addressed(path, records), tenant_id: tenant.tenant_id, ...credential },
          ...(body !== undefined && { body: sampleBodies[operationId] }),
        })
      // The refused one first: the accepted call changes the record.
      const refused = await call({ api_key: String(scimKey.body.key) })
      assert.deepEqual([refused.status, refused.text], [401, refusal.text])
      for (const [kind, credential] of Object.entries({ token: { token }, api_key: { api_key } })) {
        const reply = await call(credential)
        if ((takes as string[]).includes(kind)) assert.ok(![401, 403].includes(reply.status), reply.text)
        else assert.equal(reply.status, 401, reply.text)
      }
    })
  }

  test('exchangeAuthorizationCode takes none, and ignores one (A11)', async () => {
    const body = sampleBodies.exchangeAuthorizationCode
    const replies = await Promise.all(
      [{}, { token }, { api_key }, { token: 'nobody' }].map((credential) =>
        house.call({ method: 'POST', url: '/v1/auth/callback', body, ...credential }),
      ),
    )
    assert.equal(new Set(replies.map((reply) => `${reply.status} ${reply.text}`)).size, 1)
  })
})
