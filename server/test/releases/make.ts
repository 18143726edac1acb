/**
 * `node server/test/releases/make.ts`: makes what this version leaves, for the promise of decision 96, in a folder of its name beside
 * this file. Run it when all migrations of the version are in, and never again once the version is released.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectAlone } from '../../src/db/client/connect.ts'
import { startEmbedded } from '../../src/embedded-postgres/start.ts'
import { seedTenant } from '../support/backup-seed.ts'
import { packFolder } from '../support/packed-folder.ts'
import { startUnattended } from '../support/sallyport.ts'
import { type Holds, liveThere } from './live-there.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const folder = fileURLToPath(new URL(version, import.meta.url))
const data_dir = mkdtempSync(join(tmpdir(), 'sallyport-release-data-'))
// If root runs this, PostgreSQL runs as another user.
chmodSync(data_dir, 0o711)

try {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const holds = await fill()
  await seedEveryTable()
  runCommand('backup', join(folder, 'sallyport.backup'))
  dropWhatIsMadeAgain()
  writeFileSync(join(folder, 'data-folder.zst'), packFolder(data_dir))
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  const secret_key = readFileSync(join(data_dir, 'secret.key'), 'utf8').trim()
  const what = { version, commit, ...holds, secret_key }
  writeFileSync(join(folder, 'holds.json'), `${JSON.stringify(what, undefined, 2)}\n`)
  for (const name of readdirSync(folder)) {
    console.log(`server/test/releases/${version}/${name}: ${(statSync(join(folder, name)).size / 1_000).toFixed(0)} kB`)
  }
} finally {
  rmSync(data_dir, { recursive: true, force: true })
}

function runCommand(name: 'demo' | 'backup', ...args: string[]): void {
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env
  const env = { PATH, HOME, TMPDIR, DATA_DIR: data_dir }
  execFileSync(process.execPath, [join(root, `server/src/commands/${name}.ts`), ...args], { env, stdio: 'pipe' })
}

/** Plays the demo on a new service, and what `liveThere` does after it. */
async function fill(): Promise<Holds> {
  const service = await startUnattended(data_dir, {}, 'start')
  let holds: Holds
  try {
    runCommand('demo', '--data-dir', data_dir)
    holds = await liveThere(service)
  } finally {
    await service.stop()
  }
  if (service.exitCode() !== 0) throw new Error(`the service did not stop cleanly:\n${service.output()}`)
  return holds
}

/** A tenant with a row in every table: not one that the service would make, but one that its tables allow. */
async function seedEveryTable(): Promise<void> {
  const onCrash = (reason: string) => console.error(reason)
  const server = await startEmbedded({ dataDir: data_dir, log: () => undefined, onCrash })
  const { host, port, superuser: user, password } = server
  const client = await connectAlone({ host, port, user, password, database: 'sallyport' })
  await seedTenant({ asSuperuser: async (text, values = []) => (await client.query(text, values)).rows }, 'Seeded')
  // A service refuses a database that another root key sealed.
  await client.query('update tenant_key set root_key_id = (select min(root_key_id) from signing_key)')
  await client.query('delete from root_key where id not in (select root_key_id from tenant_key)')
  // The last segment of the log has as little in it as can be.
  await client.query('select pg_switch_wal()')
  await client.query('checkpoint')
  await client.end()
  await server.stop()
}

/** Leaves out the logs, the sockets, and segments of PostgreSQL's log that are prepared for later. */
function dropWhatIsMadeAgain(): void {
  const remove = (path: string) => rmSync(join(data_dir, path), { recursive: true })
  for (const name of readdirSync(data_dir)) if (/^postgres[-.]/.test(name)) remove(name)
  // A clean stop ends with a checkpoint, and PostgreSQL keeps nothing from before it. What comes after it is spare.
  const [, ...spare] = readdirSync(join(data_dir, 'postgres/pg_wal'))
    .filter((name) => /^[0-9A-F]{24}$/.test(name))
    .sort()
  for (const name of spare) remove(`postgres/pg_wal/${name}`)
}
