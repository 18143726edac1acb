import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import type { Answer, Misdeed, Step, Worse } from '../support/hostile-provider.ts'
import { claiming, heading, openHostileStage } from '../support/hostile-stage.ts'
import { anna } from '../support/sign-in-stage.ts'
import { type Json, jwt, strangers, theirs, unsigned } from '../support/token-forge.ts'

/** A provider that answers incorrectly, at each step. */
const stage = await openHostileStage()
const { set, assertComesToNothing, refusals, house } = stage

/** An address besides the provider's, to which no call may go. */
let catcher: Server
let caught: string[] = []
let elsewhere: string
before(async () => {
  catcher = createServer((request, reply) => {
    caught.push(`${request.method} ${request.url}`)
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}')
  })
  await new Promise<void>((done) => {
    catcher.listen(0, done)
  })
  elsewhere = `http://127.0.0.1:${(catcher.address() as AddressInfo).port}`
})
after(() => {
  catcher.closeAllConnections()
  catcher.close()
})

const htmlType = { 'content-type': 'text/html' }
const jsonType = { 'content-type': 'application/json' }
const with_ = (change: Partial<Answer>) => (good: Answer) => ({ ...good, ...change })
const away = (status: number, location: () => string) => (good: Answer) => ({
  ...good,
  status,
  headers: { location: location() },
})
/** Two megabytes that are valid except for their length. */
const long = (good: Answer) => ({ ...good, body: `${good.body}${' '.repeat(2_000_000)}` })
const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`

type Bad = [name: string, answer: (good: Answer) => Answer | Worse, why: RegExp | 'unavailable']

/** Faults of an answer that are possible at any step. */
const anywhere: Bad[] = [
  ['404', with_({ status: 404 }), /status code: 404/],
  ['204', with_({ status: 204, body: '' }), /status code: 204/],
  ['a redirect to where it should be', away(307, () => `${elsewhere}/here`), /status code: 307/],
  ['a redirect to the cloud’s metadata', away(302, () => 'http://169.254.169.254/latest'), /status code: 302/],
  ['what is not JSON', with_({ body: '{"issuer":' }), /parse/],
  ['a list', with_({ body: '[]' }), /provider: /],
  ['null', with_({ body: 'null' }), /provider: /],
  ['a list as deep as a megabyte goes', with_({ body: deep }), /provider: /],
  [
    'JSON that is packed',
    (good) => ({ ...good, headers: { ...jsonType, 'content-encoding': 'gzip' }, body: '\x1f\x8b' }),
    /parse/,
  ],
  ['two megabytes', long, 'unavailable'],
  ['500', with_({ status: 500 }), 'unavailable'],
  ['503', with_({ status: 503 }), 'unavailable'],
  ['429', with_({ status: 429 }), 'unavailable'],
  ['a status that is none', with_({ status: 999 }), 'unavailable'],
  ['half an answer', () => 'cut', 'unavailable'],
  ['a switch to another protocol', () => 'switch', 'unavailable'],
  [
    'thousands of headers',
    (good) => ({ ...good, headers: { ...good.headers, 'x-long': 'x'.repeat(60_000) } }),
    'unavailable',
  ],
]

/** Leaves the address to the userinfo endpoint, so that it is called. */
const terse: Misdeed = claiming({ email: undefined })
const before_: Record<Step, Misdeed> = { discovery: {}, token: {}, jwks: {}, userinfo: terse }

for (const step of ['token', 'jwks', 'userinfo'] as const) {
  suite(`the provider’s ${step} answers`, () => {
    const id = { token: 'O7', jwks: 'O12', userinfo: 'O9' }[step]
    for (const [name, answer, why] of anywhere) {
      test(`${name}: no user is signed in (${id}, S1)`, async () => {
        caught = []
        await assertComesToNothing({ ...before_[step], answer: { [step]: answer } }, why)
        assert.deepEqual(caught, [])
      })
    }
  })
}

suite('the provider’s metadata is', () => {
  const named = (change: Json): Misdeed => ({ metadata: (good) => ({ ...good, ...change }) })
  const others: [string, Misdeed][] = [
    ...anywhere.map(([name, answer]): [string, Misdeed] => [name, { answer: { discovery: answer } }]),
    ['of another issuer', named({ issuer: 'https://id.example.com' })],
    ['of the issuer, with a trailing slash', { metadata: (good) => ({ ...good, issuer: `${good.issuer}/` }) }],
    [
      'of the issuer in other letters',
      { metadata: (good) => ({ ...good, issuer: String(good.issuer).replace('http', 'HTTP') }) },
    ],
    ['of the issuer after a NUL', { metadata: (good) => ({ ...good, issuer: `\0${good.issuer}` }) }],
    ['of no issuer', named({ issuer: undefined })],
    ['of an issuer that is a list', { metadata: (good) => ({ ...good, issuer: [good.issuer] }) }],
    ['without an authorization endpoint', named({ authorization_endpoint: undefined })],
    ['with a script as authorization endpoint', named({ authorization_endpoint: 'javascript:alert(1)' })],
    ['with a file as authorization endpoint', named({ authorization_endpoint: 'file:///etc/passwd' })],
    ['with an authorization endpoint that is not a URL', named({ authorization_endpoint: 'authorize' })],
    ['without keys', named({ jwks_uri: undefined })],
    ['with keys in a data URL', named({ jwks_uri: 'data:application/json,{"keys":[]}' })],
  ]
  for (const [name, misdeed] of others) {
    test(`${name}: no sign-in begins (O5)`, async () => {
      caught = []
      const { realm, begin } = await set(misdeed)
      const reply = await begin()
      assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'], reply.text)
      const rows = await house.asSuperuser('select 1 from sign_in_state where issuer = $1', [realm.issuer])
      assert.deepEqual([rows.length, realm.countOf('token'), caught.length], [0, 0, 0])
    })
  }

  const endpoints: [string, Json, RegExp | 'unavailable'][] = [
    ['without a token endpoint', { token_endpoint: undefined }, /token_endpoint/],
    ['with a token endpoint that is not a URL', { token_endpoint: 7 }, /token_endpoint/],
    ['with a token endpoint on another loopback address', { token_endpoint: 'http://127.0.0.2/token' }, 'unavailable'],
    [
      'with a token endpoint on the cloud’s metadata address',
      { token_endpoint: 'https://169.254.169.254/token' },
      'unavailable',
    ],
    ['with a token endpoint on localhost', { token_endpoint: 'https://localhost/token' }, 'unavailable'],
    ['with a token endpoint that is a file', { token_endpoint: 'file:///etc/passwd' }, /HTTP/],
    ['with keys on another loopback address', { jwks_uri: 'http://127.0.0.2/jwks' }, 'unavailable'],
    ['with keys on the cloud’s metadata address', { jwks_uri: 'https://169.254.169.254/jwks' }, 'unavailable'],
    ['with keys at an address in another notation', { jwks_uri: 'https://0xa9.0xfe.43518/jwks' }, 'unavailable'],
    ['with a list of algorithms that is a text', { id_token_signing_alg_values_supported: 'ES256' }, /provider/],
  ]
  for (const [name, change, why] of endpoints) {
    test(`${name}: no user is signed in (O12, S1)`, () => {
      const signedOtherwise = 'id_token_signing_alg_values_supported' in change
      const token: Misdeed = signedOtherwise
        ? { ...heading({ alg: 'ES256', kid: 'ec-1' }), signer: theirs.ec.sign }
        : {}
      return assertComesToNothing({ ...token, ...named(change) }, why)
    })
  }
})

suite('the token endpoint answers', () => {
  const errors: [string, Partial<Answer>, RegExp][] = [
    ['that the code is wrong', { status: 400, body: '{"error":"invalid_grant"}' }, /^provider: invalid_grant$/],
    ['that the client is wrong', { status: 401, body: '{"error":"invalid_client"}' }, /invalid_client/],
    ['a challenge', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }, /challenge/],
    ['an error with a NUL', { status: 400, body: '{"error":"a\\u0000b"}' }, /^provider: a b$/],
    ['an error with half a surrogate pair', { status: 400, body: '{"error":"a\\ud800"}' }, /^provider: a\ufffd$/],
    ['an error of many lines', { status: 400, body: '{"error":"a\\r\\nb\\u0085c"}' }, /^provider: a b c$/],
    [
      'an error of a hundred thousand letters',
      { status: 400, body: `{"error":"${'e'.repeat(100_000)}"}` },
      /^provider: e{100}$/,
    ],
    ['an error that is a number', { status: 400, body: '{"error":7}' }, /status code: 400/],
    ['an HTML page that refuses', { status: 403, headers: htmlType, body: '<b>' }, /status|content-type/],
  ]
  for (const [name, change, why] of errors) {
    test(`${name}: the one public answer (O7, O13)`, () =>
      assertComesToNothing({ answer: { token: with_(change) } }, why))
  }
  const tokens: [string, Json, RegExp][] = [
    ['no access token', { access_token: undefined }, /access_token/],
    ['an access token that is a number', { access_token: 7 }, /access_token/],
    ['a token without a type', { token_type: undefined }, /token_type/],
    ['a token of another type', { token_type: 'mac' }, /token_type/],
    ['an invalid lifetime', { expires_in: 'soon' }, /expires_in/],
    ['a refresh token that is a list', { refresh_token: [] }, /refresh_token/],
  ]
  for (const [name, change, why] of tokens) {
    test(`${name} (O8)`, () => assertComesToNothing({ tokens: (good) => ({ ...good, ...change }) }, why))
  }
  test('an access token that cannot be sent, which is not logged (O9)', async () => {
    const secret = 'at-secret\r\nx-injected: 1'
    await assertComesToNothing({ ...terse, tokens: (good) => ({ ...good, access_token: secret }) }, /cannot be read/)
    assert.ok(!JSON.stringify(await refusals()).includes('at-secret'))
  })
})

suite('the answer of userinfo is refused if', () => {
  const about: [string, Json, RegExp][] = [
    ['it is about another user', { sub: 'bert' }, /sub/],
    ['its sub is spelled differently', { sub: 'ANNA' }, /sub/],
    ['it has no sub', { sub: undefined }, /sub/],
    ['its sub is a list', { sub: ['anna'] }, /sub/],
    ['its sub is null', { sub: null }, /sub/],
  ]
  for (const [name, change, why] of about) {
    test(`${name} (O9)`, () => assertComesToNothing({ ...terse, userinfo: (good) => ({ ...good, ...change }) }, why))
  }
  const asToken = (token: string, listed: string[]): Misdeed => ({
    ...terse,
    metadata: (good) => ({ ...good, userinfo_signing_alg_values_supported: listed }),
    answer: { userinfo: (good) => ({ ...good, headers: { 'content-type': 'application/jwt' }, body: token }) },
  })
  const claims = { sub: 'anna', email: 'root@example.com', email_verified: true }
  const forged: [string, Misdeed, RegExp][] = [
    ['it is signed by nobody', asToken(jwt({ alg: 'none' }, claims, unsigned), ['none']), /alg/],
    [
      'it is signed with a foreign key',
      asToken(jwt({ alg: 'RS256', kid: 'rsa-1' }, claims, strangers.sign), ['RS256']),
      /signature/,
    ],
    [
      'it is for another client',
      asToken(jwt({ alg: 'RS256', kid: 'rsa-1' }, { ...claims, aud: 'x' }, theirs.rsa.sign), ['RS256']),
      /aud/,
    ],
  ]
  for (const [name, misdeed, why] of forged) test(`${name} (O9)`, () => assertComesToNothing(misdeed, why))
  test('nothing is wrong: then it is accepted', async () => {
    const { realm, walk, finish } = await set(terse)
    const reply = await finish(await walk('terse', { ...anna, email: 'terse@example.com' }))
    assert.deepEqual([reply.status, realm.countOf('userinfo')], [200, 1], reply.text)
  })
})
