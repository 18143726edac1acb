import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { bareDatabase, useOwnServer } from '../support/backup-database.ts'
import { clientAt } from '../support/client.ts'
import { dataFolder } from '../support/data-folder.ts'
import { type Sallyport, startOn, startScript, urlOf } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The operator suspends a tenant, exports it, deletes it while the service runs, and restores it elsewhere. */
const stopServer = await useOwnServer()
const [here, there] = [await bareDatabase(), await bareDatabase()]
const databasesOf = (db: typeof here) => ({ DATABASE_URL: urlOf(db.service), DATABASE_OWNER_URL: urlOf(db.owner) })
const [from, to] = [databasesOf(here), databasesOf(there)]
const [data_dir, other_dir] = [await dataFolder(), await dataFolder()]
const running: Sallyport[] = []
after(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await stopServer()
})

const started = async (databases: typeof from, dir: string) => {
  const sallyport = await startOn(databases, dir, {})
  running.push(sallyport)
  return sallyport
}

async function admin(args: string[], databases: Record<string, string> = from, dir = data_dir) {
  const command = startScript('admin', args, { ...databases, DATA_DIR: dir })
  return { code: await command.end(), output: command.output() }
}

async function done(...args: string[]): Promise<string> {
  const { code, output } = await admin(args)
  assert.equal(code, 0, output)
  return output
}

test('a tenant leaves one installation and goes on in another, with its secrets; the others notice nothing', async () => {
  const service = await started(from, data_dir)
  const made = JSON.parse(await done('--json', 'tenant', 'create', 'Acme', '--owner', 'anna@acme.example'))
  const { tenant_id, owner } = made
  await done('slug', 'set', tenant_id, 'acme')
  const asAnna = async (at: Sallyport) => {
    const anybody = clientAt(at.base_url, { 'x-tenant-id': tenant_id })
    const signedIn = await anybody<{ token: string; code: string }>('POST', '/v1/auth/login', {
      email: owner.email,
      password: owner.password,
    })
    const headers = { 'x-tenant-id': tenant_id, authorization: `Bearer ${signedIn.body.token}` }
    return { signedIn, call: clientAt(at.base_url, headers) }
  }
  const { call } = await asAnna(service)
  const sealed = { name: 'hook', provisioner_type: 'webhook', config: { url: 'https://hooks.example.com/access' } }
  const provisioner = await call<{ id: string }>('POST', '/v1/provisioners', { ...sealed, serves: [] })
  assert.equal(provisioner.status, 201)

  const file = join(data_dir, 'acme.export')
  const deletion = ['tenant', 'delete', 'acme', '--export', file]
  assert.match((await admin([...deletion, '--yes'])).output, /^error: there is no file/)
  await done('tenant', 'export', 'acme', file)
  assert.match((await admin(deletion)).output, /add --yes, as there is no terminal/)
  assert.match((await admin([...deletion, '--yes'])).output, /^error: the tenant is not suspended/)
  await done('tenant', 'suspend', 'acme', '--reason', 'it moves', '--end-access')
  await until('the service refuses it', async () => (await call('GET', '/v1/users')).status === 403)
  assert.match((await admin([...deletion, '--yes'])).output, /lacks what was recorded .*: export again/)
  assert.match((await admin(['tenant', 'export', 'acme', file])).output, /exists; name a new file/)
  const last = join(data_dir, 'acme-2.export')
  assert.match(await done('tenant', 'export', 'acme', last), /wrote `.*acme-2.export`: rows \d+/)
  const other = ['tenant', 'delete', service.bootstrap.tenant_id, '--export', last, '--yes']
  assert.match((await admin(other)).output, /^error: the file is the export of another tenant/)
  const noOwner = await admin(['tenant', 'delete', 'acme', '--export', last, '--yes'], {
    DATABASE_URL: from.DATABASE_URL,
  })
  assert.match(noOwner.output, /^error: set DATABASE_OWNER_URL/)
  const deleted = JSON.parse(await done('--json', 'tenant', 'delete', 'acme', '--export', last, '--yes'))
  assert.match(
    await done('tenant', 'list', '--deleted'),
    new RegExp(`\n${tenant_id} +Acme +acme .*${deleted.export_sha256}`),
  )
  assert.doesNotMatch(await done('tenant', 'list'), /Acme/)
  assert.equal((await call('GET', '/v1/users')).status, 401)
  const { signedIn } = await asAnna(service)
  assert.deepEqual([signedIn.status, signedIn.body.code], [401, 'unauthenticated'])
  const bootstrapped = service.client({ api_key: service.bootstrap.api_key })
  assert.equal((await bootstrapped('GET', '/v1/users')).status, 200)

  const restore = startScript('restore', [last], { ...to, DATA_DIR: other_dir })
  assert.equal(await restore.end(), 0, restore.output())
  assert.match(restore.output(), /restored .*: tenants 1, /)
  copyFileSync(join(data_dir, 'secret.key'), join(other_dir, 'secret.key'))
  const moved = await started(to, other_dir)
  assert.equal((await asAnna(moved)).signedIn.status, 403, 'it is suspended there too')
  assert.equal((await admin(['tenant', 'resume', 'acme'], to, other_dir)).code, 0)
  const anna = (await asAnna(moved)).call
  const users = await anna<{ data: { email: string }[] }>('GET', '/v1/users')
  assert.deepEqual(
    users.body.data.map(({ email }) => email),
    ['anna@acme.example'],
  )
  // Its secrets are sealed under its own key, which came along, wrapped under the root key, which did not.
  const report = await anna('POST', `/v1/provisioners/${provisioner.body.id}/test`)
  assert.ok(report.status < 300, JSON.stringify(report.body))
  const keys = await there.asSuperuser<{ n: number }>('select count(*)::int as n from signing_key')
  assert.deepEqual(keys, [{ n: 1 }], 'it has token keys of its own')
})
