import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { seedService, seedTenant } from '../../test/support/backup-seed.ts'
import { testDatabase } from '../../test/support/database.ts'
import { readBackupFile } from '../backup/backup-file.ts'
import type { ConnectionTarget } from '../db/client/connect.ts'

const db = await testDatabase()
await seedTenant(db, 'Acme')
await seedTenant(db, 'Beta')
await seedService(db)

const folder = await mkdtemp(join(tmpdir(), 'sallyport-file-command-'))
// As root, the embedded server runs as another user, who must be able to enter; otherwise it would use /var/lib.
await chmod(folder, 0o711)
after(() => rm(folder, { recursive: true }))

const addressOf = ({ user, password, host, port, database }: ConnectionTarget) =>
  `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(String(host))}&port=${port}`
const atServer = { DATABASE_URL: addressOf(db.service), DATA_DIR: join(folder, 'unused') }
const entry = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url))

type Ended = { code: number; out: string; err: string }
const run = (program: string, args: string[], env: Record<string, string>) =>
  new Promise<Ended>((resolve) => {
    const all = { PATH: process.env.PATH, ...env }
    execFile(program, args, { env: all, timeout: 60_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err })
    })
  })
const command = (name: string, args: string[], env: Record<string, string>) =>
  run(process.execPath, [entry(name), ...args], env)

/** All rows of a backup as text, without leases and without the server's own order of events. */
async function rowsOf(file: string): Promise<string[]> {
  const rows: string[] = []
  for await (const part of readBackupFile(file)) {
    if (part.kind !== 'rows') continue
    const plain = part.lines.map((line) =>
      line.replace(/"xid": "\d+", /, '').replace(/"lease_until": "[^"]*"/, '"lease_until": null'),
    )
    rows.push(...plain.map((line) => `${part.table} ${line}`))
  }
  return rows.sort()
}

test('an external database is restored into a new embedded one, and backed up again from there', async () => {
  const [first, second] = [join(folder, 'first.backup'), join(folder, 'second.backup')]
  const written = await command('backup', [first], atServer)
  assert.deepEqual([written.code, written.out], [0, ''], written.err)
  assert.match(
    written.err,
    /wrote `.*first.backup`: tenants 2, rows \d+\. The root key is not in it: keep `.*secret\.key`/,
  )
  const embedded = { DATA_DIR: join(folder, 'data') }
  const restored = await command('restore', [first], embedded)
  assert.equal(restored.code, 0, restored.err)
  assert.match(
    restored.err,
    /restored `.*first.backup`: tenants 2, .*put it into `.*data\/secret\.key` before you start/,
  )
  const again = await command('backup', [second], embedded)
  assert.equal(again.code, 0, again.err)
  assert.deepEqual(await rowsOf(second), await rowsOf(first))
  const twice = await command('restore', [first], embedded)
  assert.equal(twice.code, 1)
  assert.match(twice.err, /^restore failed: the database has tenants: restore into a new database/m)
})

test('a full disk is reported, and leaves no file', async () => {
  const file = join(folder, 'full.backup')
  const long = randomBytes(65_536).toString('base64')
  await db.asSuperuser(`insert into setting (tenant_id, key, value) select id, 'long', $1 from tenant`, [long])
  // The shell's limit of the file size, in blocks of 512 or 1024 bytes, simulates the full disk.
  const full = await run(
    'sh',
    ['-c', `ulimit -f 16; exec "$0" "$1" "$2"`, process.execPath, entry('backup'), file],
    atServer,
  )
  assert.equal(full.code, 1, full.err)
  assert.match(full.err, /backup failed: EFBIG/)
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('full')),
    [],
  )
})

const refusals: [string, string, string[], Record<string, string>, RegExp][] = [
  ['a backup without a file', 'backup', [], {}, /npm run backup -- FILE/],
  ['an unknown option', 'restore', ['--force'], {}, /npm run restore -- FILE/],
  ['two files', 'backup', ['a', 'b'], {}, /npm run backup -- FILE/],
  [
    'a data folder without a database',
    'backup',
    ['a'],
    { DATA_DIR: join(folder, 'none') },
    /there is no database in `.*none`/,
  ],
  ['a restore without the owner', 'restore', ['a'], atServer, /set DATABASE_OWNER_URL in addition to DATABASE_URL/],
  [
    'a role that is not the service’s',
    'backup',
    ['a'],
    { DATABASE_URL: addressOf(db.owner) },
    /must connect as `sallyport_app`/,
  ],
]
for (const [what, name, args, env, sentence] of refusals) {
  test(`refuses ${what}, in one sentence`, async () => {
    const { code, err } = await command(name, args, env)
    assert.equal(code, 1)
    assert.match(err, sentence)
  })
}

test('--help says that the root key is not in the file', async () => {
  for (const name of ['backup', 'restore']) {
    const { code, out } = await command(name, ['--help'], {})
    assert.equal(code, 0)
    assert.match(out, /The root key is NOT in/)
  }
})
