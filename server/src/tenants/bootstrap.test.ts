import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { findKeyStatus } from '../api-keys/api-key-store.ts'
import { readKeyText } from '../api-keys/api-key-text.ts'
import { newId } from '../kernel/id.ts'
import { systemRoles } from '../roles/role.ts'
import { unknownTenants, verifyPassword } from '../users/password.ts'
import { findSignIn } from '../users/user-store.ts'
import { beginBootstrapAgain, bootstrap, endBootstrap } from './bootstrap.flow.ts'
import { type Bootstrap, readBootstrap, writeDraft } from './bootstrap-file.ts'
import { insertTenant, operatorCtx, readNewTenant } from './create-tenant.flow.ts'
import { setSlug } from './operator.flow.ts'
import { lockFirstTenant } from './tenant-store.ts'

const db = await testDatabase()
const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-bootstrap-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

const logged: string[] = []
const options = {
  database: db.database,
  dataDir,
  baseUrl: 'http://127.0.0.1:8080',
  log: (message: string) => void logged.push(message),
}

const tables = [
  'tenant',
  'setting',
  'tenant_user',
  'user_password',
  'role',
  'user_role',
  'api_key',
  'policy',
  'policy_rule',
]

beforeEach(async () => {
  logged.length = 0
  for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name))
  // As the superuser, bypassing the trigger that keeps events: an empty database again.
  await db.asSuperuser(`set session_replication_role = replica`)
  await db.asSuperuser(`delete from event`)
  for (const table of tables) await db.asSuperuser(`delete from ${table}`)
  await db.asSuperuser(`set session_replication_role = default`)
})

const tenants = async () => (await db.asSuperuser<{ id: string }>('select id from tenant')).map((row) => row.id)
const found = () => {
  const bootstrap = readBootstrap(dataDir)
  assert.ok(bootstrap, 'there is no file')
  return bootstrap as Required<Bootstrap>
}

/** The password signs the owner in, and the key holds the scopes of the owner. */
async function requireWayIn({ tenant_id, admin, api_key }: Required<Bootstrap>) {
  const tx = db.database.tenant(tenant_id)
  const owner = await findSignIn(tx, admin.email)
  assert.ok(await verifyPassword(unknownTenants, admin.password, owner?.hash ?? undefined))
  const key = await findKeyStatus(tx, readKeyText(api_key)?.id ?? newId(), 'api')
  assert.deepEqual([...(key?.key_scopes ?? [])].sort(), [...systemRoles.admin.scopes].sort())
  assert.deepEqual([...(key?.user_scopes ?? [])].sort(), [...systemRoles.admin.scopes].sort())
}

suite('the first start', () => {
  test('creates a tenant, an owner and a key, and writes how to sign in to a file that only its owner can read', async () => {
    await bootstrap(options)
    const file = found()
    assert.deepEqual(await tenants(), [file.tenant_id])
    assert.deepEqual([file.base_url, file.admin.email], [options.baseUrl, 'owner@sallyport.local'])
    const left = new Date(file.expires_at).getTime() - Date.now()
    assert.ok(left > 6.99 * 86_400_000 && left <= 7 * 86_400_000, file.expires_at)
    await requireWayIn(file)
    assert.equal(statSync(join(dataDir, 'bootstrap.json')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(dataDir), ['bootstrap.json'])
    assert.match(logged.join(), /bootstrap\.json.*npm run demo/)
    assert.ok(!logged.join().includes(file.admin.password) && !logged.join().includes(file.api_key))
  })

  test('emits the events of the tenant, the owner and the key with the operator as actor', async () => {
    await bootstrap(options)
    const events = await db.asSuperuser<{ type: string; actor_kind: string }>(
      'select type, actor_kind from event order by seq',
    )
    assert.deepEqual(
      events.map((event) => `${event.actor_kind} ${event.type}`),
      ['operator tenant.created', 'operator user.created', 'operator api_key.created'],
    )
  })

  test('gives the tenant its system roles, and the policy that lets approvers approve', async () => {
    await bootstrap(options)
    const roles = await db.asSuperuser<{ id: string; scopes: string[] }>('select id, scopes from role where system')
    for (const { id, scopes } of roles) assert.deepEqual(scopes, systemRoles[id as 'user'].scopes)
    assert.equal(roles.length, 4)
    const rules = await db.asSuperuser('select effect, action_ids, policy_text from policy_rule')
    assert.equal(rules.length, 1)
    assert.match(JSON.stringify(rules), /"approve".*requests:approve/)
  })

  test('of several processes at once creates one tenant, and its file', async () => {
    await Promise.all([bootstrap(options), bootstrap(options), bootstrap(options)])
    assert.deepEqual(await tenants(), [found().tenant_id])
    await requireWayIn(found())
    assert.equal(readdirSync(dataDir).length, 1)
  })

  test('waits for a process that is creating the first tenant, and then creates none', async () => {
    const tx = db.database.tenant(newId())
    const theirs = await readNewTenant(tx, {
      name: 'theirs',
      owner: { email: 'a@b.co', name: 'A', password: 'a long password' },
    })
    let ours: Promise<string> | undefined
    await tx.interactive(async (inside) => {
      await lockFirstTenant(inside)
      await insertTenant(operatorCtx(inside), theirs)
      let settled = false
      ours = bootstrap(options).then(() => 'done')
      void ours.then(() => {
        settled = true
      })
      const waiting = `select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
        where locktype = 'advisory' and not granted and datname = current_database()`
      while (!settled && (await db.asSuperuser(waiting)).length === 0) await new Promise(setImmediate)
    })
    assert.equal(await ours, 'done')
    assert.deepEqual(await tenants(), [tx.tenant_id])
    assert.deepEqual(readdirSync(dataDir), [])
  })

  test('that cannot write its file creates nothing', async () => {
    const blocked = join(dataDir, 'blocked')
    writeFileSync(blocked, '')
    await assert.rejects(bootstrap({ ...options, dataDir: blocked }), /ENOTDIR|EEXIST/)
    assert.deepEqual(await tenants(), [])
  })
})

suite('a later start', () => {
  test('creates nothing, and logs a reminder of the file while it exists', async () => {
    await bootstrap(options)
    const before = readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')
    logged.length = 0
    await bootstrap(options)
    assert.equal(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'), before)
    assert.match(logged.join(), /still holds.*bootstrap done/)
    assert.equal((await tenants()).length, 1)
  })

  test('after a kill between commit and file puts the draft in its place', async () => {
    await bootstrap(options)
    const file = found()
    rmSync(join(dataDir, 'bootstrap.json'))
    writeDraft(dataDir, file)
    await bootstrap(options)
    assert.deepEqual(found(), file)
    assert.deepEqual(readdirSync(dataDir), ['bootstrap.json'])
    assert.deepEqual(await tenants(), [file.tenant_id])
  })

  test('after a kill before the commit starts over and leaves no draft', async () => {
    const lost = newId()
    writeDraft(dataDir, {
      base_url: '',
      tenant_id: lost,
      admin: { email: '', password: '' },
      api_key: '',
      expires_at: '',
    })
    await bootstrap(options)
    assert.notEqual(found().tenant_id, lost)
    assert.deepEqual(readdirSync(dataDir), ['bootstrap.json'])
    await requireWayIn(found())
  })
})

suite('bootstrap done', () => {
  test('revokes the key, removes the file, and leaves the owner their password', async () => {
    await bootstrap(options)
    const file = found()
    assert.deepEqual(await endBootstrap(options), { tenant_id: file.tenant_id, revoked: true })
    assert.deepEqual(readdirSync(dataDir), [])
    const tx = db.database.tenant(file.tenant_id)
    assert.equal(await findKeyStatus(tx, readKeyText(file.api_key)?.id ?? '', 'api'), undefined)
    const owner = await findSignIn(tx, file.admin.email)
    assert.ok(await verifyPassword(unknownTenants, file.admin.password, owner?.hash ?? undefined))
    const [event] = await db.asSuperuser(`select actor_kind from event where type = 'api_key.revoked'`)
    assert.deepEqual(event, { actor_kind: 'operator' })
    logged.length = 0
    await bootstrap(options)
    assert.deepEqual(logged, [])
  })

  test('updates the address of the service in the file, which stays readable only by its owner', async () => {
    await bootstrap(options)
    const before = found()
    await bootstrap({ ...options, baseUrl: 'http://127.0.0.1:9999' })
    assert.deepEqual(found(), { ...before, base_url: 'http://127.0.0.1:9999' })
    assert.equal(statSync(join(dataDir, 'bootstrap.json')).mode & 0o777, 0o600)
    await endBootstrap(options)
  })

  test('the file can be written again, with a key for a day', async () => {
    await bootstrap(options)
    const { tenant_id, admin } = found()
    const wanted = { email: admin.email, named: undefined }
    await assert.rejects(beginBootstrapAgain(options, wanted), /exists: `bootstrap done` removes it/)
    await endBootstrap(options)
    await assert.rejects(beginBootstrapAgain(options, { ...wanted, email: 'nobody@example.com' }), /there is no user/)
    assert.deepEqual(readdirSync(dataDir), [])
    await setSlug(db.database, { tenant_id, slug: 'first' })
    await assert.rejects(beginBootstrapAgain(options, { ...wanted, named: 'second' }), /there is no tenant/)
    const made = await beginBootstrapAgain(options, { ...wanted, named: 'first' })
    const hours = (Date.parse(made.expires_at) - Date.now()) / 3_600_000
    assert.ok(hours > 23 && hours <= 24, `${hours} hours`)
    const { api_key, ...rest } = found()
    assert.deepEqual(rest, { base_url: options.baseUrl, tenant_id, expires_at: made.expires_at })
    assert.equal(statSync(join(dataDir, 'bootstrap.json')).mode & 0o777, 0o600)
    const tx = db.database.tenant(tenant_id)
    assert.ok(await findKeyStatus(tx, readKeyText(api_key)?.id ?? '', 'api'))
    await endBootstrap(options)
    assert.equal(await findKeyStatus(tx, readKeyText(api_key)?.id ?? '', 'api'), undefined)
  })

  test('without a bootstrap file reports that it was already ended', async () => {
    await assert.rejects(endBootstrap(options), /already ended/)
  })
})
