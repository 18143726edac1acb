import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAlone } from '../server/src/db/connect.ts'
import { readRunningEmbedded } from '../server/src/db/embedded/start.ts'
import { seedManyGrants } from '../server/test/support/many-grants.ts'
import type { Bench, Effort } from './bench.ts'
import { gather, startService } from './sallyport.ts'

/**
 * Many grants that end at one instant, on the real service with the embedded database and the sandbox: how late each
 * revocation reaches the target, by the target's own record and the database's clock, and how requests are served meanwhile.
 */
export const grants: Bench = {
  summary: 'many grants that end at one instant: how late they are taken away, and who waits meanwhile',
  async run(effort, say) {
    const rows: string[][] = []
    for (const tenants of effort.isMiniature ? [3] : [50, 1]) {
      say(`${effort.grants} grants of ${tenants} tenants`)
      rows.push(...(await endAtOnce(effort, tenants)))
    }
    const notes = [
      'Dispatched: from the end of a grant to the moment that the sandbox notes the call which takes it away. Gone: to the moment ' +
        'that the ledger has seen at the sandbox that it is gone; the sandbox takes 50 ms for it. Asked from outside meanwhile: 100 ' +
        'reads and 20 new requests a second, whose grants are begun as well.',
    ]
    return { columns: ['ms', 'p50', 'p90', 'p99', 'max', 'count'], rows, notes }
  },
}

type Database = Awaited<ReturnType<typeof connectAlone>>

async function endAtOnce(effort: Effort, tenants: number): Promise<string[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
  try {
    const caller = makeCaller(service.base_url, await gather(service.base_url, folder))
    const database = await openDatabase(folder)
    const instant = await seed(database, effort, tenants)
    const quiet = await callFor(caller, () => pause(effort.seconds * 1_000))
    await until(database, 'select clock_timestamp() >= $1::timestamptz as met', instant, 10)
    const busy = await callFor(caller, () => until(database, allGone, instant, 200))
    const late = await lateness(database, instant)
    await database.end()
    if (late.dispatched.length !== effort.grants) {
      throw new Error(`${late.dispatched.length} of ${effort.grants} revocations were dispatched`)
    }
    const where = tenants === 1 ? 'one tenant' : `${tenants} tenants`
    return [
      [`${where}: dispatched after its end`, ...spread(late.dispatched)],
      [`${where}: gone after its end`, ...spread(late.gone)],
      [`${where}: a status view meanwhile`, ...spread(busy.reads)],
      ['the same, quiet', ...spread(quiet.reads)],
      [`${where}: a new request meanwhile`, ...spread(busy.asks)],
      ['the same, quiet', ...spread(quiet.asks)],
    ]
  } finally {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const allGone = `select not exists (select from access_grant where expires_at = $1::timestamptz
  and provisioning_status <> 'deprovisioned') as met`

/** p50, p90, p99, the largest, and how many. */
function spread(values: readonly number[]): string[] {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1)
  return [at(0.5), at(0.9), at(0.99), at(1), String(sorted.length)]
}

/** Milliseconds by which each revocation reached the target, and by which it was seen to be gone there. */
async function lateness(database: Database, instant: string): Promise<{ dispatched: number[]; gone: number[] }> {
  const ms = (moment: string) => `extract(epoch from ${moment} - g.expires_at)::float8 * 1000`
  const { rows } = await database.query<{ dispatched: number; gone: number }>(
    `select ${ms('min(o.created_at)')} as dispatched, ${ms('g.updated_at')} as gone
      from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      join sandbox_operation o on o.tenant_id = e.tenant_id and o.key = e.target_key and o.kind = 'delete'
      where g.expires_at = $1::timestamptz group by g.tenant_id, g.id`,
    [instant],
  )
  return { dispatched: rows.map((row) => row.dispatched), gone: rows.map((row) => row.gone) }
}

/** Answers the instant at which all of them end: late enough to seed them and to measure the quiet before. */
async function seed(database: Database, { grants, seconds }: Effort, tenants: number): Promise<string> {
  const lead = 5 + grants / 1_000 + seconds
  const { rows } = await database.query<{ ends: string }>(
    `select (clock_timestamp() + make_interval(secs => $1))::text as ends`,
    [lead],
  )
  const ends = rows[0]?.ends ?? ''
  await seedManyGrants((text, values) => database.query(text, values), grants, tenants, ends)
  await database.query('vacuum analyze entitlement, access_grant, sandbox_assignment')
  const { rows: left } = await database.query<{ seconds: number }>(
    'select extract(epoch from $1::timestamptz - clock_timestamp())::float8 as seconds',
    [ends],
  )
  if ((left[0]?.seconds ?? 0) < seconds) throw new Error('this machine is too busy to seed the grants before they end')
  return ends
}

async function openDatabase(data_dir: string): Promise<Database> {
  const endpoint = await readRunningEmbedded(data_dir)
  if (endpoint === undefined) throw new Error('the embedded database does not run')
  const { host, port, superuser: user, password } = endpoint
  return connectAlone({ host, port, user, database: 'sallyport', ...(password !== undefined && { password }) })
}

type Caller = { ask(): Promise<string>; read(id: string): Promise<unknown> }

/** Somebody of another tenant than those whose grants end, who asks for access and looks at how it stands. */
function makeCaller(base_url: string, { tenant_id, owner }: Awaited<ReturnType<typeof gather>>): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const headers = {
    'x-tenant-id': tenant_id,
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
  }
  const call = async (method: string, path: string, body?: unknown): Promise<{ id: string }> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(`${base_url}${path}`, { method, agent, headers }, resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
    const answer = await promise
    let text = ''
    for await (const chunk of answer.setEncoding('utf8')) text += chunk
    if ((answer.statusCode ?? 500) >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
    return JSON.parse(text) as { id: string }
  }
  const asked = {
    resource: { type: 'cloud_account', id: '111122223333' },
    action: 'ReadOnlyAccess',
    duration_seconds: 3_600,
  }
  return {
    ask: async () => (await call('POST', '/v1/requests', asked)).id,
    read: (id) => call('GET', `/v1/access/requests/${id}`),
  }
}

/** Milliseconds of each of 100 reads and 20 new requests a second, for as long as something else lasts. */
async function callFor(caller: Caller, during: () => Promise<unknown>): Promise<{ reads: number[]; asks: number[] }> {
  const reads: number[] = []
  const asks: number[] = []
  const calls: Promise<unknown>[] = []
  const timed = async (into: number[], call: () => Promise<unknown>) => {
    const began = performance.now()
    await call()
    into.push(performance.now() - began)
  }
  const id = await caller.ask()
  const reading = setInterval(() => calls.push(timed(reads, () => caller.read(id))), 10)
  const asking = setInterval(() => calls.push(timed(asks, caller.ask)), 50)
  try {
    await during()
  } finally {
    clearInterval(reading)
    clearInterval(asking)
  }
  await Promise.all(calls)
  return { reads, asks }
}

/** Asks the database until it is so. */
async function until(database: Database, question: string, instant: string, everyMs: number): Promise<void> {
  for (let tries = 0; tries < 600_000 / everyMs; tries += 1) {
    const { rows } = await database.query<{ met: boolean }>(question, [instant])
    if (rows[0]?.met) return
    await pause(everyMs)
  }
  throw new Error('it did not come to an end')
}
