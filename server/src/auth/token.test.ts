import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { isTokenLive, readBearer, readClaims, readHeader } from './token.ts'

const issuer = 'https://sallyport.example'
const good = { iss: issuer, aud: 'sallyport', sub: newId(), tid: newId(), sid: newId(), iat: 1000, exp: 4600, jti: 'x' }
const without = (name: string) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))

suite('the header of a token', () => {
  const own = { alg: 'EdDSA', typ: 'at+jwt', kid: 'k1' }
  test('of the service names its key', () => assert.equal(readHeader(own), 'k1'))
  const refused: Record<string, unknown> = {
    'no object': 'EdDSA',
    'without a kid': { alg: 'EdDSA', typ: 'at+jwt' },
    'alg none': { ...own, alg: 'none' },
    'alg nOnE': { ...own, alg: 'nOnE' },
    'alg HS256': { ...own, alg: 'HS256' },
    'alg ES256': { ...own, alg: 'ES256' },
    'typ JWT': { ...own, typ: 'JWT' },
    'a kid that is a path': { ...own, kid: '../../dev/null' },
    'a kid that is SQL': { ...own, kid: "x' or 1=1" },
    'a key by value': { ...own, jwk: {} },
    'a key by address': { ...own, jku: 'https://evil.example/jwks' },
    'a certificate by address': { ...own, x5u: 'https://evil.example' },
    'critical extensions': { ...own, crit: ['exp'] },
  }
  for (const [name, header] of Object.entries(refused)) {
    test(`is refused: ${name} (A3)`, () => assert.equal(readHeader(header), undefined))
  }
})

suite('the claims of a token', () => {
  test('is read when every claim is there', () => assert.equal(readClaims(good, issuer)?.sub, good.sub))
  const refused: Record<string, unknown> = {
    'no object': [],
    'another issuer': { ...good, iss: 'https://other.example' },
    'another audience': { ...good, aud: 'other' },
    'an audience with extras': { ...good, aud: ['sallyport', 'other'] },
    'a subject that is no text': { ...good, sub: 7 },
    'a subject that is no uuid': { ...good, sub: 'anna' },
    'a tenant in braces': { ...good, tid: `{${good.tid}}` },
    'a session that is no text': { ...good, sid: 7 },
    'a session that is no uuid': { ...good, sid: 'mine' },
    'a session in braces': { ...good, sid: `{${good.sid}}` },
    'an end that is text': { ...good, exp: '4600' },
    ...Object.fromEntries(Object.keys(good).map((name) => [`without ${name}`, without(name)])),
  }
  for (const [name, payload] of Object.entries(refused)) {
    test(`is refused: ${name} (A4, A5)`, () => assert.equal(readClaims(payload, issuer), undefined))
  }
})

suite('a token is live', () => {
  const at = (seconds: number, nbf?: number) =>
    isTokenLive({ iat: 1000, exp: 4600, ...(nbf !== undefined && { nbf }) }, new Date(seconds * 1000))
  const cases: [string, boolean, boolean][] = [
    ['from its beginning', at(1000), true],
    ['a minute early, because clocks differ', at(940), true],
    ['not more than a minute early', at(939), false],
    ['within a minute of its end', at(4659), true],
    ['not a minute after its end', at(4660), false],
    ['not before its nbf', at(2000, 2061), false],
    ['after its nbf', at(2000, 2060), true],
  ]
  for (const [name, is, should] of cases) test(name, () => assert.equal(is, should))
})

suite('the Authorization header', () => {
  const signature = `${'c'.repeat(85)}A`
  const token = `a.b.${signature}`
  test('holds a token after Bearer and one space', () => assert.equal(readBearer(`Bearer ${token}`), token))
  const refused = [
    '',
    'Bearer',
    'Bearer ',
    `bearer ${token}`,
    `Bearer  ${token}`,
    `Bearer ${token} `,
    'Bearer a.b',
    'Bearer a.b.c',
    `Bearer a.b.${'c'.repeat(85)}B`,
    `Bearer a.${token}`,
    'Basic YTpi',
    token,
    `Bearer ${token}=`,
    `Bearer a.${'b'.repeat(1_000_000)}.${signature}`,
  ]
  for (const header of refused) {
    test(`holds no token: ${header.slice(0, 20)} (A13)`, () => assert.equal(readBearer(header), undefined))
  }
})
