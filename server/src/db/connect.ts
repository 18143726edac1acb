import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Statement } from '../kernel/context.ts'

/** Where a PostgreSQL is and as whom: a connection string, or the parts of one. */
export type ConnectionTarget = pg.PoolConfig

/** Connections to one server as one role. Imported by the rest of the house as the door in `transaction.ts`, never as this. */
export type Connections = pg.Pool
export type Connection = pg.PoolClient

const timestamptz = 1184
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz ? toDateTime : pg.types.getTypeParser(oid, format as 'text'),
}

/** Opens lazily: no connection is made before the first statement. `size` bounds how many there are. */
export function connect(target: ConnectionTarget, size: number): Connections {
  const pool = new pg.Pool({
    ...target,
    max: size,
    types,
    pipeline: true,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    application_name: 'sallyport',
  })
  // An idle connection that the server ends is no fault of any caller: the pool opens another.
  pool.on('error', () => undefined)
  return pool
}

/** One connection outside any pool, for migrations and set-up: session state such as an advisory lock is safe on it. */
export async function connectAlone(target: ConnectionTarget): Promise<pg.Client> {
  const client = new pg.Client({
    ...target,
    types,
    connectionTimeoutMillis: 5_000,
    application_name: 'sallyport-setup',
  })
  await client.connect()
  return client
}

/** The form in which `pg` takes a statement: prepared once a connection under a name made from its text. */
export function prepared(statement: Statement): pg.QueryConfig {
  return { name: nameOf(statement.text), text: statement.text, values: [...statement.values] }
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `s_${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`
  names.set(text, name)
  return name
}

/** A moment as it goes over the wire: ISO 8601, UTC, milliseconds, `Z`. */
function toDateTime(text: string): string {
  return new Date(text).toISOString()
}
