import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { countKeysByRoot, rotateRootKey } from '../auth/rotate-root-key.flow.ts'
import type { TenantName } from '../kernel/context.ts'
import { idWithin, isUuid, momentOf, newId } from '../kernel/id.ts'
import { rootKeyOf, rootKeysOf } from '../secrets/root-key.ts'
import { insertFirstRootKey } from '../secrets/root-key-store.ts'
import { createTenant } from './create-tenant.flow.ts'
import { makeTenantId, openDiscovery } from './discovery.flow.ts'
import { inventedId, makeDiscoveryKey, newTenantId, openDiscoveryKey } from './discovery-key.ts'
import { findDiscoveryKey } from './discovery-key-store.ts'
import { setSlug } from './operator.flow.ts'

const roots = rootKeysOf([rootKeyOf(randomBytes(32))])
const slug = (text: string): TenantName => ({ kind: 'slug', text })
const domain = (text: string): TenantName => ({ kind: 'domain', text })
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }

/** A database on which no service has started yet, and what starts there. */
async function newDatabase(root = roots.inUse()) {
  const db = await testDatabase()
  await insertFirstRootKey(db.database.service, root.id)
  return { db, open: (rootKeys = roots) => openDiscovery({ database: db.database, rootKeys }) }
}

suite('the id of an unknown name', () => {
  const from = Date.parse('2025-01-01T00:00:00Z')
  const until = Date.parse('2026-01-01T00:00:00Z')
  const span = { ids_from: '2025-01-01T00:00:00Z', ids_until: '2026-01-01T00:00:00Z' }
  const key = openDiscoveryKey(roots, { ...makeDiscoveryKey(roots.inUse()), ...span })
  const invented = Array.from({ length: 2_000 }, (_, n) => inventedId(key, slug(`name-${n}`)))
  const real = Array.from({ length: 2_000 }, () => newTenantId(span))

  /** What an observer can measure of ids: the mean of each part that is chosen, as a share of what it can be. */
  const partsOf = (id: string) => [
    (Number(momentOf(id)) - from) / (until - from),
    Number.parseInt(id.slice(15, 18), 16) / 0x800,
    (Number.parseInt(id.slice(19, 21), 16) - 0x80) / 0x40,
    Number.parseInt(id.slice(24), 16) / 2 ** 48,
  ]

  test('has the form of a tenant’s id, and nothing in it distinguishes the two (T19)', () => {
    for (const id of [...invented, ...real]) {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-7][0-9a-f]{2}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.ok(isUuid(id))
      const [moment = -1] = partsOf(id)
      assert.ok(moment >= 0 && moment < 1, id)
    }
    for (const ids of [invented, real]) {
      assert.equal(new Set(ids).size, ids.length)
      for (const part of [0, 1, 2, 3]) {
        const mean = ids.reduce((sum, id) => sum + (partsOf(id)[part] ?? 0), 0) / ids.length
        // Seven standard deviations of a mean of 2,000: true by chance once in 10¹¹ runs.
        assert.ok(Math.abs(mean - 0.5) < 0.046, `part ${part} is ${mean} on average`)
      }
    }
  })

  test('depends on the key, the name and its kind, and on nothing else (T19)', () => {
    const other = openDiscoveryKey(roots, { ...makeDiscoveryKey(roots.inUse()), ...span })
    const ids = [inventedId(key, slug('acme')), inventedId(key, domain('acme')), inventedId(other, slug('acme'))]
    assert.equal(new Set(ids).size, 3)
    assert.equal(inventedId(key, slug('acme')), ids[0])
  })

  test('takes all of its moment, counter and tail from its bytes', () => {
    assert.equal(idWithin({ from: 0, until: 2 ** 48 }, Buffer.alloc(16)), '00000000-0000-7000-8000-000000000000')
    const highest = idWithin({ from: 0, until: 2 ** 48 }, Buffer.alloc(16, 255))
    assert.equal(highest, 'ffffffff-ffff-77ff-bfff-ffffffffffff')
    assert.equal(momentOf('0197c2a4-5b1e-4c3d-8f00-0123456789ab'), undefined)
  })
})

suite('the discovery key', () => {
  test('is one for all processes that start at once, and stays at each later start (T19)', async () => {
    const { open } = await newDatabase()
    const processes = await Promise.all([open(), open(), open()])
    const ids = await Promise.all([...processes, await open()].map((one) => one.find(slug('acme'))))
    assert.equal(new Set(ids.map(({ tenant_id }) => tenant_id)).size, 1)
  })

  test('stays when the root key is replaced, which is then not needed any more (T19, S6)', async () => {
    const [first, second] = [rootKeyOf(randomBytes(32)), rootKeyOf(randomBytes(32))]
    const { db, open } = await newDatabase(first)
    const before = await (await open(rootKeysOf([first]))).find(domain('acme.example'))
    await rotateRootKey(db.database, rootKeysOf([second, first]), { dataKeys: false, onTenants: () => undefined })
    assert.deepEqual(await db.asSuperuser('select id from root_key'), [{ id: second.id }])
    assert.deepEqual(await (await open(rootKeysOf([second]))).find(domain('acme.example')), before)
    await assert.rejects(open(rootKeysOf([first])), /cannot be opened/)
    const { root_keys } = await countKeysByRoot(db.database, rootKeysOf([second]))
    assert.deepEqual(root_keys, [{ id: second.id, in_use: true, data_keys: 0, token_keys: 0, discovery_keys: 1 }])
  })

  test('is sealed at rest, and neither it nor the span can be replaced by the service', async () => {
    const { db, open } = await newDatabase()
    await open()
    const stored = await findDiscoveryKey(db.database.service)
    assert.ok(stored !== undefined)
    const { bytes } = openDiscoveryKey(roots, stored)
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      assert.ok(!stored.sealed_key.includes(bytes.toString(form)))
    }
    const [may] = await db.asSuperuser(
      `select has_column_privilege('sallyport_app', 'discovery_key', 'ids_from', 'update') as span,
        has_table_privilege('sallyport_app', 'discovery_key', 'delete') as gone`,
    )
    assert.deepEqual(may, { span: false, gone: false })
  })

  test('covers the ids of tenants that were made before it, and does not begin with the oldest', async () => {
    const { db, open } = await newDatabase()
    const [old, young] = [newIdAt('2021-03-04T05:06:07Z'), newId()]
    for (const id of [old, young]) await db.asSuperuser(`insert into tenant (id, name) values ($1, 'old')`, [id])
    await open()
    const stored = await findDiscoveryKey(db.database.service)
    assert.ok(Date.parse(stored?.ids_from ?? '') < Date.parse('2021-03-04T05:06:07Z'))
    assert.ok(Date.parse(stored?.ids_from ?? '') > Date.parse('2020-12-03T00:00:00Z'))
  })
})

/** As `newId` made it at that moment. */
const newIdAt = (moment: string) => {
  const at = Date.parse(moment)
  return idWithin({ from: at, until: at + 1 }, randomBytes(16))
}

suite('a new tenant', () => {
  test('gets an id from which nobody learns when it was made (T19)', async () => {
    const { db, open } = await newDatabase()
    await open()
    const began = Date.now() - 60_000
    const ids = await Promise.all(Array.from({ length: 50 }, () => makeTenantId(db.database.service)))
    // 50 of 50 in the last minute of more than a year would be a moment of creation.
    assert.ok(ids.filter((id) => Number(momentOf(id)) > began).length < 50)
    const made = await createTenant(db.database, { name: 'Acme', owner })
    assert.ok(Number(momentOf(made.tenant_id)) < began || Number(momentOf(made.tenant_id)) <= Date.now())
  })

  test('can be made before a service has started on the database', async () => {
    const { db, open } = await newDatabase()
    const { tenant_id } = await createTenant(db.database, { name: 'Acme', owner })
    await setSlug(db.database, { tenant_id, slug: 'acme' })
    assert.deepEqual(await (await open()).find(slug('acme')), { tenant_id, has_provider: false })
    const stored = await findDiscoveryKey(db.database.service)
    assert.ok(Date.parse(stored?.ids_from ?? '') < Number(momentOf(tenant_id)), 'the span covers it')
  })
})
