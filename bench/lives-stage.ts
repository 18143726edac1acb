import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import { askProcess } from './elsewhere.ts'
import { embeddedTarget } from './embedded.ts'
import type { Database } from './ends.ts'
import { type Asker, openHouses } from './houses.ts'
import type { Lived, LivesOrder } from './lives-process.ts'
import { peakMb, processorMs } from './processor-time.ts'
import { gather, type People, startService } from './sallyport.ts'

/** What a measurement of life cycles asks for. */
export type LivesWanted = Pick<LivesOrder, 'lives' | 'perSecond' | 'approve' | 'revoke'> & {
  atOnce?: number
  /** Instead of those of the stage. */
  askers?: readonly Asker[]
}

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
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const askers = await makeTenants(folder, options)
    const stage = await openStageIn(folder, askers, options)
    return { ...stage, close: () => stage.close().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

// Tokens are issued in the name of this URL, and the port changes with each start.
const env = { LOG_LEVEL: 'warn', PUBLIC_URL: 'http://127.0.0.1' }

/** Makes the tenants and their people in an empty data folder. The service has ended afterwards. */
export async function makeTenants(folder: string, options: LivesOptions): Promise<Asker[]> {
  const service = await startService({ ...env, DATA_DIR: folder })
  try {
    return await prepare(service.base_url, folder, options)
  } finally {
    await service.stop()
  }
}

/** How a stage is opened in a folder that has tenants. */
export type StageOptions = Pick<LivesOptions, 'node_options'> & {
  /** Of lives that the folder does not have yet; the stage counts on from there. */
  firstAccount?: number
  /** For the service, which then uses another database than its own; `target` is where the stage finds it, of a server with this `pid`. */
  elsewhere?: { env: Record<string, string>; target: ConnectionTarget; pid: number }
}

/** Starts the service in a folder that has tenants, and leaves the folder when it ends. */
export async function openStageIn(
  folder: string,
  askers: readonly Asker[],
  { node_options, firstAccount = 100_000_000_000, elsewhere }: StageOptions = {},
): Promise<LivesStage> {
  const node = node_options !== undefined && { NODE_OPTIONS: node_options }
  const service = await startService({ ...env, DATA_DIR: folder, ...node, ...elsewhere?.env })
  const stops: (() => Promise<unknown>)[] = [service.stop]
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    const { target, pid } = elsewhere ?? (await findDatabase(folder))
    const database = await connectAlone(target)
    stops.push(() => database.end())
    let next = firstAccount
    return {
      database,
      askers,
      async live({ atOnce = 16, ...wanted }) {
        const processes = { postgres: pid, node: service.pid }
        const place = { firstAccount: next, port: service.port, database: target, processes }
        const order = { askers, ...wanted, atOnce, ...place }
        next += wanted.lives
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

async function prepare(base_url: string, folder: string, options: LivesOptions): Promise<Asker[]> {
  const people = await gather(base_url, folder)
  await addRule(base_url, people)
  const { target } = await findDatabase(folder)
  const database = await connectAlone(target)
  try {
    if (options.counts_statements) {
      // Takes effect with the next start.
      await database.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
      await database.query(`alter system set pg_stat_statements.track_planning = on`)
      await database.query('create extension pg_stat_statements')
    }
    return await openHouses(database, people, options)
  } finally {
    await database.end()
  }
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
export function liveElsewhere(order: LivesOrder): Promise<Lived> {
  return askProcess(new URL('lives-process.ts', import.meta.url), order)
}
