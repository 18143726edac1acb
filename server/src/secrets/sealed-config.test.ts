import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { problemOf } from '../../test/support/problem.ts'
import { flagField, leading, portField, textField, urlField } from '../kernel/shown-field.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { rootKeyOf, rootKeysOf } from './root-key.ts'
import { redacted, replaceConfig, type SplitConfig, splitConfig } from './sealed-config.ts'
import { openSealer } from './sealer.ts'

const fields = { url: urlField, port: portField, tls: leading(flagField), filter: textField }
const nothing: SplitConfig = { config: {}, secrets: {} }
const db = await testDatabase()
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
const tx = db.database.tenant((await createTenant(db.database, { name: 'A', owner })).tenant_id)
const canary = 'canary-3f9c'

suite('a config is shown by an allowlist (S2)', () => {
  const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['nothing of an empty config', {}, {}],
    ['listed fields with valid values', { url: 'https://a.example', port: 1 }, { url: 'https://a.example', port: 1 }],
    ['no field that is not listed', { token: canary, anything: 1 }, { token: redacted, anything: redacted }],
    ['nothing inside a field', { deep: { token: canary, list: [canary] } }, { deep: redacted }],
    ['nothing inside a listed field', { filter: { token: canary } }, { filter: redacted }],
    ['no list in a listed field', { filter: [canary] }, { filter: redacted }],
    ['no address that carries a password', { url: `https://a:${canary}@b.example` }, { url: redacted }],
    [
      'a placeholder for any secret, short, long or empty',
      { a: '', b: 'x'.repeat(999), c: null, d: false },
      {
        a: redacted,
        b: redacted,
        c: redacted,
        d: redacted,
      },
    ],
    [
      'no field with the name of a built-in property (I4)',
      { constructor: canary, toString: 1 },
      {
        constructor: redacted,
        toString: redacted,
      },
    ],
  ]
  for (const [name, requested, shown] of cases) {
    test(name, () => {
      const { config, secrets } = splitConfig(requested, fields, nothing)
      assert.deepEqual(config, shown)
      assert.ok(!JSON.stringify(config).includes(canary))
      assert.deepEqual({ ...config, ...secrets }, requested)
    })
  }
})

suite('a config that replaces another', () => {
  const before = splitConfig(
    { url: 'https://a.example', filter: 'x', token: canary, pass: { word: canary } },
    fields,
    nothing,
  )
  const taken: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['keeps secrets that are sent back as they were shown', { ...before.config }, before.secrets],
    ['keeps one secret and takes another', { ...before.config, token: 'new' }, { ...before.secrets, token: 'new' }],
    ['keeps secrets when a field that is no address changes', { ...before.config, filter: 'y' }, before.secrets],
    ['drops fields that are left out', { url: 'https://a.example', token: redacted }, { token: canary }],
    ['drops everything', {}, {}],
    [
      'can have another address if the secrets are sent again',
      { url: 'https://b.example', token: 'new' },
      { token: 'new' },
    ],
  ]
  for (const [name, requested, secrets] of taken) {
    test(name, () => assert.deepEqual(splitConfig(requested, fields, before).secrets, secrets))
  }

  const refused: [string, Record<string, unknown>, string][] = [
    ['takes no placeholder without a stored secret', { ...before.config, other: redacted }, '/config/other'],
    [
      'takes no placeholder for a built-in property (I4)',
      { ...before.config, constructor: redacted },
      '/config/constructor',
    ],
    ['takes no placeholder for a shown field', { ...before.config, filter: redacted }, '/config/filter'],
    ['takes no placeholder inside a field', { ...before.config, pass: { word: redacted } }, '/config/pass'],
    ['takes no placeholder inside a list', { ...before.config, pass: [[redacted]] }, '/config/pass'],
    ['sends no stored secret to another address', { ...before.config, url: 'https://evil.example' }, '/config/token'],
    [
      'sends no stored secret to a hidden address',
      { ...before.config, url: 'https://x@evil.example' },
      '/config/token',
    ],
    ['sends no stored secret to another port', { ...before.config, port: 7 }, '/config/token'],
    ['sends no stored secret without TLS', { ...before.config, tls: false }, '/config/token'],
    ['keeps no stored secret when the address is removed', { token: redacted }, '/config/token'],
    ['names a field by its pointer', { 'a/b~': redacted }, '/config/a~1b~0'],
    ['is refused if it is too large', { note: 'x'.repeat(65 * 1024) }, '/config'],
    ['is refused if a name is too long', { ['x'.repeat(101)]: 1 }, '/config'],
  ]
  for (const [name, requested, pointer] of refused) {
    test(name, () => {
      const problem = problemOf(() => splitConfig(requested, fields, before))
      assert.equal(problem.status, 400)
      const { fields: faults } = problem.details as { fields: { pointer: string }[] }
      assert.equal(faults[0]?.pointer, pointer)
      assert.ok(!JSON.stringify([problem.message, problem.details]).includes(canary))
    })
  }
})

suite('a config at rest', () => {
  const sealer = openSealer(rootKeysOf([rootKeyOf(Buffer.alloc(32, 3))]))
  const place = { table: 'identity_provider', id: 'i', field: 'sealed_secrets' }
  const replace = (
    requested: Record<string, unknown>,
    kept?: { config: Record<string, unknown>; sealed_secrets: string | null },
  ) => replaceConfig({ sealer, tx }, place, requested, fields, kept)

  test('holds its secrets only sealed, and opens only at its place (S6)', async () => {
    const kept = await replace({ filter: 'x', token: canary })
    assert.deepEqual(kept?.config, { filter: 'x', token: redacted })
    assert.ok(!Buffer.from(kept?.sealed_secrets ?? '', 'base64url').includes(canary))
    assert.equal(await sealer.unseal(tx, kept?.sealed_secrets ?? '', place), JSON.stringify({ token: canary }))
    await assert.rejects(replaceConfig({ sealer, tx }, { ...place, id: 'j' }, {}, fields, kept), /cannot be opened/)
  })

  test('has nothing sealed if nothing is secret', async () => {
    assert.deepEqual(await replace({ filter: 'x' }), { config: { filter: 'x' }, sealed_secrets: null })
  })

  test('does not change if it is sent back as it was shown', async () => {
    const kept = await replace({ filter: 'x', token: canary })
    assert.equal(await replace({ token: redacted, filter: 'x' }, kept), undefined)
    assert.equal(await replace({}), undefined)
  })

  test('changes with any sent secret, even an equal one', async () => {
    const kept = await replace({ token: canary })
    for (const guess of [canary, 'wrong']) assert.ok(await replace({ token: guess }, kept))
  })
})
