import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { bareDatabase } from '../../test/support/backup-database.ts'
import { migrate } from '../db/migrate.ts'
import { newId } from '../kernel/id.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { readSettings } from './setting-store.ts'

/** Tenants of the version before, whose defaults were others, and one that is made after the update. */
const db = await bareDatabase()
const [plain, own] = [newId(), newId()]
const chosen = {
  'requests.require_reason': 'true',
  'requests.max_duration_seconds': '7200',
  'timezone.default': 'Asia/Tokyo',
}

const settingsOf = (tenant_id: string) => readSettings(db.database.tenant(tenant_id))

before(async () => {
  await migrate(db.owner, '0062_notified_groups')
  for (const id of [plain, own]) await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [id, id])
  for (const [key, value] of Object.entries(chosen)) {
    await db.asSuperuser('insert into setting (tenant_id, key, value) values ($1, $2, $3)', [own, key, value])
  }
  await migrate(db.owner)
})

suite('defaults', () => {
  test('of before stay those of a tenant of before', async () => {
    const settings = await settingsOf(plain)
    assert.equal(settings['requests.require_reason'], false)
    assert.equal(settings['requests.max_duration_seconds'], 43_200)
    assert.equal(settings['requests.default_duration_seconds'], 3600)
    assert.equal(settings['requests.pending_ttl_seconds'], 86_400)
    assert.equal(settings['notifications.reminder_seconds'], 3600)
    assert.equal(settings['timezone.default'], 'UTC')
  })

  test('of before do not replace what a tenant has set', async () => {
    const settings = await settingsOf(own)
    assert.equal(settings['requests.require_reason'], true)
    assert.equal(settings['requests.max_duration_seconds'], 7200)
    assert.equal(settings['timezone.default'], 'Asia/Tokyo')
    assert.equal(settings['requests.pending_ttl_seconds'], 86_400)
  })

  test('of a tenant that is made now are those of a working day, and none is written', async () => {
    const owner = { email: 'owner@example.com', name: 'Owner', password: 'a long enough password' }
    const { tenant_id } = await createTenant(db.database, { name: 'New', owner })
    const settings = await settingsOf(tenant_id)
    assert.equal(settings['requests.require_reason'], true)
    assert.equal(settings['requests.max_duration_seconds'], 28_800)
    assert.equal(settings['requests.default_duration_seconds'], 3600)
    assert.equal(settings['requests.pending_ttl_seconds'], 28_800)
    assert.equal(settings['notifications.reminder_seconds'], 600)
    assert.deepEqual(await db.asSuperuser('select key from setting where tenant_id = $1', [tenant_id]), [])
  })

  test('emit no event, and the tables are protected by row-level security as before', async () => {
    const events = await db.asSuperuser('select type from event where tenant_id = any($1)', [[plain, own]])
    assert.deepEqual(events, [])
    const open = await db.asSuperuser(
      `select relname from pg_class where relname in ('tenant', 'setting')
        and not (relrowsecurity and relforcerowsecurity)`,
    )
    assert.deepEqual(open, [])
  })
})
