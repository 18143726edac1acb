import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Misdeed } from '../support/hostile-provider.ts'
import { claiming, heading, openHostileStage } from '../support/hostile-stage.ts'
import { anna, claimsOf, own } from '../support/sign-in-stage.ts'
import { byHmac, type Json, jwt, publicText, rsaKey, strangers, theirs, unsigned } from '../support/token-forge.ts'

/** Identity tokens that a correct provider never issues. */
const { set, assertComesToNothing, evil } = await openHostileStage()

const other = 'another-client'
const soon = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
const at = (claim: string, seconds: number): Misdeed => ({ claims: (good) => ({ ...good, [claim]: soon(seconds) }) })
/** Claims as this text instead of JSON.stringify's. */
const written = (write: (good: string) => string): Misdeed => ({ claims: (good) => write(JSON.stringify(good)) })
const algorithms = (...listed: string[]): Misdeed => ({
  metadata: (good) => ({ ...good, id_token_signing_alg_values_supported: listed }),
})
const headed = (header: Json | string, signer = theirs.rsa.sign): Misdeed => ({ header: () => header, signer })
const partsOf = (token: string): [string, string, string] => token.split('.') as [string, string, string]

const claims: [string, Misdeed, RegExp][] = [
  ['for another client', claiming({ aud: other }), /aud/],
  ['for a list of other clients', claiming({ aud: [other] }), /aud/],
  ['for us and another client, without azp', claiming({ aud: [own.client_id, other] }), /aud/],
  ['for us twice, without azp', claiming({ aud: [own.client_id, own.client_id] }), /aud/],
  ['for us and another client, made for the other', claiming({ aud: [own.client_id, other], azp: other }), /azp/],
  ['for us only, made for another client', claiming({ azp: other }), /another client/],
  ['with an azp that is null', claiming({ azp: null }), /another client/],
  ['without aud', claiming({ aud: undefined }), /aud/],
  ['for no client', claiming({ aud: [] }), /aud/],
  ['with an aud that is a number', claiming({ aud: 7 }), /aud/],
  ['with our client in a list in a list', claiming({ aud: [[own.client_id]] }), /aud/],
  ['with our client in other letters', claiming({ aud: own.client_id.toUpperCase() }), /aud/],
  ['for us first, and then for another', written((good) => good.replace(/}$/, `,"aud":"${other}"}`)), /aud/],
  ['without iss', claiming({ iss: undefined }), /iss/],
  ['of another provider', claiming({ iss: 'https://id.example.com' }), /iss/],
  ['of the provider, with a trailing slash', { claims: (good) => ({ ...good, iss: `${good.iss}/` }) }, /iss/],
  ['of the provider among others', { claims: (good) => ({ ...good, iss: [good.iss] }) }, /iss/],
  ['with an iss that is null', claiming({ iss: null }), /iss/],
  ['without sub', claiming({ sub: undefined }), /sub/],
  ['with an empty sub', claiming({ sub: '' }), /subject/],
  ['with a sub that is a number', claiming({ sub: 7 }), /sub/],
  ['with a sub that is null', claiming({ sub: null }), /sub/],
  ['with a sub that is a list', claiming({ sub: ['anna'] }), /sub/],
  ['with a sub of 256 letters', claiming({ sub: 'a'.repeat(256) }), /subject/],
  ['with a sub that contains NUL', claiming({ sub: 'anna\0' }), /subject/],
  ['with a sub that is half a surrogate pair', claiming({ sub: '\ud800' }), /subject/],
  ['without iat', claiming({ iat: undefined }), /iat/],
  ['from the future', at('iat', 120), /future/],
  ['from an infinite time', written((good) => good.replace(/"iat":\d+/, '"iat":1e999')), /future/],
  ['with an iat that is a text', claiming({ iat: '1' }), /iat/],
  ['without exp', claiming({ exp: undefined }), /exp/],
  ['that expired', at('exp', -120), /exp/],
  ['with an exp that is a text', claiming({ exp: '9999999999' }), /exp/],
  ['with an exp that is null', claiming({ exp: null }), /exp/],
  ['that is not valid yet', at('nbf', 120), /nbf/],
  ['with an nbf that is a text', claiming({ nbf: '1' }), /nbf/],
]

suite('an identity token is refused (O8)', () => {
  for (const [name, misdeed, why] of claims) test(`${name} (O8)`, () => assertComesToNothing(misdeed, why))
})

const nonces: [string, Misdeed][] = [
  ['absent', claiming({ nonce: undefined })],
  ['another', claiming({ nonce: 'a'.repeat(43) })],
  ['an empty one', claiming({ nonce: '' })],
  ['one that is null', claiming({ nonce: null })],
  ['the right one in a list', { claims: (good) => ({ ...good, nonce: [good.nonce] }) }],
  ['the right one, and then another', written((good) => good.replace(/}$/, ',"nonce":"other"}'))],
]
suite('the nonce of an identity token', () => {
  for (const [name, misdeed] of nonces)
    test(`is refused if it is ${name} (O4)`, () => assertComesToNothing(misdeed, /nonce/))
})

const small = rsaKey('rsa-1', 1024)
const signatures: [string, Misdeed, RegExp][] = [
  ['by a foreign key under the id of the provider’s key', { signer: strangers.sign }, /signature/],
  ['not at all', { signer: unsigned }, /signature/],
  ['by nobody, with the algorithm none', headed({ alg: 'none' }, unsigned), /alg/],
  ['by nobody, with the algorithm none in other letters', headed({ alg: 'nOnE' }, unsigned), /alg/],
  [
    'by nobody, if the provider announces the algorithm none',
    { ...headed({ alg: 'none' }, unsigned), ...algorithms('none') },
    /alg/,
  ],
  ['with the client’s secret', headed({ alg: 'HS256' }, byHmac(own.client_secret)), /alg/],
  [
    'with the client’s secret, if the provider announces such algorithms',
    { ...headed({ alg: 'HS256' }, byHmac(own.client_secret)), ...algorithms('HS256', 'RS256') },
    /alg/,
  ],
  [
    'with the provider’s public key as a secret',
    { ...headed({ alg: 'HS256', kid: 'rsa-1' }, byHmac(publicText)), ...algorithms('HS256', 'RS256') },
    /alg/,
  ],
  [
    'with a shared key that the provider publishes',
    {
      ...headed({ alg: 'HS256', kid: 'shared' }, byHmac('shared')),
      ...algorithms('HS256'),
      keys: () => [{ kty: 'oct', k: Buffer.from('shared').toString('base64url'), kid: 'shared', alg: 'HS256' }],
    },
    /alg/,
  ],
  ['by a key that the provider does not publish', heading({ kid: 'rsa-2' }), /key/],
  ['by a key of another kind than its algorithm', heading({ kid: 'ec-1' }), /key/],
  [
    'by one of two keys, without a key id',
    { ...heading({ kid: undefined }), keys: (good) => [...good, strangers.jwk] },
    /multiple matching keys/,
  ],
  ['by one of two keys with one id', { keys: (good) => [...good, strangers.jwk] }, /key/],
  ['by another algorithm than it says', heading({ alg: 'ES256', kid: 'ec-1' }), /signature/],
  ['by an algorithm that the provider does not use', heading({ alg: 'RS512' }), /alg/],
  ['by no algorithm', heading({ alg: undefined }), /alg/],
  ['by an algorithm that is a number', heading({ alg: 7 }), /alg/],
  [
    'by a key in its own header',
    { ...heading({ jwk: strangers.jwk, kid: undefined }), signer: strangers.sign },
    /signature/,
  ],
  ['by a key that is too small', { signer: small.sign, keys: () => [small.jwk] }, /2048|modulus/],
  ['by a key for encryption', { keys: (good) => good.map((key) => ({ ...key, use: 'enc' })) }, /key/],
  [
    'by a key that is not for verification',
    { keys: (good) => good.map((key) => ({ ...key, key_ops: ['encrypt'] })) },
    /key/,
  ],
  ['with an unknown critical header', heading({ crit: ['exp'] }), /crit/],
  ['over claims that were changed', { idToken: (good) => changed(good) }, /signature/],
  ['incompletely: its end is missing', { idToken: (good) => good.slice(0, -4) }, /signature/],
]
function changed(token: string): string {
  const [header, payload, signature] = partsOf(token)
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json
  return `${header}.${Buffer.from(JSON.stringify({ ...claims, email: 'root@example.com' })).toString('base64url')}.${signature}`
}
suite('an identity token is refused if it is signed', () => {
  for (const [name, misdeed, why] of signatures) test(`${name} (O8)`, () => assertComesToNothing(misdeed, why))

  test('by foreign keys whose address it contains: they are not fetched (O8)', async () => {
    const strange = evil.realm({ keys: () => [strangers.jwk] })
    const there = `${strange.issuer}/jwks`
    await assertComesToNothing({ ...heading({ jku: there, x5u: there }), signer: strangers.sign }, /signature/)
    assert.deepEqual(strange.received, [])
  })
})

const forms: [string, Misdeed, RegExp][] = [
  ['missing', { idToken: () => undefined }, /id_token/],
  ['null', { idToken: () => null }, /id_token/],
  ['a number', { idToken: () => 7 }, /id_token/],
  ['empty', { idToken: () => '' }, /id_token/],
  ['of two parts', { idToken: (good) => good.replace(/\.[^.]*$/, '') }, /JWT/],
  ['of four parts', { idToken: (good) => `${good}.x` }, /JWT/],
  ['encrypted', { idToken: (good) => `${good}.x.y` }, /JWE/],
  ['not base64', { idToken: (good) => good.replace('.', '.%') }, /JWT|base64/],
  ['with a header that is not JSON', headed('{"alg":'), /Header/],
  ['with a header that is a list', headed('["RS256"]'), /Header/],
  ['with a header that is null', headed('null'), /Header/],
  ['with claims that are not JSON', written((good) => good.slice(1)), /Payload/],
  ['with claims that are a list', written((good) => `[${good}]`), /Payload/],
  ['with claims that are null', written(() => 'null'), /Payload/],
  ['with claims that are a text', written((good) => JSON.stringify(good)), /Payload/],
]
suite('an identity token is refused if it is', () => {
  for (const [name, misdeed, why] of forms) test(`${name} (O8)`, () => assertComesToNothing(misdeed, why))
})

const good: [string, Misdeed][] = [
  ['correct', {}],
  ['for a list of only us', claiming({ aud: [own.client_id] })],
  ['for us and another client, made for us', claiming({ aud: [own.client_id, other], azp: own.client_id })],
  ['from a clock that is fifty seconds ahead', { claims: (claims) => ({ ...claims, iat: soon(50), nbf: soon(50) }) }],
  ['from a clock that is fifty seconds behind', at('exp', -50)],
  [
    'with a claim nested as deeply as a megabyte allows',
    written((good) => `{"x":${'['.repeat(300_000)}${']'.repeat(300_000)},${good.slice(1)}`),
  ],
  ['signed with an elliptic curve', headed({ alg: 'ES256', kid: 'ec-1' }, theirs.ec.sign)],
  ['signed by the only key of its kind, without its id', heading({ kid: undefined })],
  ['with a claim of a thousand groups', claiming({ groups: Array.from({ length: 1_000 }, (_, n) => `g${n}`) })],
  [
    'from a provider that also publishes unusable keys',
    { keys: (keys) => [{ kty: 'oct', k: 'AA' }, { kty: 'new' }, ...keys] },
  ],
]
suite('an identity token is accepted if it is', () => {
  for (const [name, misdeed] of good) {
    test(`${name} (O8, O9)`, async () => {
      const { walk, finish } = await set(misdeed)
      const reply = await finish(await walk('bert', { ...anna, email: `bert-${Math.random()}@example.com` }))
      assert.equal(reply.status, 200, reply.text)
      assert.ok(claimsOf(reply).sub)
    })
  }

  test('not from an exchange with another provider that has the same keys (O5)', async () => {
    const twin = evil.realm()
    const minted = jwt(
      { alg: 'RS256', kid: 'rsa-1' },
      { iss: twin.issuer, aud: own.client_id, sub: 'a', iat: soon(0), exp: soon(60) },
      theirs.rsa.sign,
    )
    await assertComesToNothing({ idToken: () => minted }, /iss|nonce/)
  })
})
