import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import { embeddedTarget } from './embedded.ts'
import type { Database } from './ends.ts'
import { type Asker, openHouses } from './houses.ts'
import type { Lived, LivesOrder } from './lives-process.ts'
import { peakMb, processorMs } from './processor-time.ts'
import { gather, type People, startService } from './sallyport.ts'

/** What a measurement of life cycles asks for. */
export type LivesWanted = Pick<LivesOrder, 'lives' | 'perSecond' | 'revoke'> & { atOnce?: number }

/**
 * The lives, the processor time of PostgreSQL and of Node for each, in milliseconds, and the most memory that Node has had since its start, in MB;
 * undefined where the system does not say.
 */
export type LivesMeasured = Lived & {
  postgres_ms: number | undefined
  node_ms: number | undefined
  node_mb: number | undefined
}

/** The real service with its embedded database, tenants, and people who live in them. */
export type LivesStage = {
  database: Database
  askers: readonly Asker[]
  live(wanted: LivesWanted): Promise<LivesMeasured>
  /** Stops the service, so that it writes what it was told to write at its end. */
  close(): Promise<void>
}

export type LivesOptions = {
  tenants: number
  people: number
  /** For Node, in its own way of writing them. */
  node_options?: string
  /** PostgreSQL counts what each statement costs. */
  counts_statements?: boolean
}

export async function openLivesStage(options: LivesOptions): Promise<LivesStage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    // Tokens are issued in the name of this URL, and the port changes with each start.
    const env = { DATA_DIR: folder, LOG_LEVEL: 'warn', PUBLIC_URL: 'http://127.0.0.1' }
    const first = await startService(env)
    const people = await prepare(first.base_url, folder, options).finally(first.stop)
    const node = options.node_options !== undefined && { NODE_OPTIONS: options.node_options }
    const service = await startService({ ...env, ...node })
    stops.push(service.stop)
    const { target, pid } = await findDatabase(folder)
    const database = await connectAlone(target)
    stops.push(() => database.end())
    const askers = await openHouses(database, people, options)
    let firstAccount = 100_000_000_000
    return {
      database,
      askers,
      async live({ atOnce = 16, ...wanted }) {
        const order = { ...wanted, atOnce, firstAccount, port: service.port, database: target, askers }
        firstAccount += wanted.lives
        const before = [processorMs(pid), processorMs(service.pid)]
        const lived = await liveElsewhere(order)
        const used = [processorMs(pid), processorMs(service.pid)].map((ms, at) => each(ms, before[at], wanted.lives))
        return { ...lived, postgres_ms: used[0], node_ms: used[1], node_mb: peakMb(service.pid) }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function each(after: number | undefined, before: number | undefined, count: number): number | undefined {
  return after === undefined || before === undefined ? undefined : (after - before) / count
}

async function prepare(base_url: string, folder: string, options: LivesOptions): Promise<People> {
  const people = await gather(base_url, folder)
  await addRule(base_url, people)
  if (!options.counts_statements) return people
  const { target } = await findDatabase(folder)
  const database = await connectAlone(target)
  // Takes effect with the next start.
  await database.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
  await database.query(`alter system set pg_stat_statements.track_planning = on`)
  await database.query('create extension pg_stat_statements')
  await database.end()
  return people
}

/** What the requests for `byRule` need: nobody decides them. */
export async function addRule(base_url: string, { tenant_id, owner }: People): Promise<void> {
  const headers = {
    'x-tenant-id': tenant_id,
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
  }
  const list = (await (await fetch(`${base_url}/v1/policies`, { headers })).json()) as { data: { id: string }[] }
  const policy_text =
    '@approval_mode("auto") permit (principal, action == Action::"AutoAccess", resource is cloud_account);'
  const reply = await fetch(`${base_url}/v1/policies/${list.data[0]?.id}/rules`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ policy_text }),
  })
  if (!reply.ok) throw new Error(`the rule was refused: ${await reply.text()}`)
}

async function findDatabase(data_dir: string): Promise<{ target: ConnectionTarget; pid: number }> {
  const target = await embeddedTarget(data_dir)
  const client = await connectAlone(target)
  const { rows } = await client.query<{ pid: string }>(
    `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`,
  )
  await client.end()
  return { target, pid: Number(rows[0]?.pid) }
}

/** Lives in a process of its own. */
export async function liveElsewhere(order: LivesOrder): Promise<Lived> {
  const child = fork(fileURLToPath(new URL('lives-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the process that asks ended with ${code}`)
  })
  child.send(order)
  const [lived] = (await Promise.race([once(child, 'message'), failed])) as [Lived]
  failed.catch(() => undefined)
  child.disconnect()
  return lived
}
