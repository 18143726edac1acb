import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Egress } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { leading, textField, urlField } from '../kernel/shown-field.ts'
import type { DriverType } from './driver.ts'
import { isSameConfig, settleConfig } from './provisioner-config.ts'
import { withoutSecrets } from './provisioner-secrets.ts'

/** A type that needs a url and a token, and makes a signing secret. */
const type: DriverType = {
  shownFields: { url: urlField, tls: leading(textField), note: textField },
  targetFields: ['url'],
  findFaults: ({ url, token, signing_secret }) =>
    Promise.resolve([
      ...(url === undefined ? [{ pointer: '/config/url', why: 'is required' }] : []),
      ...(token === 'a token' || token === 'another' ? [] : [{ pointer: '/config/token', why: 'is not known there' }]),
      ...(typeof signing_secret === 'string' ? [] : [{ pointer: '/config/signing_secret', why: 'was not opened' }]),
    ]),
  makeSecrets: () => ({ signing_secret: 'made' }),
  inventoryParts: [],
  userLookupOf: null,
  open: () => assert.fail(),
}
const egress = {} as Egress

const fresh = {
  config: {},
  secrets: { given: {}, made: { signing_secret: 'made' }, previous: { signing_secret: 'old' } },
}
const requested = { url: 'https://hooks.example.com/a', tls: 'full', token: 'a token' }
const shown = { url: requested.url, tls: 'full', token: '[redacted]', signing_secret: '[redacted]' }
const kept = { config: shown, secrets: { ...fresh.secrets, given: { token: 'a token' } } }

/** Returns the pointers of the fields that are refused. */
async function refusedAt(settling: Promise<unknown>): Promise<string[]> {
  const error = await settling.then(
    () => assert.fail('was not refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Problem)
  return (error.details as { fields: { pointer: string }[] }).fields.map(({ pointer }) => pointer)
}

suite('a new config', () => {
  test('is split into shown fields and secrets, with a placeholder for each given or generated secret', async () => {
    const { moved, ...whole } = await settleConfig(type, requested, fresh, egress)
    assert.deepEqual(whole, kept)
    assert.equal(moved, 'url')
  })

  test('is validated with its secrets opened, both the given and the generated ones', async () => {
    const { config, secrets, moved } = await settleConfig(type, { ...shown, note: 'x' }, kept, egress)
    assert.deepEqual([config, secrets, moved], [{ ...shown, note: 'x' }, kept.secrets, undefined])
    assert.deepEqual(await refusedAt(settleConfig(type, { ...requested, token: 'wrong' }, kept, egress)), [
      '/config/token',
    ])
    assert.deepEqual(await refusedAt(settleConfig(type, {}, fresh, egress)), ['/config/url', '/config/token'])
  })

  test('keeps an omitted secret only if Sallyport generated it', async () => {
    const { config, secrets } = await settleConfig(
      type,
      { url: requested.url, tls: 'full', token: 'another' },
      kept,
      egress,
    )
    assert.deepEqual(config, shown)
    assert.deepEqual(secrets, { ...kept.secrets, given: { token: 'another' } })
    assert.deepEqual(await refusedAt(settleConfig(type, { url: requested.url }, kept, egress)), ['/config/token'])
  })

  for (const before of [fresh, kept]) {
    const when = before === fresh ? 'at creation' : 'on a change'
    test(`cannot set a generated secret ${when}`, async () => {
      const set = { ...requested, signing_secret: 'chosen' }
      assert.deepEqual(await refusedAt(settleConfig(type, set, before, egress)), ['/config/signing_secret'])
    })
  }

  test('cannot hold the placeholder of a generated secret at creation', async () => {
    const set = { ...requested, signing_secret: '[redacted]' }
    assert.deepEqual(await refusedAt(settleConfig(type, set, fresh, egress)), ['/config/signing_secret'])
  })

  test('with another target must repeat the given secrets, not the generated ones', async () => {
    const elsewhere = { ...shown, url: 'https://evil.example.com/' }
    assert.deepEqual(await refusedAt(settleConfig(type, elsewhere, kept, egress)), ['/config/token'])
    const settled = await settleConfig(type, { ...elsewhere, token: 'a token' }, kept, egress)
    assert.deepEqual([settled.moved, settled.secrets], ['url', kept.secrets])
  })

  test('with another TLS setting must repeat the given secrets, but keeps its target', async () => {
    assert.deepEqual(await refusedAt(settleConfig(type, { ...shown, tls: 'none' }, kept, egress)), ['/config/token'])
    assert.equal((await settleConfig(type, { ...requested, tls: 'none' }, kept, egress)).moved, undefined)
  })

  test('equals the stored config only if it holds no secret in clear; a generated secret may be omitted', () => {
    const { signing_secret: _, ...rest } = shown
    assert.deepEqual(
      [shown, rest, requested, { ...shown, signing_secret: 'made' }].map((one) => isSameConfig(one, kept)),
      [true, true, false, false],
    )
  })
})

test('redacts given and generated secrets in a text, plain or URL-encoded, except very short ones (S2)', () => {
  const secrets = {
    given: { url: 'https://user:p ss@host', nested: { list: ['deep-one'] }, port: 1234, short: 'abc' },
    made: { signing_secret: 'made-one' },
    previous: { signing_secret: 'made-one-before' },
  }
  const text =
    'abc 1234 deep-one, made-one; made-one-before https://user:p ss@host %: https%3A%2F%2Fuser%3Ap%20ss%40host'
  const left = 'abc 1234 [redacted], [redacted]; [redacted] [redacted] %: [redacted]'
  assert.equal(withoutSecrets(text, secrets), left)
})
