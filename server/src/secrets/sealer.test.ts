import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openSealer } from './sealer.ts'

const root = randomBytes(32)
const sealer = openSealer(root)
const place = { tenant_id: 'tenant-a', table: 'identity_provider', id: 'id-1', field: 'sealed_secrets' }
const shut = { message: 'the sealed value cannot be opened: it was changed, moved, or sealed with another key' }

suite('a sealer', () => {
  test('opens what it sealed, after a new start too', async () => {
    const sealed = await sealer.seal('hunter2 🔑', place)
    assert.ok(!sealed.includes('hunter2'))
    assert.equal(await openSealer(root).unseal(sealed, place), 'hunter2 🔑')
  })

  for (const [name, moved] of Object.entries({
    'another tenant': { tenant_id: 'tenant-b' },
    'another table': { table: 'ai_provider' },
    'another row': { id: 'id-2' },
    'another field': { field: 'config' },
  })) {
    test(`opens nothing that was moved to ${name} (S6)`, async () => {
      await assert.rejects(sealer.unseal(await sealer.seal('hunter2', place), { ...place, ...moved }), shut)
    })
  }

  test('opens nothing that another installation sealed', async () => {
    await assert.rejects(openSealer(randomBytes(32)).unseal(await sealer.seal('hunter2', place), place), shut)
  })
})
