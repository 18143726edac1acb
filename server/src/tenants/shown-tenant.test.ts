import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { insertRequests } from '../../test/support/insert-requests.ts'
import { readingOf, recordingTx } from '../../test/support/rows-read.ts'
import { createTenant } from './create-tenant.flow.ts'
import { findShownTenant } from './shown-tenant-store.ts'

const db = await testDatabase()

test('a tenant with a long past is shown in one look, which reads little of it', async () => {
  const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
  const ids: string[] = []
  for (const name of ['old', 'older']) ids.push((await createTenant(db.database, { name, owner })).tenant_id)
  for (const id of ids) {
    await db.asSuperuser(`insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      select '${id}', gen_random_uuid(), 'request.created', 'system', 'request', n::text, 'r'
      from generate_series(1, 4000) n`)
    const [user] = await db.asSuperuser<{ id: string }>('select id from tenant_user where tenant_id = $1', [id])
    const past = {
      requester_id: String(user?.id),
      created_at: new Date().toISOString(),
      status: 'denied',
      count: 4_000,
    }
    await insertRequests(db, id, past)
    await db.asSuperuser(`insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type,
        resource_id, action, duration_seconds, status, provisioning_status, activate_by, ended_at)
      select '${id}', gen_random_uuid(), r.id, r.requester_id, 'g', 'cloud_account', '1', 'a', 3600, 'failed',
        'failed', now(), now() from access_request r where r.tenant_id = '${id}'`)
  }
  await db.asSuperuser('analyze event, access_request, access_grant, tenant_user, tenant')
  const [tenant_id] = ids
  assert.ok(tenant_id)
  const { tx, statements } = recordingTx(db.database.tenant(tenant_id))
  const shown = await findShownTenant(tx)
  assert.deepEqual([shown?.last_event?.type, shown?.pending_requests, shown?.live_grants], ['request.created', 0, 0])
  const [statement, ...more] = statements
  assert.ok(statement)
  assert.deepEqual(more, [])
  for (const generic of [false, true]) {
    const { rows } = await readingOf(db, tenant_id, statement, generic)
    assert.ok(rows < 50, `${rows} rows were read`)
  }
})
