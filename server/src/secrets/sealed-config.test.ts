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

suite('a config is shown by a list of what may be shown (S2)', () => {
  const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['nothing of nothing', {}, {}],
    ['listed fields of their form', { url: 'https://a.example', port: 1 }, { url: 'https://a.example', port: 1 }],
    ['no field that is not listed', { token: canary, anything: 1 }, { token: redacted, anything: redacted }],
    ['nothing inside a field', { deep: { token: canary, list: [canary] } }, { deep: redacted }],
    ['nothing inside a listed field', { filter: { token: canary } }, { filter: redacted }],
    ['no list in a listed field', { filter: [canary] }, { filter: redacted }],
    ['no address that carries a password', { url: `https://a:${canary}@b.example` }, { url: redacted }],
    [
      'a secret that is short, long or none alike',
      { a: '', b: 'x'.repeat(999), c: null, d: false },
      {
        a: redacted,
        b: redacted,
        c: redacted,
        d: redacted,
      },
    ],
    [
      'no field whose name an object has anyway (I4)',
      { constructor: canary, toString: 1 },
      {
        constructor: redacted,
        toString: redacted,
      },
    ],
  ]
  for (const [name, asked, shown] of cases) {
    test(name, () => {
      const { config, secrets } = splitConfig(asked, fields, nothing)
      assert.deepEqual(config, shown)
      assert.ok(!JSON.stringify(config).includes(canary))
      assert.deepEqual({ ...config, ...secrets }, asked)
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
    ['keeps what comes back as it was shown', { ...before.config }, before.secrets],
    ['keeps one secret and takes another', { ...before.config, token: 'new' }, { ...before.secrets, token: 'new' }],
    ['keeps secrets beside a change of what leads nowhere', { ...before.config, filter: 'y' }, before.secrets],
    ['drops what is left out', { url: 'https://a.example', token: redacted }, { token: canary }],
    ['drops everything', {}, {}],
    ['may lead elsewhere with secrets sent again', { url: 'https://b.example', token: 'new' }, { token: 'new' }],
  ]
  for (const [name, asked, secrets] of taken) {
    test(name, () => assert.deepEqual(splitConfig(asked, fields, before).secrets, secrets))
  }

  const refused: [string, Record<string, unknown>, string][] = [
    ['keeps nothing where nothing is kept', { ...before.config, other: redacted }, '/config/other'],
    [
      'keeps nothing that an object has anyway (I4)',
      { ...before.config, constructor: redacted },
      '/config/constructor',
    ],
    ['takes no placeholder for what is shown', { ...before.config, filter: redacted }, '/config/filter'],
    ['takes no placeholder inside a field', { ...before.config, pass: { word: redacted } }, '/config/pass'],
    ['takes no placeholder inside a list', { ...before.config, pass: [[redacted]] }, '/config/pass'],
    ['sends no kept secret elsewhere', { ...before.config, url: 'https://evil.example' }, '/config/token'],
    ['sends no kept secret to a hidden address', { ...before.config, url: 'https://x@evil.example' }, '/config/token'],
    ['sends no kept secret to another port', { ...before.config, port: 7 }, '/config/token'],
    ['sends no kept secret in clear', { ...before.config, tls: false }, '/config/token'],
    ['sends no kept secret where the address went', { token: redacted }, '/config/token'],
    ['names a field by its pointer', { 'a/b~': redacted }, '/config/a~1b~0'],
    ['is not too large', { note: 'x'.repeat(65 * 1024) }, '/config'],
    ['has no name that is too long', { ['x'.repeat(101)]: 1 }, '/config'],
  ]
  for (const [name, asked, pointer] of refused) {
    test(name, () => {
      const problem = problemOf(() => splitConfig(asked, fields, before))
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
    asked: Record<string, unknown>,
    kept?: { config: Record<string, unknown>; sealed_secrets: string | null },
  ) => replaceConfig({ sealer, tx }, place, asked, fields, kept)

  test('holds its secrets sealed alone, and opens at its place alone (S6)', async () => {
    const kept = await replace({ filter: 'x', token: canary })
    assert.deepEqual(kept?.config, { filter: 'x', token: redacted })
    assert.ok(!Buffer.from(kept?.sealed_secrets ?? '', 'base64url').includes(canary))
    assert.equal(await sealer.unseal(tx, kept?.sealed_secrets ?? '', place), JSON.stringify({ token: canary }))
    await assert.rejects(replaceConfig({ sealer, tx }, { ...place, id: 'j' }, {}, fields, kept), /cannot be opened/)
  })

  test('seals nothing where nothing is secret', async () => {
    assert.deepEqual(await replace({ filter: 'x' }), { config: { filter: 'x' }, sealed_secrets: null })
  })

  test('does not change by what comes back as it was shown', async () => {
    const kept = await replace({ filter: 'x', token: canary })
    assert.equal(await replace({ token: redacted, filter: 'x' }, kept), undefined)
    assert.equal(await replace({}), undefined)
  })

  test('counts a sent secret as a change, right guess or wrong', async () => {
    const kept = await replace({ token: canary })
    for (const guess of [canary, 'wrong']) assert.ok(await replace({ token: guess }, kept))
  })
})
