import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { everything, useOwnServer } from '../../test/support/backup-database.ts'
import { seedService, seedTenant } from '../../test/support/backup-seed.ts'
import { testDatabase } from '../../test/support/database.ts'
import { newId } from '../kernel/id.ts'
import { writeExport } from './backup.ts'
import { readBackupFile } from './backup-file.ts'
import { restoreBackup } from './restore.ts'

/** The backup of one tenant. */
const stopServer = await useOwnServer()
const source = await testDatabase()
after(stopServer)
const [acme] = [await seedTenant(source, 'Acme'), await seedTenant(source, 'Beta')]
await seedService(source)
const folder = await mkdtemp(join(tmpdir(), 'sallyport-export-'))
after(() => rm(folder, { recursive: true }))

test('an export restored into an empty database gives the rows of its tenant, and nothing else but the names of root keys', async () => {
  const file = join(folder, 'acme.export')
  await writeExport(source.service, acme.tenant_id, file)
  const target = await testDatabase()
  assert.equal((await restoreBackup(target, file)).tenants, 1)
  const theirs = Object.entries(await everything(source)).map(([name, rows]) => [
    name,
    rows.filter((row) => name === 'root_key' || row.includes(acme.tenant_id)),
  ])
  assert.deepEqual(await everything(target), Object.fromEntries(theirs))
  assert.deepEqual(await target.asSuperuser('select from signing_key'), [])
})

test('an export says from where its tenant’s own events are delivered, whatever waits in others', async () => {
  const event = (tenant_id: string) =>
    source.asSuperuser<{ seq: string; xid: string }>(
      `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        values ($1, $2, 'tenant.renamed', 'system', 'tenant', 'x', 'r') returning seq::text, xid::text`,
      [tenant_id, newId()],
    )
  const beta = await source.asSuperuser<{ id: string }>(`select id from tenant where name = 'Beta'`)
  const [reached] = await event(acme.tenant_id)
  await source.asSuperuser(
    `insert into event_cursor (subscriber, xid, seq) values ('reader', $1::text::xid8, $2::text::bigint)`,
    [reached?.xid, reached?.seq],
  )
  await event(String(beta[0]?.id))
  const position = async (file: string) => {
    await writeExport(source.service, acme.tenant_id, file)
    for await (const part of readBackupFile(file)) {
      if (part.kind === 'subscriber' && part.subscriber === 'reader') return part.undelivered_from
    }
    return undefined
  }
  assert.equal(await position(join(folder, 'all-delivered.export')), null)
  const [waits] = await event(acme.tenant_id)
  assert.equal(await position(join(folder, 'one-waits.export')), waits?.seq)
})

test('an unknown tenant has no export', async () => {
  await assert.rejects(writeExport(source.service, newId(), join(folder, 'none.export')), /no tenant/)
})
