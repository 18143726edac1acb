import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { newId } from '../../src/kernel/id.ts'
import { bareDatabase } from '../support/backup-database.ts'

/** Tenants of a version without modes and second factors, after the update. */
const db = await bareDatabase()
const ids: Record<string, string> = {}

/** A tenant with provisioners as the earlier version stored them. */
async function tenant(
  name: string,
  provisioners: { type: string; enabled?: boolean; serves?: boolean }[],
  settings = {},
) {
  const tenant_id = newId()
  ids[name] = tenant_id
  await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, name])
  for (const [index, { type, enabled = true, serves = true }] of provisioners.entries()) {
    const id = newId()
    await db.asSuperuser(
      `insert into provisioner (tenant_id, id, name, provisioner_type, enabled, config)
        values ($1, $2, $3, $3, $4, '{"instance_arn": "", "identity_store_id": ""}')`,
      [tenant_id, id, type, enabled],
    )
    if (!serves) continue
    await db.asSuperuser('insert into served_resource (tenant_id, resource_type, provisioner_id) values ($1, $2, $3)', [
      tenant_id,
      `type_${index}`,
      id,
    ])
  }
  for (const [key, value] of Object.entries(settings)) {
    await db.asSuperuser('insert into setting (tenant_id, key, value) values ($1, $2, $3)', [tenant_id, key, value])
  }
}

before(async () => {
  await migrate(db.owner, '0038_sessions')
  await tenant('without provisioners', [])
  await tenant('with a sandbox', [{ type: 'sandbox' }])
  await tenant('with a disabled one', [{ type: 'webhook', enabled: false }])
  await tenant('with one that serves nothing', [{ type: 'postgresql', serves: false }, { type: 'sandbox' }])
  await tenant('with a real one', [{ type: 'aws-identity-center' }])
  await tenant('with several', [{ type: 'sandbox' }, { type: 'webhook', enabled: false }, { type: 'postgresql' }])
  await tenant('with a length', [], { 'auth.password_min_length': '20' })
  await migrate(db.owner)
})

suite('an earlier tenant', () => {
  const live = ['with a real one', 'with several']

  test('is live where an enabled provisioner gives real access, and else rehearses', async () => {
    for (const [name, id] of Object.entries(ids)) {
      const [row] = await db.asSuperuser('select mode, live_since is not null as since from tenant where id = $1', [id])
      const isLive = live.includes(name)
      assert.deepEqual(row, { mode: isLive ? 'live' : 'rehearsal', since: isLive }, name)
    }
  })

  test('keeps the length of passwords that it had: 8, or what it has set', async () => {
    for (const [name, id] of Object.entries(ids)) {
      const rows = await db.asSuperuser(
        `select value from setting where tenant_id = $1 and key = 'auth.password_min_length'`,
        [id],
      )
      assert.deepEqual(rows, [{ value: name === 'with a length' ? '20' : '8' }], name)
    }
  })

  test('is protected by row-level security as before', async () => {
    const open = await db.asSuperuser(
      `select relname from pg_class where relname in ('tenant', 'provisioner', 'served_resource', 'setting',
        'second_factor', 'recovery_code', 'sign_in_challenge') and not (relrowsecurity and relforcerowsecurity)`,
    )
    assert.deepEqual(open, [])
  })
})
