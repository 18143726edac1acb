import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { startEmbedded } from '../../src/embedded-postgres/start.ts'

/** A PostgreSQL of the file's own, on a port, where passwords count: roles belong to a whole server. It ends with the file's tests. */
export async function startPasswordServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-passwords-'))
  const server = await startEmbedded({
    dataDir,
    log: () => undefined,
    onCrash: (reason) => console.error(reason),
    transport: 'loopback',
  })
  after(async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const { host, port, superuser, password = '' } = server
  const urlWith = (user: string, word: string, database = 'postgres', at = port) =>
    `postgres://${user}:${word}@${host}:${at}/${database}`
  return { port, superuser, password, urlWith, adminUrl: urlWith(superuser, password) }
}

/** The two lines that `db:setup` printed. */
export function setupLines(output: string): { DATABASE_URL: string; DATABASE_OWNER_URL: string } {
  const line = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(output)?.[1] ?? ''
  return { DATABASE_URL: line('DATABASE_URL'), DATABASE_OWNER_URL: line('DATABASE_OWNER_URL') }
}
