import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { appRole, ownerRole } from '../../src/db/roles.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts'
import { dataFolder, isAlive } from './data-folder.ts'
import { type Sallyport, startOn, urlOf } from './sallyport.ts'
import { asRole, makeTemplate, type TestServer, templateDatabase } from './server.ts'
import { until } from './wait.ts'

/** How a database can be unreachable: its processes have ended, or they exist and do not respond. */
export type Absence = 'stopped' | 'frozen'

/**
 * A PostgreSQL of the test's own, which the test may stop and freeze; removed when the file's tests are done. `folder`: where its data folder
 * is made.
 */
export async function startBreakableServer(folder = tmpdir()) {
  const dataDir = await mkdtemp(join(folder, 'sallyport-outage-'))
  const start = () => startEmbedded({ dataDir, log: () => undefined, onCrash: () => undefined })
  let embedded: EmbeddedPostgres = await start()
  let frozen: number[] = []
  const comeBack = async (absence: Absence) => {
    if (absence === 'frozen') for (const pid of frozen.splice(0)) signalIfThere(pid, 'SIGCONT')
    else embedded = await start()
  }
  after(async () => {
    await comeBack('frozen')
    await embedded.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const { host, port, superuser: user, password = '' } = embedded
  const server: TestServer = { host, port, user, password }
  await makeTemplate(server)
  return {
    startSallyport: async (env: Record<string, string> = {}): Promise<Sallyport> => {
      const databases = {
        DATABASE_URL: urlOf(asRole(server, appRole, 'app', templateDatabase)),
        DATABASE_OWNER_URL: urlOf(asRole(server, ownerRole, 'owner', templateDatabase)),
      }
      return startOn(databases, await dataFolder(), env)
    },
    asSuperuser: async <Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> => {
      const client = await connectAlone({ ...server, database: templateDatabase })
      try {
        return (await client.query<Row>(text, values)).rows
      } finally {
        await client.end()
      }
    },
    async goAway(absence: Absence): Promise<void> {
      if (absence === 'stopped') {
        process.kill(embedded.pid, 'SIGQUIT')
        await until('it has ended', async () => !isAlive(embedded.pid))
        await embedded.stop()
        return
      }
      // First the process that starts new ones.
      signalIfThere(embedded.pid, 'SIGSTOP')
      frozen = [embedded.pid, ...childrenOf(embedded.pid)]
      for (const pid of frozen) signalIfThere(pid, 'SIGSTOP')
    },
    comeBack,
    /** Whether its first process is there. */
    isAlive: () => isAlive(embedded.pid),
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, ppid] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? []
      return Number(ppid) === parent ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile.
  }
}
