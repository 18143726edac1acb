import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { deriveKey, rootKeyOf, rootKeysOf } from './root-key.ts'
import { keyVersionOf, seal } from './seal.ts'
import { openSealer } from './sealer.ts'

const db = await testDatabase()
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
const makeTenant = async (name: string) =>
  db.database.tenant((await createTenant(db.database, { name, owner })).tenant_id)
const tx = await makeTenant('A')
const other = await makeTenant('B')
const bytes = randomBytes(32)
const roots = () => rootKeysOf([rootKeyOf(bytes)])
const sealer = openSealer(roots())
const place = { table: 'identity_provider', id: 'id-1', field: 'sealed_secrets' }
const shut = { message: 'the sealed value cannot be opened: it was changed, moved, or sealed with another key' }

suite('a sealer', () => {
  test('opens what it sealed, also after a restart', async () => {
    const sealed = await sealer.seal(tx, 'hunter2 🔑', place)
    assert.ok(!sealed.includes('hunter2'))
    assert.equal(keyVersionOf(sealed), 1)
    assert.equal(await openSealer(roots()).unseal(tx, sealed, place), 'hunter2 🔑')
  })

  for (const [name, moved] of Object.entries({
    'another table': { table: 'ai_provider' },
    'another row': { id: 'id-2' },
    'another field': { field: 'config' },
  })) {
    test(`opens nothing that was moved to ${name} (S6)`, async () => {
      await assert.rejects(sealer.unseal(tx, await sealer.seal(tx, 'hunter2', place), { ...place, ...moved }), shut)
    })
  }

  test('opens nothing that was moved to another tenant, with or without a key of its own (S6)', async () => {
    const sealed = await sealer.seal(tx, 'hunter2', place)
    await assert.rejects(sealer.unseal(other, sealed, place), shut)
    await sealer.seal(other, 'theirs', place)
    await assert.rejects(sealer.unseal(other, sealed, place), shut)
  })

  test('opens nothing with a wrapped key that was moved to another tenant (S6)', async () => {
    const [a, b] = [await makeTenant('C'), await makeTenant('D')]
    const sealed = await sealer.seal(a, 'hunter2', place)
    await sealer.seal(b, 'theirs', place)
    await db.asSuperuser(
      `update tenant_key set wrapped_key = (select wrapped_key from tenant_key where tenant_id = $1)
        where tenant_id = $2`,
      [a.tenant_id, b.tenant_id],
    )
    await assert.rejects(openSealer(roots()).unseal(b, sealed, place), shut)
    await assert.rejects(openSealer(roots()).seal(b, 'more', place), shut)
  })

  test('opens nothing without its root key, and answers `unavailable`, because the key can arrive later (S6, F15)', async () => {
    const sealed = await sealer.seal(tx, 'hunter2', place)
    const stranger = openSealer(rootKeysOf([rootKeyOf(randomBytes(32))]))
    await assert.rejects(stranger.unseal(tx, sealed, place), { code: 'unavailable' })
    await assert.rejects(stranger.seal(tx, 'more', place), { code: 'unavailable' })
    const fresh = await makeTenant('E')
    await assert.rejects(stranger.seal(fresh, 'first', place), { code: 'unavailable' })
  })

  test('opens values sealed before tenants had data keys, only at their place (S6)', async () => {
    const names = (tenant_id: string) => [tenant_id, place.table, place.id, place.field]
    const old = seal(deriveKey(bytes, `seal:${tx.tenant_id}`), 'of old', names(tx.tenant_id))
    const changing = openSealer(rootKeysOf([rootKeyOf(randomBytes(32)), rootKeyOf(bytes)]))
    assert.equal(await changing.unseal(tx, old, place), 'of old')
    await assert.rejects(changing.unseal(other, old, place), shut)
    await assert.rejects(changing.unseal(tx, old, { ...place, id: 'id-2' }), shut)
  })

  test('makes one key for a tenant when several seal its first secrets at once', async () => {
    const fresh = await makeTenant('F')
    const sealers = Array.from({ length: 6 }, () => openSealer(roots()))
    const sealed = await Promise.all(sealers.map((one, n) => one.seal(fresh, `secret ${n}`, place)))
    for (const [n, text] of sealed.entries()) {
      for (const one of [...sealers, sealer]) assert.equal(await one.unseal(fresh, text, place), `secret ${n}`)
    }
    const rows = await db.asSuperuser('select version from tenant_key where tenant_id = $1', [fresh.tenant_id])
    assert.deepEqual(rows, [{ version: 1 }])
  })

  test('keeps no key that was rolled back', async () => {
    const fresh = await makeTenant('G')
    const undone = new Error('undone')
    const work = fresh.interactive(async (inside) => {
      const sealed = await sealer.seal(inside, 'x', place)
      assert.equal(await sealer.unseal(inside, sealed, place), 'x')
      throw undone
    })
    await assert.rejects(work, undone)
    const sealed = await sealer.seal(fresh, 'kept', place)
    assert.equal(await openSealer(roots()).unseal(fresh, sealed, place), 'kept')
  })

  test('does not query the database for a cached key', async () => {
    const sealed = await sealer.seal(tx, 'hunter2', place)
    await openSealer(roots()).unseal(tx, sealed, place)
    const closed = {
      ...tx,
      read: () => Promise.reject(new Error('asked')),
      write: () => Promise.reject(new Error('asked')),
    }
    assert.equal(await sealer.unseal(closed, await sealer.seal(closed, 'again', place), place), 'again')
  })
})

test('the database has only wrapped keys (S6)', async () => {
  const sealed = await sealer.seal(tx, 'hunter2', place)
  const rows = await db.asSuperuser<{ text: string }>(
    `select string_agg(t::text, E'\\n') as text from (select * from tenant_key) t`,
  )
  const dump = rows[0]?.text ?? ''
  for (const spelling of ['hex', 'base64', 'base64url'] as const) assert.ok(!dump.includes(bytes.toString(spelling)))
  assert.ok(!dump.includes(sealed))
  assert.ok(
    await db.database
      .tenant(newId())
      .read(sql`select from tenant_key`)
      .then((seen) => seen.length === 0),
  )
})
