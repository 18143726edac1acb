import assert from 'node:assert/strict'
import dns from 'node:dns'
import { suite, type TestContext, test } from 'node:test'
import { SettingsService, verifyRegistrationResponse } from '@simplewebauthn/server'
import { makerLeaf, makerRoot } from '../../test/support/attestation-certificates.ts'
import type { Cbor } from '../../test/support/cbor.ts'
import { softwareAuthenticator } from '../../test/support/software-authenticator.ts'
import { askForPasskey, askForSignature, checkSignature, type Passkey, passkeySite, readNewPasskey } from './passkey.ts'

const origin = 'https://sallyport.example.com'
const site = passkeySite(origin) ?? assert.fail('the site has passkeys')
const user = { id: 'a2ff2a4e-5b1c-7b1e-8e53-1b6c1b1f0f11', email: 'anna@example.com', name: 'Anna' }
const create = () => askForPasskey(site, user, [])
const sign = (passkey: Passkey) => askForSignature(site, [passkey])

suite('a new passkey with the certificates of its maker', () => {
  /** What is called or looked up while `work` runs. */
  async function callsOf(t: TestContext, work: () => Promise<unknown>): Promise<unknown[]> {
    const calls: unknown[] = []
    t.mock.method(globalThis, 'fetch', (url: unknown) => {
      calls.push(url)
      return Promise.reject(new Error('nothing answers'))
    })
    for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6'] as const) {
      t.mock.method(dns, name, (host: unknown) => calls.push(host))
    }
    await work()
    t.mock.restoreAll()
    return calls
  }

  test('makes the library call an address in them, once it has roots to compare them with', async (t) => {
    SettingsService.setRootCertificates({ identifier: 'packed', certificates: [Buffer.from(makerRoot, 'base64')] })
    t.after(() => SettingsService.setRootCertificates({ identifier: 'packed', certificates: [] }))
    const options = await create()
    const response = softwareAuthenticator(origin).create({ ...options }, { attests: true }) as never
    const expected = { expectedOrigin: origin, expectedRPID: site.id, expectedChallenge: options.challenge }
    const calls = await callsOf(t, () => verifyRegistrationResponse({ response, ...expected }).catch(() => undefined))
    assert.deepEqual(calls, ['http://crl.example.com/a.crl'])
    const ours = await callsOf(t, async () => {
      assert.equal(await readNewPasskey(site, options.challenge, response), undefined)
    })
    assert.deepEqual(ours, [])
  })

  test('is refused, and calls nothing (S1)', async (t) => {
    const calls = await callsOf(t, async () => {
      const options = await create()
      const answer = softwareAuthenticator(origin).create({ ...options }, { attests: true })
      assert.equal(await readNewPasskey(site, options.challenge, answer), undefined)
    })
    assert.deepEqual(calls, [])
  })

  for (const fmt of ['packed', 'fido-u2f', 'android-key', 'android-safetynet', 'tpm', 'apple', 'none']) {
    test(`is refused in the format ${fmt}, whatever stands in place of the certificates (S1)`, async (t) => {
      const calls = await callsOf(t, async () => {
        const certificate = Buffer.from(makerLeaf, 'base64')
        for (const x5c of [[certificate, certificate], [certificate], [], null, 'x', 0]) {
          const options = await create()
          const attStmt = new Map<string, Cbor>([
            ['alg', -7],
            ['sig', Buffer.alloc(70, 1)],
            ['x5c', x5c],
          ])
          const answer = softwareAuthenticator(origin).create({ ...options }, { fmt, attStmt })
          assert.equal(await readNewPasskey(site, options.challenge, answer), undefined)
        }
      })
      assert.deepEqual(calls, [])
    })
  }
})

suite('whatever a browser might send', () => {
  const garbage = [
    undefined,
    null,
    0,
    -1,
    1e300,
    true,
    '',
    'a',
    '=',
    '%%%',
    '\0',
    'a'.repeat(100_000),
    [],
    [[]],
    {},
    { length: 5 },
  ]

  /** The answer with each field, on both levels, in turn replaced by something else. */
  function* bentAnswers(good: { response: Record<string, unknown> } & object): Generator<object> {
    for (const bad of garbage) {
      for (const name of Object.keys(good)) yield { ...good, [name]: bad }
      for (const name of [...Object.keys(good.response), 'tokenBinding']) {
        yield { ...good, response: { ...good.response, [name]: bad } }
      }
      const encoded = Buffer.from(JSON.stringify(bad) ?? 'undefined').toString('base64url')
      for (const name of Object.keys(good.response)) yield { ...good, response: { ...good.response, [name]: encoded } }
    }
    yield* [{}, [], { response: {} }]
  }

  test('as a new passkey is read or refused, and throws nothing', async () => {
    const options = await create()
    const good = softwareAuthenticator(origin).create({ ...options })
    for (const answer of bentAnswers(good)) {
      const passkey = await readNewPasskey(site, options.challenge, answer)
      // Where the field has no meaning for the service, the passkey is the one that was made.
      if (passkey !== undefined) assert.equal(passkey.credential_id, good.id)
    }
  })

  test('as a signature is right or refused, and throws nothing', async () => {
    const by = softwareAuthenticator(origin)
    const made = await create()
    const passkey = (await readNewPasskey(site, made.challenge, by.create({ ...made }))) ?? assert.fail('refused')
    const options = await sign(passkey)
    for (const answer of bentAnswers(by.sign({ ...options }))) {
      const count = await checkSignature(site, options.challenge, passkey, answer)
      assert.ok(count === undefined || count === 2)
    }
  })

  test('as attestation in broken CBOR is of no use, cut at every length', async () => {
    const options = await create()
    const by = softwareAuthenticator(origin)
    const good = by.create({ ...options })
    const bytes = Buffer.from(String(good.response.attestationObject), 'base64url')
    for (let length = 0; length < bytes.length; length += 1) {
      const attestationObject = bytes.subarray(0, length).toString('base64url')
      const answer = { ...good, response: { ...good.response, attestationObject } }
      const passkey = await readNewPasskey(site, options.challenge, answer)
      if (passkey === undefined) continue
      // The library reads a key whose end is missing. No signature is right for it.
      const request = await sign(passkey)
      assert.equal(await checkSignature(site, request.challenge, passkey, by.sign({ ...request })), undefined)
    }
  })
})
