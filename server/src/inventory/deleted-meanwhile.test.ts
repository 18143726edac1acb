import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { inventoryStage, person } from '../../test/support/inventory-stage.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { lockProvisioner } from '../provisioners/provisioner-store.ts'
import { saveSeen } from './inventory-store.ts'
import { rowsOf } from './seen-rows.ts'

const db = await testDatabase()

test('a page that is saved while its provisioner is deleted waits for the end, and is dropped', async () => {
  const stage = await inventoryStage(db)
  const { provisioner_id, tenant_id } = stage
  const item = await stage.claim('people')
  let saving: Promise<boolean> | undefined
  await stage.tx.interactive(async (tx) => {
    await lockProvisioner(tx, provisioner_id, { links: true })
    saving = saveSeen(stage.tx, item, rowsOf({ people: [person('ada', 'ada@example.com')] }, null))
    await until('the page waits', async () => {
      const waiting = await db.asSuperuser(`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database() and query like '%inventory_part%'`)
      return waiting.length > 0
    })
    await tx.write([sql`delete from provisioner where tenant_id = ${tenant_id} and id = ${provisioner_id}`])
  })
  assert.equal(await saving, false)
})
