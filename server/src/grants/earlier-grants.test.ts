import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareDatabase } from '../../test/support/backup-database.ts'
import { migrate } from '../db/migrate.ts'
import { newId } from '../kernel/id.ts'

test('grants of the version before know since when access is held, and whether a person decided', async () => {
  const db = await bareDatabase()
  await migrate(db.owner, '0053_inbox')
  const [tenant_id, ada, ben, entitlement] = [newId(), newId(), newId(), newId()]
  await db.asSuperuser('set session_replication_role to replica')
  await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'earlier'])
  await db.asSuperuser(
    `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, observed)
      values ($1, $2, 'sandbox', 'key', '{}', false, 'present')`,
    [tenant_id, entitlement],
  )
  for (const [name, decided_by, status, minutes_ago] of [
    ['approved', ben, 'active', 60],
    ['joined it by a rule', null, 'active', 10],
    ['failed', ben, 'failed', null],
    ['over', ben, 'expired', 300],
  ] as const) {
    const request = newId()
    await db.asSuperuser(
      `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
          decided_by, approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via,
          source_ip)
        values ($1, $2, $3, 'cloud_account', '1', 'x', 'approved', $4,
          'require', false, 7200, '{}', false, '[]', 'token', '127.0.0.1')`,
      [tenant_id, request, ada, decided_by],
    )
    await db.asSuperuser(
      `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
          duration_seconds, status, provisioning_status, entitlement_id, activate_by, activated_at, expires_at,
          ended_at)
        select $1, $2, $3, $4, $5, 'cloud_account', '1', 'x', 7200, $6, 'successful', $7, now(), began,
          began + interval '2 hours', case when $6 <> 'active' then now() end
        from (select now() - make_interval(mins => $8::integer) as began) at`,
      [tenant_id, newId(), request, ada, name, status, entitlement, minutes_ago],
    )
  }
  await db.asSuperuser('set session_replication_role to default')
  await migrate(db.owner)
  const rows = await db.asSuperuser(
    `select name, by_person,
        round(extract(epoch from now() - coalesce(held_since, activated_at)) / 60)::integer as held_minutes
      from access_grant order by name`,
  )
  assert.deepEqual(rows, [
    { name: 'approved', by_person: true, held_minutes: 60 },
    { name: 'failed', by_person: true, held_minutes: null },
    { name: 'joined it by a rule', by_person: true, held_minutes: 60 },
    { name: 'over', by_person: false, held_minutes: 300 },
  ])
  const [held] = await db.asSuperuser(
    `select by_person, round(extract(epoch from now() - held_since) / 60)::integer as held_minutes from entitlement`,
  )
  assert.deepEqual(held, { by_person: true, held_minutes: 60 })
})
