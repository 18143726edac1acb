import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { runAdmin } from '../../test/support/admin-command.ts'
import { dataFolder } from '../../test/support/data-folder.ts'
import { testDatabase } from '../../test/support/database.ts'
import { insertRequests } from '../../test/support/insert-requests.ts'
import { newId } from '../kernel/id.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { addMailDomain, setSlug } from '../tenants/operator.flow.ts'

const db = await testDatabase()
const DATA_DIR = await dataFolder()

const admin = (...options: string[]) => runAdmin(db, DATA_DIR, options)

const json = async (...options: string[]) => {
  const { code, output } = await admin('--json', ...options)
  assert.equal(code, 0, output)
  return JSON.parse(output)
}

/** Rows in a tenant: a live grant in the sandbox, one at a real target, one that ended, and one request that waits. */
async function seedAccess(tenant_id: string): Promise<void> {
  const [[user]] = [
    await db.asSuperuser<{ id: string }>('select id from tenant_user where tenant_id = $1', [tenant_id]),
  ]
  const created_at = new Date().toISOString()
  const request = (status: string) =>
    insertRequests(db, tenant_id, { requester_id: String(user?.id), created_at, status })
  const grant = async (provisioner: string, status: string) => {
    const [entitlement, request_id] = [newId(), await request('approved')]
    await db.asSuperuser(
      `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before)
        values ($1, $2::uuid, $3, $2::uuid::text, '{}', false)`,
      [tenant_id, entitlement, provisioner],
    )
    await db.asSuperuser(
      `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
          duration_seconds, status, provisioning_status, entitlement_id, activate_by, activated_at, expires_at,
          ended_at)
        values ($1, $2, $3, $4, 'g', 'cloud_account', '1', 'a', 3600, $5::text,
          case $5::text when 'active' then 'successful' else 'deprovisioned' end, $6, now(), now(), now(),
          case when $5::text <> 'active' then now() end)`,
      [tenant_id, newId(), request_id, user?.id, status, entitlement],
    )
  }
  await request('pending')
  await grant('sandbox', 'active')
  await grant('aws_identity_center', 'active')
  await grant('aws_identity_center', 'expired')
}

suite('`tenant`', { concurrency: false }, () => {
  const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
  let acme: string
  before(async () => {
    acme = (await createTenant(db.database, { name: 'Acme', owner })).tenant_id
    await createTenant(db.database, { name: 'Other', owner })
    await setSlug(db.database, { tenant_id: acme, slug: 'acme' })
    await addMailDomain(db.database, { tenant_id: 'acme', domain: 'acme.example' })
    await db.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, active)
        values ($1, $2, 'gone@example.com', 'gone@example.com', 'Gone', 'local', false)`,
      [acme, newId()],
    )
    await seedAccess(acme)
  })

  test('`show` says who and what is in a tenant, named by its id or its slug, and nothing of another', async () => {
    const shown = await json('tenant', 'show', 'acme')
    assert.deepEqual(await json('tenant', 'show', acme), shown)
    const { created_at, last_event, ...rest } = shown
    assert.ok(Date.parse(created_at) <= Date.parse(last_event.at))
    assert.equal(last_event.type, 'tenant.mail_domain_added')
    assert.deepEqual(rest, {
      ...{ id: acme, name: 'Acme', slug: 'acme', mode: 'rehearsal', live_since: null, suspended: null },
      ...{ users: 2, active_users: 1, owners: [owner.email], mail_domains: ['acme.example'] },
      ...{ pending_requests: 1, live_grants: 2, real_grants: 1, provisioners: 0 },
    })
    const { output } = await admin('tenant', 'show', 'acme')
    assert.match(output, /^status +active$/m)
    assert.match(output, /^users +2, of them active 1$/m)
    assert.match(output, /^live grants +2, of them at real targets 1$/m)
    assert.match(output, /^last event +tenant\.mail_domain_added at /m)
  })

  test('`suspend` and `resume` take a slug too, and say when there is nothing to do', async () => {
    const suspended = await admin('tenant', 'suspend', 'acme', '--reason', 'the contract ended')
    assert.deepEqual(suspended, { code: 0, output: 'the tenant is suspended\n' })
    assert.match((await admin('tenant', 'list')).output, new RegExp(`\n${acme} +Acme +acme +rehearsal +suspended `))
    assert.match((await admin('tenant', 'list')).output, / +Other +- +rehearsal +active /)
    const { output } = await admin('tenant', 'show', acme)
    assert.match(output, /^status +suspended since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z: the contract ended$/m)
    const again = await json('tenant', 'suspend', acme, '--reason', 'another')
    const { since, ...said } = again
    assert.ok(Date.parse(since) > 0)
    assert.deepEqual(said, { tenant_id: acme, changed: false, reason: 'the contract ended' })
    assert.match((await admin('tenant', 'live', 'acme')).output, /^error: the tenant is suspended; resume it first\n$/)
    const ended = await admin('tenant', 'suspend', 'acme', '--end-access')
    assert.match(ended.output, /^the tenant is suspended already, since .*; requests cancelled 1, grants ended 2\n$/)
    assert.equal((await admin('tenant', 'resume', 'acme')).output, 'the tenant is resumed\n')
    assert.deepEqual(await json('tenant', 'resume', 'acme'), { tenant_id: acme, changed: false })
  })

  test('an unknown tenant is one line, whether it looks like an id, a slug or neither', async () => {
    for (const named of [newId(), 'no-such', 'No Such']) {
      const { code, output } = await admin('tenant', 'show', named)
      assert.deepEqual(
        [code, output],
        [1, `error: there is no tenant with the id or slug \`${named}\`; \`tenant list\` shows all tenants\n`],
      )
    }
  })

  test('every command that takes a tenant takes its slug', async () => {
    const key = ['--user', owner.email, '--name', 'ci', '--scopes', 'requests:read']
    assert.equal((await json('key', 'issue', '--tenant', 'acme', ...key)).name, 'ci')
    assert.equal((await json('owner', 'reset', owner.email, '--tenant', 'acme')).tenant_id, acme)
    assert.equal((await json('mail-domain', 'list', 'acme')).length, 1)
    assert.equal((await json('replay-upgrade', '--tenant', 'acme')).tenants[0].tenant_id, acme)
    assert.equal((await json('tenant', 'live', 'acme')).tenant_id, acme)
    assert.equal((await json('slug', 'set', 'acme', 'acme-eu')).tenant_id, acme)
    assert.equal((await json('slug', 'remove', 'acme-eu', 'acme-eu')).tenant_id, acme)
  })
})
