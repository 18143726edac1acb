import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { logoutTokenId, readLogoutToken } from './logout-token.ts'
import { RefusedByProvider } from './redeemed-account.ts'

const client = { issuer: 'https://id.example.com', client_id: 'sallyport' }
const now = 1_800_000_000.5
const event = 'http://schemas.openid.net/event/backchannel-logout'

type Part = Record<string, unknown> | string
const header = { alg: 'RS256', kid: 'k', typ: 'logout+jwt' }
const claims = {
  iss: client.issuer,
  aud: client.client_id,
  iat: now,
  exp: now + 120,
  jti: 'j-1',
  events: { [event]: {} },
  sub: 'anna',
  sid: 's-1',
}

/** A token of these parts with a signature that nobody has made; a string is used as it is. */
function tokenOf(head: Part, payload: Part): string {
  const part = (value: Part) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  return `${part(head)}.${part(payload)}.c2lnbmF0dXJl`
}
const read = (text: string) => readLogoutToken(text, client, now)
const readWith = (change: Record<string, unknown>, head: Part = header) => read(tokenOf(head, { ...claims, ...change }))

/** Asserts that the text is refused for this reason. */
function assertRefused(text: string, why: RegExp): void {
  assert.throws(
    () => read(text),
    (error) => error instanceof RefusedByProvider && why.test(error.message),
  )
}
const refuses = (change: Record<string, unknown>, why: RegExp) =>
  assertRefused(tokenOf(header, { ...claims, ...change }), why)

test('a correct logout token names a person, a session or both (O16)', () => {
  assert.deepEqual(read(tokenOf(header, claims)), { jti: 'j-1', sub: 'anna', sid: 's-1' })
  assert.deepEqual(readWith({ sid: undefined }), { jti: 'j-1', sub: 'anna', sid: undefined })
  assert.deepEqual(readWith({ sub: undefined }), { jti: 'j-1', sub: undefined, sid: 's-1' })
})

suite('a logout token says what it is (O16)', () => {
  for (const typ of ['logout+jwt', 'LOGOUT+JWT', 'application/logout+jwt', 'Application/Logout+JWT']) {
    test(`by the type ${typ}`, () => {
      assert.equal(readWith({}, { ...header, typ }).sub, 'anna')
    })
  }
  const others = [
    'JWT',
    'jwt',
    'at+jwt',
    'secevent+jwt',
    ' logout+jwt',
    'logout+jwt\n',
    'text/logout+jwt',
    'xlogout+jwt',
  ]
  for (const typ of [...others, '', null, undefined, 7, true, ['logout+jwt'], { typ: 'logout+jwt' }]) {
    test(`not by the type ${JSON.stringify(typ)}`, () => {
      assertRefused(tokenOf({ ...header, typ }, claims), /type/)
    })
  }
})

test('a logout token needs no extension, such as a payload that is not encoded (O16)', () => {
  for (const crit of [['b64'], ['exp'], [], null]) {
    assertRefused(tokenOf({ ...header, crit, b64: false }, claims), /extension/)
  }
})

suite('a logout token is of the issuer and for the client (O8, O16)', () => {
  for (const iss of [undefined, null, '', 'https://other.example.com', `${client.issuer}/`, [client.issuer]]) {
    test(`not of the issuer ${JSON.stringify(iss)}`, () => refuses({ iss }, /another issuer/))
  }
  for (const aud of ['sallyport', ['sallyport'], ['another', 'sallyport']]) {
    test(`and may be for ${JSON.stringify(aud)}`, () => {
      assert.equal(readWith({ aud }).sub, 'anna')
    })
  }
  const others = [undefined, null, '', 'another', 'Sallyport', [], ['another'], [['sallyport']], { sallyport: true }]
  for (const aud of others) {
    test(`not for ${JSON.stringify(aud)}`, () => refuses({ aud }, /another client/))
  }
})

suite('a logout token is obeyed for two minutes (O16)', () => {
  for (const age of [-60, -59, 0, 119, 120]) {
    test(`of the age of ${age} s`, () => {
      assert.equal(readWith({ iat: now - age, exp: undefined }).sub, 'anna')
    })
  }
  for (const iat of [now - 120.5, now - 121, now + 60.5, now + 61, 0, -1, String(now), null, undefined, [now], true]) {
    test(`not issued at ${JSON.stringify(iat)}`, () => refuses({ iat, exp: undefined }, /issued/))
  }
  for (const exp of [now + 1, now, now - 59, 1e15]) {
    test(`when it expires at ${exp}, as far as clocks agree`, () => {
      assert.equal(readWith({ exp }).sub, 'anna')
    })
  }
  for (const exp of [now - 60, now - 61, 0, -1, String(now + 60), null, true, [now + 60]]) {
    test(`not when it expires at ${JSON.stringify(exp)}`, () => refuses({ exp }, /expired/))
  }
  test('and written numbers that no clock shows are refused', () => {
    const written = (iat: string) => JSON.stringify({ ...claims, iat: 0 }).replace('"iat":0', `"iat":${iat}`)
    for (const iat of ['1e999', '-1e999', 'NaN', 'Infinity', '1800000000.00000000000000001']) {
      assertRefused(tokenOf(header, written(iat)), /is not a JWT/)
    }
  })
})

suite('a logout token names the event (O16)', () => {
  test('beside which others may stand', () => {
    assert.equal(readWith({ events: { other: {}, [event]: { more: true } } }).sub, 'anna')
  })
  const others = [
    undefined,
    null,
    {},
    [],
    event,
    [event],
    [{ [event]: {} }],
    { [event]: null },
    { [event]: true },
    { [event]: 'yes' },
    { [event]: [] },
    { [`${event}/`]: {} },
    { 'https://schemas.openid.net/event/backchannel-logout': {} },
  ]
  for (const events of others) test(`not as ${JSON.stringify(events)}`, () => refuses({ events }, /names no logout/))
})

suite('a token that might be an identity token is refused (O16)', () => {
  for (const nonce of ['n', '', null, 0, false, []]) {
    test(`with the nonce ${JSON.stringify(nonce)}`, () => refuses({ nonce }, /nonce/))
  }
})

suite('the names in a logout token are texts', () => {
  test('of at most a thousand characters', () => {
    const long = 'n'.repeat(1_000)
    assert.deepEqual(readWith({ jti: long, sub: long, sid: long }), { jti: long, sub: long, sid: long })
  })
  const malformed = ['', null, 7, true, [], ['anna'], {}, 'n'.repeat(1_001)]
  for (const claim of ['jti', 'sub', 'sid']) {
    for (const value of malformed) {
      test(`so \`${claim}\` is not ${JSON.stringify(value)?.slice(0, 20)}`, () => {
        refuses({ [claim]: value }, new RegExp(`\`${claim}\``))
      })
    }
  }
  test('and its id is present', () => refuses({ jti: undefined }, /`jti`/))
  test('and one of a person and a session is', () => refuses({ sub: undefined, sid: undefined }, /neither/))
  // Each escape is a text that parsers and databases read differently.
  for (const name of ['\\ud800', '\\udc00x', '\\u0000', 'an\\u0000na']) {
    test(`and never contain ${name}`, () => {
      const written = JSON.stringify(claims).replace('"anna"', `"${name}"`)
      assertRefused(tokenOf(header, written), /is not a JWT/)
    })
  }
})

suite('a text that parsers read differently is not a logout token (O16)', () => {
  const good = JSON.stringify(claims)
  const payloads: [name: string, payload: string][] = [
    ['a key given twice', good.replace('{', '{"sub":"ben",')],
    ['a key given twice, once escaped', good.replace('{', '{"\\u0073ub":"ben",')],
    ['a key given twice within the events', good.replace(`"${event}":{}`, `"${event}":{},"${event}":{}`)],
    ['`__proto__`', good.replace('{', '{"__proto__":{"sub":"ben"},')],
    ['`__proto__` within the events', good.replace('"events":{', '"events":{"__proto__":{},')],
    ['a byte order mark', `\ufeff${good}`],
    ['text after its end', `${good}{}`],
    ['a list', `[${good}]`],
    ['null', 'null'],
    ['a text', JSON.stringify(good)],
    ['nothing', ''],
    ['depth', good.replace('{', `{"x":${'['.repeat(9)}${']'.repeat(9)},`)],
  ]
  for (const [name, payload] of payloads) {
    test(`with ${name} in its claims`, () => assertRefused(tokenOf(header, payload), /is not a JWT/))
  }
  test('with a key given twice in its header', () => {
    assertRefused(tokenOf('{"alg":"RS256","typ":"JWT","typ":"logout+jwt"}', claims), /is not a JWT/)
  })
  test('with `__proto__` in its header', () => {
    assertRefused(tokenOf('{"alg":"RS256","__proto__":{"typ":"logout+jwt"}}', claims), /is not a JWT/)
  })
  for (const text of ['', '.', '..', 'x', 'x.y.z', '{}', 'e30', 'bnVsbA.bnVsbA.', '\ud800.\ud800.', '\0']) {
    test(`as ${JSON.stringify(text)}`, () => assertRefused(text, /./))
  }
  test('nor is a huge text, which is not even parsed', () => {
    assertRefused(tokenOf(header, { ...claims, more: 'x'.repeat(20_000) }), /is not a JWT/)
    assertRefused('.'.repeat(5_000_000), /is not a JWT/)
  })
})

test('a refusal quotes nothing of the token', () => {
  for (const change of [{ iss: 'secret' }, { aud: 'secret' }, { sub: ['secret'] }, { events: 'secret' }]) {
    assert.throws(
      () => readWith(change),
      (error) => error instanceof RefusedByProvider && !error.message.includes('secret'),
    )
  }
})

test('the id of an obeyed token is of its provider and its jti alone (O16)', () => {
  const token = { jti: 'j', sub: 'anna', sid: undefined }
  const id = logoutTokenId('p', token)
  assert.equal(id.length, 32)
  assert.deepEqual(logoutTokenId('p', { jti: 'j', sub: undefined, sid: 's' }), id)
  const others = [
    logoutTokenId('p', { ...token, jti: 'k' }),
    logoutTokenId('q', token),
    logoutTokenId('pj', { ...token, jti: '' }),
  ]
  for (const other of others) assert.notDeepEqual(other, id)
})
