import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ConnectionTarget } from '../server/src/db/client/connect.ts'
import type { Database } from './ends.ts'
import { withoutNames } from './pgbench.ts'
import type { WireCall, WireTransaction } from './wire-recording.ts'

const run = promisify(execFile)

/** Transactions that each client sends, one after another: first those that only warm up, then those that are measured. */
export type Part = { warm: WireTransaction[]; measured: WireTransaction[] }

/**
 * Divides transactions over clients, one for each tenant, so that their order within a tenant is kept. `first`: the first that is measured.
 * A claim of due rows goes to the client of each tenant of which it found rows, and there claims rows of that tenant alone; what names no
 * tenant goes to all in turn.
 */
export function divide(transactions: readonly WireTransaction[], tenants: readonly string[], first: number): Part[] {
  const parts = new Map(tenants.map((id) => [id, { warm: [], measured: [] } as Part]))
  let turn = 0
  for (const [index, one] of transactions.entries()) {
    const own = tenantOf(one)
    const found = (own === undefined ? [...new Set(one.tenants)] : [own]).filter((id) => parts.has(id))
    const ids = found.length > 0 ? found : [tenants[turn++ % tenants.length] ?? '']
    for (const id of ids)
      parts.get(id)?.[index < first ? 'warm' : 'measured'].push({
        ...one,
        pipelines: one.pipelines.map((calls) => calls.map((call) => claimOf(call, id, tenants))),
      })
  }
  return [...parts.values()]
}

const claims = /^\s*with clock as materialized \(select clock_timestamp\(\) as now\)/

/**
 * A claim for one tenant: the list of the tenants that are left out is its first value. What becomes due within a second counts as due,
 * since pgbench waits for nothing.
 */
function claimOf({ text, values }: WireCall, tenant_id: string, tenants: readonly string[]): WireCall {
  if (!claims.test(text) || values[0] !== '{}') return { text, values }
  const others = tenants.filter((id) => id !== tenant_id)
  return {
    text: text.replace('clock_timestamp() as now', `clock_timestamp() + interval '1 second' as now`),
    values: [`{${others.join(',')}}`, ...values.slice(1)],
  }
}

/** The tenant whose rows a transaction may touch. */
function tenantOf({ pipelines }: WireTransaction): string | undefined {
  const opening = pipelines.flat().find(({ text }) => text.includes(`'app.tenant_id'`))
  return opening?.values.find((value) => value?.length === 36) ?? undefined
}

/** What one client of pgbench sends: it prepares the statements, warms up, waits for all others, and begins. */
function scriptOfPart({ warm, measured }: Part, lock: number): string {
  const names = new Map<string, string>()
  for (const { text } of [...warm, ...measured].flatMap(({ pipelines }) => pipelines.flat()))
    if (isPreparable(text) && !names.has(text)) names.set(text, `s${names.size}`)
  const prepared = [...names].map(([text, name]) => `prepare ${name} as ${withoutNames(text)};`)
  const lines = (transactions: readonly WireTransaction[]) =>
    transactions.flatMap(({ pipelines }) =>
      pipelines.flatMap((calls) => [
        '\\startpipeline',
        ...calls.map((call) => `${executed(call, names)};`),
        '\\endpipeline',
      ]),
    )
  return [
    ...prepared,
    ...lines(warm),
    // The role's own limit is shorter than the others may take to warm up.
    'set lock_timeout = 0; set statement_timeout = 0;',
    `select pg_advisory_lock_shared(${lock});`,
    'reset lock_timeout; reset statement_timeout;',
    ...lines(measured),
    '',
  ].join('\n')
}

const isPreparable = (text: string) => /^\s*(select|insert|update|delete|with|merge)\b/i.test(text)

function executed({ text, values }: WireCall, names: ReadonlyMap<string, string>): string {
  const name = names.get(text)
  if (name === undefined) return text
  return `execute ${name}${values.length === 0 ? '' : `(${values.map(literal).join(', ')})`}`
}

/** pgbench takes a colon and a word for one of its variables, and ends a statement at a line that it takes for a command. */
function literal(value: string | null): string {
  if (value === null) return 'null'
  const escapes: Record<string, string> = { '\\': '\\\\', "'": "''", ':': '\\x3a', '\n': '\\n' }
  return `E'${value.replaceAll(/[\\':\n]/g, (one) => escapes[one] ?? one)}'`
}

/** Lets one pgbench run for each part, all at once. `begin` is called when all have warmed up. Returns the seconds from there on. */
export async function replay(
  pgbench: string,
  target: ConnectionTarget,
  observer: Database,
  parts: readonly Part[],
  begin: () => Promise<void>,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-pgbench-'))
  const lock = 4711
  try {
    await observer.query('select pg_advisory_lock($1)', [lock])
    let hasFailed = false
    const clients = parts.map(async (part, index) => {
      const file = join(folder, `${index}.sql`)
      await writeFile(file, scriptOfPart(part, lock))
      await runScript(pgbench, target, file)
    })
    const all = Promise.all(clients)
    all.catch(() => {
      hasFailed = true
    })
    while (!hasFailed && (await waitingFor(observer, lock)) < parts.length) await pause(50)
    if (!hasFailed) await begin()
    const began = performance.now()
    await observer.query('select pg_advisory_unlock($1)', [lock])
    await all
    return (performance.now() - began) / 1000
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function waitingFor(observer: Database, lock: number): Promise<number> {
  const { rows } = await observer.query<{ count: number }>(
    `select count(*)::integer from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
    [lock],
  )
  return rows[0]?.count ?? 0
}

async function runScript(pgbench: string, target: ConnectionTarget, file: string): Promise<void> {
  const { host, port, user, password, database } = target
  const where = ['-h', host ?? '', '-p', String(port), '-U', user ?? '']
  const env = { PATH: process.env.PATH ?? '', ...(password !== undefined && { PGPASSWORD: String(password) }) }
  const how = ['-n', '-M', 'extended', '-c', '1', '-t', '1', '-f', file]
  const { stdout, stderr } = await run(pgbench, [...where, ...how, database ?? ''], { env, maxBuffer: 2 ** 26 })
  if (!/number of transactions actually processed: 1\/1/.test(stdout)) throw new Error(`pgbench failed: ${stderr}`)
}
