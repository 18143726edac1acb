import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { WireStatement } from '../server/src/db/client/batch.ts'
import type { ConnectionTarget } from '../server/src/db/client/connect.ts'
import type { Tx } from '../server/src/kernel/context.ts'
import { idHead } from './rows.ts'

const run = promisify(execFile)
const home = '/usr/lib/postgresql'

/** PostgreSQL's own load generator, if the system has it. */
export function findPgbench(): string | undefined {
  const versions = existsSync(home) ? readdirSync(home).sort((one, other) => Number(other) - Number(one)) : []
  return versions.map((version) => join(home, version, 'bin', 'pgbench')).find((path) => existsSync(path))
}

/** Records the statements of a store without sending them. */
export async function recordStatements(
  tenant_id: string,
  query: (tx: Tx) => Promise<unknown>,
): Promise<WireStatement[]> {
  const recorded: WireStatement[] = []
  const tx = {
    tenant_id,
    read: async (statement: WireStatement) => {
      recorded.push(statement)
      return []
    },
    write: async (statements: readonly WireStatement[]) => {
      recorded.push(...statements)
      return statements.map(() => [])
    },
  }
  await query(tx as unknown as Tx).catch((error: unknown) => {
    // A store may fail on an answer without rows; its statements are recorded by then.
    if (recorded.length === 0) throw error
  })
  return recorded
}

/** A script of pgbench, and the values of its variables. */
export type Script = { text: string; values: Record<string, string> }

/**
 * The same statements as a script that begins with `lines`, which set `number`. The id `row_id` of the row is derived from it.
 * `twice` is a second recording: ids that differ in it are new in each call, so PostgreSQL makes them.
 */
export function scriptOf(
  tenant_id: string,
  lines: string[],
  statements: WireStatement[],
  twice: WireStatement[],
  row_id: string,
): Script {
  const values: Record<string, string> = { tenant: tenant_id }
  const made = new Set(idsIn(statements).filter((id) => !idsIn(twice).includes(id)))
  const body = statements.map(({ text, values: bound }, at) =>
    withoutNames(text).replaceAll(/\$(\d+)/g, (_, place: string) => {
      const value = bound[Number(place) - 1]
      if (value === row_id) return `('${idHead}' || :number)::uuid`
      if (typeof value === 'string' && made.has(value)) return 'gen_random_uuid()'
      if (value === null || value === undefined) return 'null'
      // pgbench does not accept an empty variable.
      if (value === '') return "''"
      const name = `v${at}_${place}`
      values[name] = Array.isArray(value) ? `{${value.join(',')}}` : String(value)
      const [inside] = idsIn([{ text: '', values: [value] }]).filter((id) => made.has(id))
      return inside === undefined ? `:${name}` : `replace(:${name}, '${inside}', gen_random_uuid()::text)`
    }),
  )
  const setTenant = `select set_config('app.tenant_id', :tenant, true);`
  return {
    text: [...lines, '\\startpipeline', setTenant, ...body.map((text) => `${text};`), '\\endpipeline', ''].join('\n'),
    values,
  }
}

/** pgbench takes a colon and a word for one of its variables, also within a literal such as 'requests:approve'. */
export function withoutNames(text: string): string {
  return text.replaceAll(/'([^':]*:)(\w[^']*)'/g, "('$1' || '$2')")
}

function idsIn(statements: readonly WireStatement[]): string[] {
  const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  return statements.flatMap(({ values }) =>
    values.flatMap((value) => (typeof value === 'string' ? (value.match(uuids) ?? []) : [])),
  )
}

/**
 * Runs the script with the prepared protocol; returns transactions per second.
 * @throws if any of them failed.
 */
export async function measureByPgbench(
  pgbench: string,
  { host, port, user, password, database }: ConnectionTarget,
  script: Script,
  { clients, seconds }: { clients: number; seconds: number },
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-pgbench-'))
  try {
    const file = join(folder, 'script.sql')
    await writeFile(file, script.text)
    const where = ['-h', host ?? '', '-p', String(port), '-U', user ?? '']
    const how = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds), '-f', file]
    const defines = Object.entries(script.values).flatMap(([name, value]) => ['-D', `${name}=${value}`])
    const env = { PATH: process.env.PATH ?? '', ...(password !== undefined && { PGPASSWORD: String(password) }) }
    const { stdout } = await run(pgbench, [...where, ...how, ...defines, database ?? ''], { env })
    const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1]
    if (tps === undefined) throw new Error(`pgbench did not say how fast it was:\n${stdout}`)
    return Number(tps)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
