import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  type Bent,
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '../../test/support/software-authenticator.ts'
import { askForPasskey, askForSignature, checkSignature, type Passkey, passkeySite, readNewPasskey } from './passkey.ts'

const origin = 'https://sallyport.example.com'
const site = passkeySite(origin) ?? assert.fail('the site has passkeys')
const user = { id: 'a2ff2a4e-5b1c-7b1e-8e53-1b6c1b1f0f11', email: 'anna@example.com', name: 'Anna' }

suite('the site of passkeys', () => {
  const sites: [publicUrl: string, id: string | undefined, at?: string][] = [
    ['https://sallyport.example.com', 'sallyport.example.com'],
    ['https://sallyport.example.com/', 'sallyport.example.com', 'https://sallyport.example.com'],
    ['https://Sallyport.Example.com:8443/path', 'sallyport.example.com', 'https://sallyport.example.com:8443'],
    ['https://intranet', 'intranet'],
    ['https://münchen.example', 'xn--mnchen-3ya.example', 'https://xn--mnchen-3ya.example'],
    ['http://localhost:8080', 'localhost'],
    ['http://a.localhost:8080', 'a.localhost'],
    ['https://localhost', 'localhost'],
    ['http://sallyport.example.com', undefined],
    ['http://localhost.example.com', undefined],
    ['http://notlocalhost', undefined],
    ['http://127.0.0.1:8080', undefined],
    ['https://127.0.0.1', undefined],
    ['https://0x7f.1', undefined],
    ['https://[::1]', undefined],
    ['https://[fd00::abcd]:8443', undefined],
  ]
  for (const [publicUrl, id, at = publicUrl] of sites) {
    test(`of ${publicUrl} is ${id ?? 'none: browsers make no passkeys there'}`, () => {
      assert.deepEqual(passkeySite(publicUrl), id === undefined ? undefined : { id, origin: at })
    })
  }
})

const create = () => askForPasskey(site, user, [])

/** An authenticator that was set up, and its passkey as stored. */
async function known(counts = true): Promise<{ by: SoftwareAuthenticator; passkey: Passkey }> {
  const by = softwareAuthenticator(origin, { counts })
  const options = await create()
  const passkey = await readNewPasskey(site, options.challenge, by.create({ ...options }))
  return { by, passkey: passkey ?? assert.fail('the passkey was refused') }
}

const sign = async (passkey: Passkey) => askForSignature(site, [passkey])

suite('the software authenticator of the tests', () => {
  test('makes what the library itself verifies', async () => {
    const by = softwareAuthenticator(origin)
    const options = await create()
    const made = await verifyRegistrationResponse({
      response: by.create({ ...options }) as never,
      expectedChallenge: options.challenge,
      expectedOrigin: origin,
      expectedRPID: site.id,
    })
    assert.ok(made.verified)
    const request = await askForSignature(site, [{ credential_id: by.id, transports: [] }])
    const signed = await verifyAuthenticationResponse({
      response: by.sign({ ...request }) as never,
      expectedChallenge: request.challenge,
      expectedOrigin: origin,
      expectedRPID: site.id,
      credential: made.registrationInfo.credential,
    })
    assert.ok(signed.verified)
    assert.equal(signed.authenticationInfo.newCounter, 2)
  })
})

suite('a new passkey', () => {
  test('is read with its key, its count, and whether it is synced', async () => {
    const [key, synced] = [await known(true), await known(false)]
    assert.deepEqual([key.passkey.credential_id, key.passkey.sign_count, key.passkey.synced], [key.by.id, 1, false])
    assert.deepEqual([synced.passkey.sign_count, synced.passkey.synced], [0, true])
    assert.deepEqual(key.passkey.transports, ['internal'])
  })

  test('is asked for without attestation, and for no authenticator that has one already', async () => {
    const { by } = await known()
    const options = await askForPasskey(site, user, [{ credential_id: by.id }])
    assert.equal(options.attestation, 'none')
    assert.deepEqual(options.rp, { name: 'Sallyport', id: site.id })
    assert.deepEqual(
      options.excludeCredentials?.map(({ id }) => id),
      [by.id],
    )
    assert.notEqual(options.challenge, (await create()).challenge)
  })

  const refused: [string, Bent][] = [
    ['at another origin', { origin: 'https://sallyport.example.org' }],
    ['at another port', { origin: `${origin}:8443` }],
    ['at the same name without https', { origin: 'http://sallyport.example.com' }],
    ['for another site', { rpId: 'example.org' }],
    ['for the domain above', { rpId: 'example.com' }],
    ['for another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['for no challenge', { challenge: '' }],
    ['that is a signature', { type: 'webauthn.get' }],
    ['without a user at the authenticator', { flags: 0x44 }],
    ['without its key', { flags: 0x05 }],
    ['in an unknown format', { fmt: 'other' }],
    ['without a format', { fmt: '' }],
    ['with a statement in format none', { attStmt: new Map([['x5c', [Buffer.from('a certificate')]]]) }],
    [
      'that signs itself wrongly',
      {
        fmt: 'packed',
        attStmt: new Map<string, number | Buffer>([
          ['alg', -7],
          ['sig', Buffer.alloc(70)],
        ]),
      },
    ],
    ['with transports that are no list', { transports: 'internal' }],
  ]
  for (const [name, bent] of refused) {
    test(`is refused ${name} (A22)`, async () => {
      const options = await create()
      const answer = softwareAuthenticator(origin).create({ ...options }, bent)
      assert.equal(await readNewPasskey(site, options.challenge, answer), undefined)
    })
  }

  test('is refused when its name is longer than WebAuthn allows, 1,023 bytes', async () => {
    for (const [idBytes, isRead] of [
      [1_023, true],
      [1_024, false],
      [60_000, false],
    ] as const) {
      const options = await create()
      const answer = softwareAuthenticator(origin, { idBytes }).create({ ...options })
      assert.equal((await readNewPasskey(site, options.challenge, answer)) !== undefined, isRead, `${idBytes} bytes`)
    }
  })

  test('keeps only transports that WebAuthn could name', async () => {
    const options = await create()
    const transports = [
      'usb',
      7,
      null,
      'a'.repeat(1_000),
      'smart-card',
      '',
      { toString: 'nfc' },
      'NUL\0',
      ...Array(20).fill('ble'),
    ]
    const answer = softwareAuthenticator(origin).create({ ...options }, { transports })
    const passkey = await readNewPasskey(site, options.challenge, answer)
    assert.deepEqual(passkey?.transports, ['usb', 'smart-card', ...Array(8).fill('ble')])
  })
})

suite('a signature of a passkey', () => {
  for (const counts of [true, false]) {
    test(`counts, of one that ${counts ? 'counts its signatures' : 'is synced and counts nothing'}`, async () => {
      const { by, passkey } = await known(counts)
      const options = await sign(passkey)
      assert.deepEqual(
        options.allowCredentials?.map(({ id }) => id),
        [by.id],
      )
      const count = await checkSignature(site, options.challenge, passkey, by.sign({ ...options }))
      assert.equal(count, counts ? 2 : 0)
    })
  }

  const refused: [string, Bent][] = [
    ['at another origin', { origin: 'https://sallyport.example.org' }],
    ['at the origin of another port', { origin: `${origin}:8443` }],
    ['for another site', { rpId: 'example.org' }],
    ['for another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['that made a passkey', { type: 'webauthn.create' }],
    ['by another key', { stranger: true }],
    ['without a user at the authenticator', { flags: 0x04 }],
    ['whose count did not increase: a copy of the key', { counter: 1 }],
    ['whose count went back to none', { counter: 0 }],
  ]
  for (const [name, bent] of refused) {
    test(`is refused ${name} (A22)`, async () => {
      const { by, passkey } = await known()
      const options = await sign(passkey)
      assert.equal(await checkSignature(site, options.challenge, passkey, by.sign({ ...options }, bent)), undefined)
    })
  }

  test('is refused for the challenge of another sign-in, and for another passkey (A22)', async () => {
    const [one, other] = [await known(), await known()]
    const [first, second] = [await sign(one.passkey), await sign(one.passkey)]
    const answer = one.by.sign({ ...first })
    assert.equal(await checkSignature(site, second.challenge, one.passkey, answer), undefined)
    assert.equal(await checkSignature(site, first.challenge, other.passkey, answer), undefined)
    const renamed = { ...answer, id: other.by.id, rawId: other.by.id }
    assert.equal(await checkSignature(site, first.challenge, other.passkey, renamed), undefined)
  })

  test('is refused when a byte of it, of its data or of its challenge was changed', async () => {
    const { by, passkey } = await known()
    for (const field of ['signature', 'authenticatorData', 'clientDataJSON']) {
      const options = await sign(passkey)
      const answer = by.sign({ ...options })
      const bytes = Buffer.from(String(answer.response[field]), 'base64url')
      bytes[bytes.length - 2] = (bytes.at(-2) ?? 0) ^ 1
      const response = { ...answer.response, [field]: bytes.toString('base64url') }
      assert.equal(await checkSignature(site, options.challenge, passkey, { ...answer, response }), undefined, field)
    }
  })
})
