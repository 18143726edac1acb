import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { sql } from '../db/sql.ts'
import { tenantModeAt } from './mode-store.ts'

const house = await openHouse()

test('a tenant is in rehearsal until the millisecond in which it went live', async () => {
  const { tenant_id } = await house.tenant('Acme')
  const tx = house.database.tenant(tenant_id)
  const modeAt = async (at: string) => {
    const [row] = await tx.read(sql<{ mode: string }>`select ${tenantModeAt(tx, at)} as mode`)
    return row?.mode
  }
  assert.equal(await modeAt('2026-11-27T12:00:00.000Z'), 'rehearsal')
  await house.asSuperuser(`update tenant set mode = 'live', live_since = '2026-11-27T12:00:00.0009Z' where id = $1`, [
    tenant_id,
  ])
  assert.equal(await modeAt('2026-11-27T11:59:59.999Z'), 'rehearsal')
  assert.equal(await modeAt('2026-11-27T12:00:00.000Z'), 'live', 'messages have milliseconds')
})
