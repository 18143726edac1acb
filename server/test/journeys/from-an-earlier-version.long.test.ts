import assert from 'node:assert/strict'
import { chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findPackage } from '../../src/embedded-postgres/binaries.ts'
import { auditPage, type Holds } from '../releases/live-there.ts'
import { type Client, clientAt } from '../support/client.ts'
import { dataFolder } from '../support/data-folder.ts'
import { unpackFolder } from '../support/packed-folder.ts'
import { type Sallyport, startOnEmbedded, startScript } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/**
 * Data of earlier versions opens in this one: secrets unseal, cursors continue, due grants end, and new ones begin. Every release
 * is among them, which is its promise (decision 96).
 */
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const past = at('../past/before-0026-was-edited/')
const releases = at('../releases/')
const versions: { title: string; folder: string; backup: string }[] = [
  { title: 'the version before migration 0026 was edited', folder: past, backup: 'backup.gz' },
  ...readdirSync(releases, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ title: name, folder: join(releases, name), backup: 'sallyport.backup' })),
]

type Kept = Holds & { secret_key: string }

/** The major version of the embedded PostgreSQL. No other one opens its data: then the backup is the way, as it is for operators. */
const major = JSON.parse(readFileSync(join(findPackage(), 'package.json'), 'utf8')).version.split('.')[0] as string

async function openDataFolder(folder: string): Promise<Sallyport | string> {
  const data_dir = await dataFolder()
  unpackFolder(readFileSync(join(folder, 'data-folder.zst')), data_dir)
  const made = readFileSync(join(data_dir, 'postgres/PG_VERSION'), 'utf8').trim()
  if (made !== major) return `its data is of PostgreSQL ${made}, and ours is ${major}: only its backup counts`
  if (process.getuid?.() === 0) giveToNobody(join(data_dir, 'postgres'))
  return startOnEmbedded(data_dir)
}

/** When root runs the tests, PostgreSQL runs as nobody. */
function giveToNobody(folder: string): void {
  const unprivileged = 65_534
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(folder, path), unprivileged, unprivileged)
  }
}

async function openBackup(folder: string, backup: string, { secret_key }: Kept): Promise<Sallyport> {
  const data_dir = await dataFolder()
  writeFileSync(join(data_dir, 'secret.key'), `${secret_key}\n`, { mode: 0o600 })
  const restoring = startScript('restore', [join(folder, backup)], { DATA_DIR: data_dir })
  assert.equal(await restoring.end(), 0, restoring.output())
  return startOnEmbedded(data_dir)
}

/** PostgreSQL's files fit only one kind of machine. */
const skipFolder = process.platform !== 'linux' && 'the data folder was made on Linux'

for (const { title, folder, backup } of versions) {
  const holds = JSON.parse(readFileSync(join(folder, 'holds.json'), 'utf8')) as Kept
  test(`a data folder of ${title} opens, and what it holds goes on`, { skip: skipFolder }, async (t) => {
    const opened = await openDataFolder(folder)
    // The reason: only the PostgreSQL that made the files can read them.
    if (typeof opened === 'string') t.skip(opened)
    else await goOn(t, opened, holds)
  })
  test(`a backup of ${title} is restored, and what it holds goes on`, async (t) =>
    goOn(t, await openBackup(folder, backup, holds), holds))
}

async function goOn(t: TestContext, service: Sallyport, holds: Kept): Promise<void> {
  const tenant = { 'x-tenant-id': holds.tenant_id }
  const signIn = async (who: { email: string; password: string }) => {
    const reply = await clientAt(service.base_url, tenant)<{ token: string }>('POST', '/v1/auth/login', who)
    assert.equal(reply.status, 200, `${who.email} signs in`)
    return clientAt(service.base_url, { ...tenant, authorization: `Bearer ${reply.body.token}` })
  }
  const owner = await signIn(holds.admin)

  await t.test('a secret unseals, and is kept if other fields change', async () => {
    const config = { url: 'https://directory.example', token: '[redacted]', more: 'x' }
    const reply = await owner('PATCH', `/v1/identity-providers/${holds.provider_id}`, { config })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
  })

  await t.test('a cursor continues at its place', async () => {
    const reply = await owner<{ data: { id: string }[] }>('GET', auditPage(holds.cursor))
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    assert.deepEqual(
      reply.body.data.map(({ id }) => id),
      holds.next_ids,
    )
  })

  await t.test('a grant whose time is over has ended, and its access is gone', async () => {
    // The data of a release is tried right after it was made, when the grant has most of its minute left.
    await until('the grant has ended', () => hasEnded(owner, holds.grant_id), 120_000)
  })

  await t.test('a new user gets access by a new rule', async () => {
    const person = { email: 'eve@example.com', password: 'correct-horse-9' }
    await created(owner, '/v1/users', { ...person, name: 'Eve', roles: ['user'] })
    const policy = await created(owner, '/v1/policies', { name: 'Of this version' })
    await created(owner, `/v1/policies/${policy}/rules`, {
      ...{ effect: 'permit', approval_mode: 'auto', action_scope_type: 'eq', action_ids: ['LookAgain'] },
    })
    const eve = await signIn(person)
    const resource = { type: 'cloud_account', id: '210987654321' }
    const asked = { resource, action: 'LookAgain', reason: 'after the upgrade', duration_seconds: 900 }
    const request = await created(eve, '/v1/requests', asked)
    await until('the new grant is active', async () => {
      const { body } = await eve<{ grants: { status: string }[] }>('GET', `/v1/access/requests/${request}`)
      return body.grants.some(({ status }) => status === 'active')
    })
  })
  assert.equal(await service.stop(), 0, service.output())
}

async function hasEnded(owner: Client, grant_id: string): Promise<boolean> {
  type Grant = { status: string; provisioning: { step: string } }
  const { body } = await owner<Grant>('GET', `/v1/grants/${grant_id}`)
  return body.status === 'expired' && body.provisioning.step === 'gone'
}

async function created(client: Client, path: string, body: object): Promise<string> {
  const reply = await client<{ id: string }>('POST', path, body)
  assert.equal(reply.status, 201, `${path}: ${JSON.stringify(reply.body)}`)
  return reply.body.id
}
