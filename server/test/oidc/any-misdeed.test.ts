import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openProviders } from '../../src/auth/oidc-provider.ts'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { newId } from '../../src/kernel/id.ts'
import { fc } from '../support/chance.ts'
import { type Misdeed, openHostileProvider } from '../support/hostile-provider.ts'
import { rounds } from '../support/race.ts'
import { anna, own, redirect_uri } from '../support/sign-in-stage.ts'
import { byHmac, type Json, type Signer, strangers, theirs, unsigned } from '../support/token-forge.ts'

/** Thousands of exchanges that are wrong in one or more ways, over real HTTP: only the one without a fault is accepted. */
const evil = await openHostileProvider()
const realm = evil.realm()
const providers = openProviders(openEgress(readEgressAllow('127.0.0.1')))
const known = { tenant_id: newId(), issuer: realm.issuer, client_id: own.client_id, client_secret: own.client_secret }

/** One exchange: returns the account, or the cause of the refusal. */
async function exchange(misdeed: Misdeed): Promise<string> {
  realm.misdeed = misdeed
  const bound = { nonce: 'n'.repeat(43), code_verifier: 'v'.repeat(43), max_age: null }
  const request = { ...bound, redirect_uri, scopes: ['openid'], state: 'state' }
  const back = await realm.signIn(await providers.authorizationUrl(known, request), 'anna', anna)
  const code = back.searchParams.get('code') ?? ''
  const account = await providers
    .redeem(known, {
      code,
      redirect_uri,
      bound,
      now: new Date(),
      trust: { email_trust: 'claim', subject_claim: 'sub' },
    })
    .catch((error: Error) => error)
  return account instanceof Error ? 'refused' : account.subject
}

const now = Math.floor(Date.now() / 1000)
const text = fc.string({ maxLength: 20 })
const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e300, '', [], {}),
  fc.array(text, { maxLength: 2 }),
  fc.dictionary(text, text),
)
/** Invalid values of each claim that is checked; undefined: it is missing. */
const wrongClaims: Record<string, fc.Arbitrary<unknown>> = {
  iss: fc.oneof(odd, text, fc.webUrl(), fc.constant(`${realm.issuer}/`), fc.constant(undefined)),
  aud: fc.oneof(odd, text, fc.constantFrom(undefined, [own.client_id, 'other'], ['other'], `${own.client_id} `)),
  azp: fc.oneof(odd, text),
  sub: fc.oneof(odd, fc.constantFrom(undefined, '\0', '\ud800', 'a'.repeat(256))),
  nonce: fc.oneof(odd, text, fc.constant(undefined)),
  iat: fc.oneof(text, fc.integer({ min: now + 3_600, max: now + 1e9 }), fc.constantFrom(undefined, null, [now])),
  exp: fc.oneof(text, fc.integer({ min: -1e9, max: now - 3_600 }), fc.constantFrom(undefined, null, [now])),
  nbf: fc.oneof(text, fc.integer({ min: now + 3_600, max: now + 1e9 }), fc.constantFrom(null, [now])),
}
const wrongHeads: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ alg: fc.oneof(odd, text, fc.constantFrom('none', 'HS256', 'RS384', 'PS256', 'ES256', undefined)) }),
  fc.record({ kid: fc.oneof(odd, text, fc.constant('ec-1')) }),
  fc.record({ crit: fc.oneof(odd, fc.constantFrom(['exp'], ['b64'])) }),
)
const wrongSigners: fc.Arbitrary<Signer> = fc.oneof(
  fc.constantFrom(strangers.sign, unsigned, theirs.ec.sign, byHmac(own.client_secret)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => () => Buffer.from(bytes)),
)
/** Changes one letter of the token; not the last, where several letters stand for the same bits. */
const slips = fc.record({ at: fc.double({ min: 0, max: 0.999, noNaN: true }), by: fc.integer({ min: 1, max: 63 }) })

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
function slip(token: string, { at, by }: { at: number; by: number }): string {
  const place = Math.floor(at * (token.length - 1))
  const letter = letters[(letters.indexOf(token[place] ?? '') + by) % 64]
  return token[place] === '.' ? token.replaceAll('.', '') : `${token.slice(0, place)}${letter}${token.slice(place + 1)}`
}

/** The possible faults of one exchange, each present or absent. */
const faults = fc.record(
  {
    claims: fc.record(wrongClaims, { requiredKeys: [] }),
    head: wrongHeads,
    signer: wrongSigners,
    slip: slips,
    tokens: fc.dictionary(fc.constantFrom('access_token', 'token_type', 'id_token'), odd, { minKeys: 1 }),
    status: fc.constantFrom(201, 204, 302, 307, 400, 401, 403, 404, 429, 500, 503),
  },
  { requiredKeys: [] },
)
type Faults = typeof faults extends fc.Arbitrary<infer Value> ? Value : never

const isWrong = ({ claims = {}, ...others }: Faults) => Object.keys(claims).length + Object.keys(others).length > 0

function misdeedOf({ claims, head, signer, slip: slipped, tokens, status }: Faults): Misdeed {
  return {
    ...(claims && { claims: (good) => ({ ...good, ...claims }) }),
    ...(head && { header: (good) => ({ ...good, ...head }) }),
    ...(signer && { signer }),
    ...(slipped && { idToken: (good) => slip(good, slipped) }),
    ...(tokens && { tokens: (good) => ({ ...good, ...tokens }) }),
    ...(status !== undefined && { answer: { token: (good) => ({ ...good, status }) } }),
  }
}

suite('in hundreds of exchanges', () => {
  test('only one without a fault is accepted (O4, O5, O8)', async () => {
    const property = fc.asyncProperty(faults, async (found) => {
      assert.equal(await exchange(misdeedOf(found)), isWrong(found) ? 'refused' : 'anna')
    })
    await fc.assert(property, { numRuns: rounds(300).length, examples: [[{}]] })
    assert.equal(await exchange({}), 'anna')
  })

  test('each single fault is refused (O4, O5, O8)', async () => {
    for (const [claim, values] of Object.entries(wrongClaims)) {
      const property = fc.asyncProperty(values, async (value) => {
        assert.equal(await exchange({ claims: (good) => ({ ...good, [claim]: value }) }), 'refused')
      })
      await fc.assert(property, { numRuns: rounds(30).length })
    }
  })
})
