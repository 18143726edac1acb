import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { bareDatabase } from '../../../test/support/backup-database.ts'
import { migrate } from '../../db/migrate.ts'
import { newId } from '../../kernel/id.ts'

/** A ledger of a version whose keys did not name the user, after the update. */
const db = await bareDatabase()
const [tenant_id, provisioner_id] = [newId(), newId()]
const url = 'https://doors.example.com/access'
const users = { ada: newId(), ben: newId(), cleo: newId() }
type Name = keyof typeof users
const keyBefore = (entitlement: string) => JSON.stringify([url, entitlement])
const keyAfter = (entitlement: string, name: Name) => JSON.stringify([url, entitlement, users[name]])
const nameOf = (id: unknown) => Object.entries(users).find(([, user_id]) => user_id === id)?.[0]

/** An entitlement whose last plan was for `planned`, and grants of users with their state. */
async function entitlement(name: string, planned: Name, grants: [Name, string, string][]) {
  const [id, key] = [newId(), keyBefore(name)]
  const target = { user: { id: users[planned] }, entitlement: name, key, action: 'open' }
  await db.asSuperuser(
    `insert into entitlement
        (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed)
      values ($1, $2, 'webhook', $3, $4, $5, false, 'present')`,
    [tenant_id, id, provisioner_id, key, target],
  )
  await db.asSuperuser(
    `insert into webhook_act (tenant_id, id, provisioner_id, target_key, kind, until, outcome)
      values ($1, $2, $3, $4, 'grant', now(), 'done')`,
    [tenant_id, newId(), provisioner_id, key],
  )
  for (const [user, status, provisioning_status] of grants) {
    await db.asSuperuser(
      `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id,
          action, duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by,
          ended_at)
        values ($1, $2, $3, $4, 'a', 'cloud_account', $5, 'open', 60, $6, $7, $8, now(), now(), now(),
          case when $6::text in ('pending', 'active') then null else now() end)`,
      [tenant_id, newId(), newId(), users[user], newId(), status, provisioning_status, id],
    )
  }
}

before(async () => {
  await migrate(db.owner, '0043_setup_links')
  await db.asSuperuser('set session_replication_role to replica')
  await db.asSuperuser(`insert into tenant (id, name) values ($1, 'earlier')`, [tenant_id])
  await db.asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type) values ($1, $2, 'doors', 'webhook')`,
    [tenant_id, provisioner_id],
  )
  for (const [name, id] of Object.entries(users)) {
    await db.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, subject, issuer, auth_provider)
        values ($1, $2, $3, $3, $4, $5, 'issuer', 'oidc')`,
      [tenant_id, id, `${name}@example.com`, name, `ext-${name}`],
    )
  }
  await entitlement('own "quoted" name', 'ada', [['ada', 'active', 'successful']])
  await entitlement('shared', 'ben', [
    ['ada', 'active', 'successful'],
    ['ada', 'revoked', 'deprovisioning_failed'],
    ['ben', 'active', 'successful'],
    ['cleo', 'revoked', 'deprovisioned'],
  ])
  await db.asSuperuser('set session_replication_role to default')
  await migrate(db.owner)
})

suite('an earlier entitlement of a receiver', () => {
  const find = (key: string) =>
    db.asSuperuser<{ id: string; target: Record<string, unknown>; observed: string; due: boolean }>(
      'select id, target, observed, next_look_at is not null as due from entitlement where target_key = $1',
      [key],
    )
  const grantsOf = async (id: string | undefined) =>
    (await db.asSuperuser('select user_id, provisioning_status from access_grant where entitlement_id = $1', [id])).map(
      (grant) => `${nameOf(grant.user_id)} ${grant.provisioning_status}`,
    )

  test('is found by the key that a plan has now, with its state and its last act', async () => {
    const key = keyAfter('own "quoted" name', 'ada')
    const [row] = await find(key)
    assert.deepEqual([row?.target.key, row?.observed, row?.due], [key, 'present', false])
    assert.deepEqual(await grantsOf(row?.id), ['ada successful'])
    const acts = await db.asSuperuser('select outcome from webhook_act where target_key = $1', [key])
    assert.deepEqual(acts, [{ outcome: 'done' }])
  })

  test('that stood for two users becomes two, and the receiver is asked about both', async () => {
    const [ben] = await find(keyAfter('shared', 'ben'))
    const [ada] = await find(keyAfter('shared', 'ada'))
    assert.deepEqual((await grantsOf(ada?.id)).sort(), ['ada deprovisioning_failed', 'ada successful'])
    assert.deepEqual((await grantsOf(ben?.id)).sort(), ['ben successful', 'cleo deprovisioned'])
    assert.deepEqual([ada?.observed, ada?.due, ben?.due], ['unknown', true, true])
    assert.deepEqual(ada?.target, {
      user: { id: users.ada, email: 'ada@example.com', name: 'ada', external_id: 'ext-ada' },
      entitlement: 'shared',
      key: keyAfter('shared', 'ada'),
      action: 'open',
    })
  })

  test('leaves nothing behind under the key of before', async () => {
    const rows = await db.asSuperuser(
      `select target_key from entitlement where json_array_length(target_key::json) <> 3
        union all select target_key from webhook_act where json_array_length(target_key::json) <> 3`,
    )
    assert.deepEqual(rows, [])
    const tables = await db.asSuperuser(
      `select relname from pg_class where relname in ('key_change', 'parted') or relname in ('entitlement',
        'access_grant', 'tenant_user', 'webhook_act') and not (relrowsecurity and relforcerowsecurity)`,
    )
    assert.deepEqual(tables, [])
  })
})
