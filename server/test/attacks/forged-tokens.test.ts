import assert from 'node:assert/strict'
import { createHmac, type webcrypto } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { openHouse } from '../support/house.ts'
import { beginSession } from '../support/session.ts'

/**
 * Tokens that the service did not issue. Those about claims are signed with the service's own key: the signature is valid, and
 * the token is refused for its claims. Every refusal equals that of a caller without a credential.
 */
const made: webcrypto.CryptoKeyPair[] = []
const { subtle } = globalThis.crypto
const generateKey = subtle.generateKey.bind(subtle)
// The key pair that the service generates, recorded for the test.
subtle.generateKey = (async (...how: Parameters<typeof generateKey>) => {
  const pair = await generateKey(...how)
  if ('privateKey' in pair) made.push(pair)
  return pair
}) as typeof subtle.generateKey
const house = await openHouse()
subtle.generateKey = generateKey as typeof subtle.generateKey

const { tenant_id, owner, people } = await house.tenant('forgers')
const other = await house.tenant('another tenant')
/** Live sessions, by whose they are. */
const sessions = {
  own: await beginSession(house.database.tenant(tenant_id), owner.user_id),
  colleagues: await beginSession(house.database.tenant(tenant_id), people.user.user_id),
  strangers: await beginSession(house.database.tenant(other.tenant_id), other.owner.user_id),
}
const published = (await house.call({ method: 'GET', url: '/.well-known/jwks.json' })).body
  .keys as webcrypto.JsonWebKey[]
const [key] = published as [webcrypto.JsonWebKey & { kid: string }]
const ownKey = await keyOf(key)
const strangerKey = (await generateKey('Ed25519', true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair

async function keyOf({ x }: webcrypto.JsonWebKey): Promise<webcrypto.CryptoKey> {
  for (const { publicKey, privateKey } of made) {
    const jwk = await subtle.exportKey('jwk', publicKey)
    if (jwk.x === x) return privateKey
  }
  throw new Error('the service made no key of its own here')
}

const encoded = (text: string | object) =>
  Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)).toString('base64url')

const now = Math.floor(Date.now() / 1000)
const goodHeader = { alg: 'EdDSA', typ: 'at+jwt', kid: key.kid }
const goodClaims = {
  iss: 'http://127.0.0.1:8080',
  aud: 'sallyport',
  sub: owner.user_id,
  tid: tenant_id,
  sid: sessions.own,
  iat: now,
  exp: now + 600,
  jti: newId(),
}
const without = (name: string) => Object.fromEntries(Object.entries(goodClaims).filter(([claim]) => claim !== name))

/** A token of these parts, as objects or as exact text. */
async function signed(header: string | object, claims: string | object, by = ownKey): Promise<string> {
  const text = `${encoded(header)}.${encoded(claims)}`
  return `${text}.${Buffer.from(await subtle.sign('Ed25519', by, Buffer.from(text))).toString('base64url')}`
}

function hmacSigned(secret: string | Buffer): string {
  const text = `${encoded({ ...goodHeader, alg: 'HS256' })}.${encoded(goodClaims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

const call = (authorization?: string) =>
  house.call({ method: 'GET', url: '/v1/policies', tenant_id, ...(authorization && { headers: { authorization } }) })
const refusal = await call()

async function assertRefused(token: string): Promise<void> {
  const reply = await call(`Bearer ${token}`)
  assert.deepEqual([reply.status, reply.text], [401, refusal.text])
}

const requested: string[] = []
const keyServer = createServer((request, reply) => {
  requested.push(request.url ?? '')
  reply.end(JSON.stringify({ keys: [] }))
}).listen(0, '127.0.0.1')
await new Promise((listening) => keyServer.once('listening', listening))
after(() => keyServer.close())
const keysAt = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}`

test('a token made as the service makes them is accepted', async () => {
  assert.equal(refusal.status, 401)
  assert.equal((await call(`Bearer ${await signed(goodHeader, goodClaims)}`)).status, 200)
})

suite('a token whose signature', () => {
  const unsigned = (alg: string) => `${encoded({ ...goodHeader, alg })}.${encoded(goodClaims)}.`
  const cases: Record<string, () => Promise<string> | string> = {
    'is none': () => unsigned('none'),
    'is None': () => unsigned('None'),
    'is nOnE': () => unsigned('nOnE'),
    'is none, with some bytes after it': () => `${unsigned('none')}AAAA`,
    'is empty, for the right algorithm': () => unsigned('EdDSA'),
    'is by HMAC with the public key’s bytes': () => hmacSigned(Buffer.from(String(key.x), 'base64url')),
    'is by HMAC with the public key’s text': () => hmacSigned(String(key.x)),
    'is by HMAC with the published key': () => hmacSigned(JSON.stringify(key)),
    'is by HMAC with an empty key': () => hmacSigned(''),
    'is by a key of the caller’s': () => signed(goodHeader, goodClaims, strangerKey.privateKey),
    'is of another token': async () => {
      const [head, , mark] = (await signed(goodHeader, { ...goodClaims, sub: newId() })).split('.')
      return `${head}.${encoded(goodClaims)}.${mark}`
    },
    'is cut': async () => (await signed(goodHeader, goodClaims)).slice(0, -4),
    'is one byte longer': async () => `${await signed(goodHeader, goodClaims)}AA`,
    'is over the hash of the text': () => {
      const text = `${encoded(goodHeader)}.${encoded(goodClaims)}`
      return `${text}.${Buffer.from(createHmac('sha256', 'x').update(text).digest()).toString('base64url')}`
    },
  }
  for (const [name, make] of Object.entries(cases)) {
    test(`${name} is refused (A3)`, async () => assertRefused(await make()))
  }

  test('has any one character changed is refused (A3)', async () => {
    const token = await signed(goodHeader, goodClaims)
    const start = token.lastIndexOf('.') + 1
    for (let place = start; place < token.length; place += 5) {
      const changed = token[place] === 'A' ? 'Q' : 'A'
      await assertRefused(`${token.slice(0, place)}${changed}${token.slice(place + 1)}`)
    }
    // The last character carries only two bits: its other bits must be zero.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const letter of letters.replace(token.at(-1) ?? '', '')) await assertRefused(`${token.slice(0, -1)}${letter}`)
  })
})

suite('a token whose header', () => {
  const cases: Record<string, string | object> = {
    'says RS256': { ...goodHeader, alg: 'RS256' },
    'says ES256': { ...goodHeader, alg: 'ES256' },
    'says Ed25519, the newer name': { ...goodHeader, alg: 'Ed25519' },
    'says eddsa in small letters': { ...goodHeader, alg: 'eddsa' },
    'has no algorithm': { typ: 'at+jwt', kid: key.kid },
    'claims to be an identity token': { ...goodHeader, typ: 'JWT' },
    'claims to be a state token': { ...goodHeader, typ: 'state+jwt' },
    'has no type': { alg: 'EdDSA', kid: key.kid },
    'names no key': { alg: 'EdDSA', typ: 'at+jwt' },
    'names a file as its key': { ...goodHeader, kid: '../../../../dev/null' },
    'names SQL as its key': { ...goodHeader, kid: "x' union select '' --" },
    'names a number as its key': { ...goodHeader, kid: 1 },
    'names an unknown key': { ...goodHeader, kid: 'nobody' },
    'names __proto__ as its key': `{"alg":"EdDSA","typ":"at+jwt","kid":"__proto__"}`,
    'names two keys': `{"alg":"EdDSA","typ":"at+jwt","kid":"nobody","kid":"${key.kid}"}`,
    'has a critical extension': { ...goodHeader, crit: ['exp'] },
    'says the payload is not encoded': { ...goodHeader, b64: false, crit: ['b64'] },
    'is compressed': { ...goodHeader, zip: 'DEF' },
    'is not JSON': 'alg=EdDSA',
    'is nested 1,000 deep': `{"alg":"EdDSA","typ":"at+jwt","kid":"${key.kid}","x":${'['.repeat(1000)}${']'.repeat(1000)}}`,
  }
  for (const [name, header] of Object.entries(cases)) {
    test(`${name} is refused (A3)`, async () => assertRefused(await signed(header, goodClaims)))
  }

  test('brings its own key, by value or by address, is refused, and the address is not called (A3)', async () => {
    const jwk = await subtle.exportKey('jwk', strangerKey.publicKey)
    for (const more of [{ jwk }, { jku: `${keysAt}/jwks` }, { x5u: `${keysAt}/cert` }, { x5c: ['MIIB'] }]) {
      await assertRefused(await signed({ ...goodHeader, ...more }, goodClaims, strangerKey.privateKey))
      await assertRefused(await signed({ ...goodHeader, ...more }, goodClaims))
    }
    assert.deepEqual(requested, [])
  })
})

suite('a token with', () => {
  const cases: Record<string, string | object> = {
    'an end two minutes ago': { ...goodClaims, iat: now - 900, exp: now - 120 },
    'a beginning in five minutes': { ...goodClaims, nbf: now + 300 },
    'an issue time in five minutes': { ...goodClaims, iat: now + 300, exp: now + 900 },
    'no end': without('exp'),
    'no subject': without('sub'),
    'no tenant': without('tid'),
    'no session': without('sid'),
    'no audience': without('aud'),
    'no issuer': without('iss'),
    'no beginning': without('iat'),
    'no id': without('jti'),
    'another issuer': { ...goodClaims, iss: 'https://evil.example' },
    'the issuer with a trailing slash': { ...goodClaims, iss: 'http://127.0.0.1:8080/' },
    'another audience': { ...goodClaims, aud: 'portal' },
    'its end as text': { ...goodClaims, exp: String(now + 600) },
    'an end that is too large': JSON.stringify(goodClaims).replace(/"exp":\d+/, '"exp":1e400'),
    'an end with a fraction': { ...goodClaims, exp: now + 600.5 },
    'a user of another tenant': { ...goodClaims, sub: other.owner.user_id },
    'a user and a session of another tenant': { ...goodClaims, sub: other.owner.user_id, sid: sessions.strangers },
    nobody: { ...goodClaims, sub: newId() },
    'a session that never began': { ...goodClaims, sid: newId() },
    'a session of a colleague': { ...goodClaims, sid: sessions.colleagues },
    'a colleague, and the session of the caller': { ...goodClaims, sub: people.user.user_id },
    'a session of another tenant': { ...goodClaims, sid: sessions.strangers },
    'its session in capital letters': { ...goodClaims, sid: sessions.own.toUpperCase() },
  }
  for (const [name, claims] of Object.entries(cases)) {
    test(`${name} is refused (A4)`, async () => assertRefused(await signed(goodHeader, claims)))
  }

  test('the caller’s user, of another tenant, is refused there too (A4)', async () => {
    for (const sid of Object.values(sessions)) {
      const token = await signed(goodHeader, { ...goodClaims, sid, tid: other.tenant_id })
      const reply = await house.call({ method: 'GET', url: '/v1/policies', token, tenant_id: other.tenant_id })
      assert.deepEqual([reply.status, reply.text], [401, refusal.text])
    }
  })

  const ends = {
    'was ended': 'delete from user_session where id = $1',
    'ended by itself at this moment': 'update user_session set live_until = clock_timestamp() where id = $1',
  }
  for (const [how, end] of Object.entries(ends)) {
    test(`a session that ${how} is refused (A4)`, async () => {
      const sid = await beginSession(house.database.tenant(tenant_id), owner.user_id)
      // A new token each time: the service may keep for moments what it knows of one that it has seen.
      const made = () => signed(goodHeader, { ...goodClaims, sid, jti: newId() })
      assert.equal((await call(`Bearer ${await made()}`)).status, 200)
      await house.asSuperuser(end, [sid])
      await assertRefused(await made())
    })
  }

  const text = JSON.stringify(goodClaims)
  const shapes: Record<string, string | object> = {
    'two subjects': `${text.slice(0, -1)},"sub":"${other.owner.user_id}"}`,
    'the same subject twice': `${text.slice(0, -1)},"sub":"${owner.user_id}"}`,
    'two subjects, one spelled with an escape': `${text.slice(0, -1)},"\\u0073ub":"${other.owner.user_id}"}`,
    'a list of audiences': { ...goodClaims, aud: ['sallyport'] },
    'a list of audiences with others': { ...goodClaims, aud: ['sallyport', 'portal'] },
    'a number as its subject': { ...goodClaims, sub: 7 },
    'a list as its subject': { ...goodClaims, sub: [owner.user_id] },
    'an object as its subject': { ...goodClaims, sub: { id: owner.user_id } },
    'null as its tenant': { ...goodClaims, tid: null },
    'a tenant in braces': { ...goodClaims, tid: `{${tenant_id}}` },
    'two sessions': `${text.slice(0, -1)},"sid":"${sessions.colleagues}"}`,
    'null as its session': { ...goodClaims, sid: null },
    'a list as its session': { ...goodClaims, sid: [sessions.own] },
    'an empty session': { ...goodClaims, sid: '' },
    'a session in braces': { ...goodClaims, sid: `{${sessions.own}}` },
    'a pattern as its session': { ...goodClaims, sid: '%' },
    '9 KB': { ...goodClaims, note: 'x'.repeat(9_000) },
    'something 1,000 deep': `${text.slice(0, -1)},"x":${'['.repeat(500)}${']'.repeat(500)}}`,
    'a list': [goodClaims],
    'a text that is not JSON': 'sub=owner',
    nothing: '',
    'NUL after its end': `${text}\u0000`,
    'two objects': `${text}${text}`,
  }
  for (const [name, claims] of Object.entries(shapes)) {
    test(`${name} is refused (A5)`, async () => assertRefused(await signed(goodHeader, claims)))
  }
})

test('a token in another form of JOSE is refused (A3)', async () => {
  const token = await signed(goodHeader, goodClaims)
  const [protectedHeader, payload, signature] = token.split('.')
  for (const other of [
    JSON.stringify({ protected: protectedHeader, payload, signature }),
    `${token}.${encoded('x')}.${encoded('y')}`,
    `${protectedHeader}..${signature}`,
    token.replaceAll('.', ':'),
    token.replaceAll('-', '+').replaceAll('_', '/').replace(/$/, '='),
    encodeURIComponent(`${token} `),
  ]) {
    await assertRefused(other)
  }
})
