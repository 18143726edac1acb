import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import { appRole, ownerRole } from '../server/src/db/roles.ts'
import { startEmbedded } from '../server/src/embedded-postgres/start.ts'
import { newId } from '../server/src/kernel/id.ts'
import { growingTables } from '../server/test/support/multiply-lives.ts'
import type { Bench, Effort } from './bench.ts'
import type { Database } from './ends.ts'
import type { Asker } from './houses.ts'
import { timesOf, untilNotified } from './lives.ts'
import { makeTenants, openStageIn } from './lives-stage.ts'
import { findPgbench } from './pgbench.ts'
import { processorMs } from './processor-time.ts'
import { divide, type Part, replay } from './replayed-lives.ts'
import { median } from './rounds.ts'
import { urlOf } from './stage.ts'
import { recordWire } from './wire-recording.ts'

const columns = ['', 'lives a second', 'PostgreSQL', 'gone', 'rows of each', 'of pgbench']

type Counts = { tenants: number; askersOfEach: number; warm: number; lives: number }

/**
 * Each client of pgbench has the lives of one tenant, so that it sends them in their order. One asker has one life. The time in which pgbench
 * reads its script grows with the square of its length.
 */
const countsOf = ({ isMiniature }: Effort): Counts =>
  isMiniature
    ? { tenants: 3, askersOfEach: 8, warm: 6, lives: 24 }
    : { tenants: 16, askersOfEach: 40, warm: 160, lives: 640 }

/** A way of living the same lives on the same tables. */
type Speed = Effect & { perSecond: number; postgres_ms: number | undefined }

/** Whole life cycles, beside what PostgreSQL alone reaches with the statements of them. */
export const limit: Bench = {
  summary: 'whole life cycles, compared with pgbench, which sends the very statements of them',
  async run(effort, say) {
    const pgbench = findPgbench()
    const counts = countsOf(effort)
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    // Otherwise PostgreSQL's own user would not reach it, and all copies would have their database in one other place.
    await chmod(folder, 0o755)
    try {
      const askers = await prepare(join(folder, 'first'), counts)
      let copies = 0
      const copy = async () => {
        const to = join(folder, `${copies++}`)
        // With its owners: PostgreSQL refuses files that are not its own user's.
        await promisify(execFile)('cp', ['-a', join(folder, 'first'), to])
        return to
      }
      const recorded = await recordLives(await copy(), askers, counts)
      say(`recorded ${recorded.statements.toFixed(1)} statements for each life; ${recorded.failed} transactions failed`)
      const [service, alone]: [Speed[], Speed[]] = [[], []]
      for (let round = 1; round <= effort.rounds; round++) {
        const at = await copy()
        service.push(await measureService(at, askers, counts))
        await rm(at, { recursive: true })
        if (pgbench !== undefined) {
          const at = await copy()
          alone.push(await measureReplay(pgbench, at, recorded.parts, counts))
          await rm(at, { recursive: true })
        }
        say(`round ${round} of ${effort.rounds}`)
      }
      return tableOf(service, alone, recorded, counts, effort)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** Tenants with some lives, in a folder that is copied for each measurement. */
async function prepare(folder: string, counts: Counts): Promise<Asker[]> {
  const askers = await makeTenants(folder, { tenants: counts.tenants, people: counts.tenants * counts.askersOfEach })
  const stage = await openStageIn(folder, askers)
  try {
    await stage.live(warmUp(askers, counts))
    await untilNotified(stage.database)
    await stage.database.query(nameEvents)
    await stage.database.query('vacuum analyze')
  } finally {
    await stage.close()
  }
  return askers
}

/**
 * PostgreSQL makes random ids for some events. A replay must make the same ones, because notifications refer to them. Their first digits are those
 * of now, as events are partitioned by time.
 */
const nameEvents = `
  create function named_event() returns trigger language plpgsql as $$
    begin
      new.id := ('${newId().slice(0, 8)}' || substr(md5(new.type || new.subject_id || new.request_id), 9))::uuid;
      return new;
    end $$;
  create trigger named_event before insert on event for each row execute function named_event();`

/** One tenant after another, as `askers` are: many lives of one tenant share the statements of workers. */
const together = ({ lives }: Counts) => ({ lives, perSecond: null, revoke: 'each' }) as const

/** All tenants in turn. */
function warmUp(askers: readonly Asker[], { tenants, askersOfEach, warm }: Counts) {
  const mixed = Array.from(
    { length: warm },
    (_, at) => askers[(at % tenants) * askersOfEach + Math.floor(at / tenants)],
  )
  return { lives: warm, perSecond: null, revoke: 'each', askers: mixed.filter((one) => one !== undefined) } as const
}

const firstAccount = 200_000_000_000

async function measureService(folder: string, askers: readonly Asker[], counts: Counts): Promise<Speed> {
  const stage = await openStageIn(folder, askers, { firstAccount })
  try {
    await stage.live(warmUp(askers, counts))
    await untilNotified(stage.database)
    const before = await effectOf(stage.database)
    const lived = await stage.live(together(counts))
    const { lives_a_second } = await timesOf(stage.database, lived)
    await untilNotified(stage.database)
    const effect = await effectSince(stage.database, before, counts)
    return { perSecond: lives_a_second, postgres_ms: lived.postgres_ms, ...effect }
  } finally {
    await stage.close()
  }
}

type Recorded = Effect & { parts: Part[]; statements: number; failed: number }

/** What the service sends for the lives, from a proxy before its database. */
async function recordLives(folder: string, askers: readonly Asker[], counts: Counts): Promise<Recorded> {
  const { as, pid, superuser, stop } = await startPostgres(folder)
  const recording = await recordWire(as(appRole))
  try {
    const { user, host, port, database } = recording.target
    const env = {
      DATABASE_URL: `postgres://${user}@${host}:${port}/${database}`,
      DATABASE_OWNER_URL: urlOf(as(ownerRole)),
    }
    const stage = await openStageIn(folder, askers, { firstAccount, elsewhere: { env, target: as(superuser), pid } })
    try {
      await stage.live(warmUp(askers, counts))
      await untilNotified(stage.database)
      const before = await effectOf(stage.database)
      const first = recording.transactions.length
      await stage.live(together(counts))
      await untilNotified(stage.database)
      const transactions = recording.transactions.slice()
      const effect = await effectSince(stage.database, before, counts)
      const tenants = [...new Set(askers.map(({ tenant_id }) => tenant_id))]
      const statements = transactions.slice(first).flatMap(({ pipelines }) => pipelines.flat()).length / counts.lives
      return { parts: divide(transactions, tenants, first), ...effect, statements, failed: recording.failed() }
    } finally {
      await stage.close()
    }
  } finally {
    recording.close()
    await stop()
  }
}

async function measureReplay(pgbench: string, folder: string, parts: readonly Part[], counts: Counts): Promise<Speed> {
  const { as, pid, superuser, stop } = await startPostgres(folder)
  try {
    const observer = await connectAlone(as(superuser))
    try {
      let before: Effect = { gone: 0, rows: 0 }
      let began = processorMs(pid)
      const seconds = await replay(pgbench, as(appRole), observer, parts, async () => {
        before = await effectOf(observer)
        began = processorMs(pid)
      })
      const ended = processorMs(pid)
      const postgres_ms = ended === undefined || began === undefined ? undefined : (ended - began) / counts.lives
      return { perSecond: counts.lives / seconds, postgres_ms, ...(await effectSince(observer, before, counts)) }
    } finally {
      await observer.end()
    }
  } finally {
    await stop()
  }
}

async function startPostgres(dataDir: string) {
  const onCrash = (reason: string) => console.error(`PostgreSQL ended: ${reason}`)
  const running = await startEmbedded({ dataDir, log: () => undefined, onCrash })
  const { host, port, pid, superuser, stop } = running
  const as = (user: string): ConnectionTarget => ({ host, port, user, database: 'sallyport' })
  return { as, pid, superuser, stop }
}

/** What the lives have left behind so far: grants that are gone at the target, and rows of all tables that grow with each life. */
type Effect = { gone: number; rows: number }

async function effectOf(database: Database): Promise<Effect> {
  const counts = growingTables.map((table) => `(select count(*) from ${table})`)
  const { rows } = await database.query<Effect>(
    `select (select count(*) from access_grant where provisioning_status = 'deprovisioned')::float8 as gone,
      (${counts.join(' + ')})::float8 as rows`,
  )
  return rows[0] ?? { gone: 0, rows: 0 }
}

/** For each life. */
async function effectSince(database: Database, before: Effect, { lives }: Counts): Promise<Effect> {
  const after = await effectOf(database)
  return { gone: (after.gone - before.gone) / lives, rows: (after.rows - before.rows) / lives }
}

function tableOf(service: Speed[], alone: Speed[], recorded: Recorded, { tenants, lives }: Counts, { rounds }: Effort) {
  const row = (name: string, speeds: readonly Speed[], share: string) => [
    name,
    median(speeds.map(({ perSecond }) => perSecond)).toFixed(0),
    median(speeds.map(({ postgres_ms = Number.NaN }) => postgres_ms)).toFixed(1),
    `${(median(speeds.map(({ gone }) => gone)) * 100).toFixed(1)} %`,
    median(speeds.map(({ rows }) => rows)).toFixed(1),
    share,
  ]
  const share = median(service.map(({ perSecond }, round) => perSecond / (alone[round]?.perSecond ?? Number.NaN)))
  return {
    columns,
    rows: [
      ...(alone.length > 0 ? [row('pgbench', alone, '')] : []),
      row('the service', service, alone.length > 0 ? `${Math.round(share * 100)} %` : ''),
    ],
    notes: [
      `${lives.toLocaleString('en')} life cycles in ${tenants} tenants, 16 at once; medians of ${rounds} rounds on copies of one database. PostgreSQL: its processor time for each life, in ms.`,
      `pgbench: ${tenants} clients, each with the transactions of one tenant in their recorded order, ${recorded.statements.toFixed(1)} statements for each life, prepared and pipelined. ` +
        `In the recording ${(recorded.gone * 100).toFixed(1)} % were gone in the end, with ${recorded.rows.toFixed(1)} rows of each; ${recorded.failed} of its transactions failed, which pgbench leaves out.`,
      ...(alone.length > 0 ? [] : ['pgbench was skipped: it is not installed.']),
    ],
  }
}
