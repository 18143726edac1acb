import assert from 'node:assert/strict'
import { chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clientAt } from '../support/client.ts'
import { unpackFolder } from '../support/packed-folder.ts'
import { dataFolder, type Sallyport, startOnEmbedded, startScript } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** Data of earlier versions opens in this one: secrets unseal, cursors continue, and due grants end. */
const past = fileURLToPath(new URL('../past/before-0026-was-edited/', import.meta.url))
const holds = JSON.parse(readFileSync(join(past, 'holds.json'), 'utf8')) as {
  tenant_id: string
  admin: { email: string; password: string }
  secret_key: string
  provider_id: string
  grant_id: string
  cursor: string
  next_ids: string[]
}

/** PostgreSQL's files fit only one kind of machine. */
const skipFolder = process.platform !== 'linux' && 'the data folder was made on Linux'

async function openDataFolder(): Promise<Sallyport> {
  const data_dir = await dataFolder()
  unpackFolder(readFileSync(join(past, 'data-folder.zst')), data_dir)
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

async function openBackup(): Promise<Sallyport> {
  const data_dir = await dataFolder()
  writeFileSync(join(data_dir, 'secret.key'), `${holds.secret_key}\n`, { mode: 0o600 })
  const restoring = startScript('restore', [join(past, 'backup.gz')], { DATA_DIR: data_dir })
  assert.equal(await restoring.end(), 0, restoring.output())
  return startOnEmbedded(data_dir)
}

for (const [what, open, skip] of [
  ['a data folder', openDataFolder, skipFolder],
  ['a backup', openBackup, false],
] as const) {
  suite(`${what} of the version before migration 0026 was edited`, { skip }, () => {
    test('opens, and its secrets, cursors and grants work', async (t) => {
      const service = await open()
      const tenant = { 'x-tenant-id': holds.tenant_id }
      const signedIn = await clientAt(service.base_url, tenant)<{ token: string }>(
        'POST',
        '/v1/auth/login',
        holds.admin,
      )
      assert.equal(signedIn.status, 200, 'its owner signs in')
      const owner = clientAt(service.base_url, { ...tenant, authorization: `Bearer ${signedIn.body.token}` })

      await t.test('a secret unseals, and is kept if other fields change', async () => {
        const config = { url: 'https://directory.example', token: '[redacted]', more: 'x' }
        const reply = await owner('PATCH', `/v1/identity-providers/${holds.provider_id}`, { config })
        assert.equal(reply.status, 200, JSON.stringify(reply.body))
      })

      await t.test('a cursor continues at its place', async () => {
        const url = `/v1/audit-events?limit=3&cursor=${encodeURIComponent(holds.cursor)}`
        const reply = await owner<{ data: { id: string }[] }>('GET', url)
        assert.equal(reply.status, 200, JSON.stringify(reply.body))
        assert.deepEqual(
          reply.body.data.map(({ id }) => id),
          holds.next_ids,
        )
      })

      await t.test('a grant whose time is over has ended, and its access is gone', async () => {
        await until('the grant has ended', async () => {
          type Grant = { status: string; provisioning: { step: string } }
          const { body } = await owner<Grant>('GET', `/v1/grants/${holds.grant_id}`)
          return body.status === 'expired' && body.provisioning.step === 'gone'
        })
      })
      assert.equal(await service.stop(), 0, service.output())
    })
  })
}
