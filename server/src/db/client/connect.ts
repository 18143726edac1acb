import pg from 'pg'

/** The address of a PostgreSQL and the role: a connection string, or its parts. */
export type ConnectionTarget = pg.PoolConfig

const timestamptz = 1184
/** Parses a column's text by its type. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz ? toDateTime : pg.types.getTypeParser(oid, format as 'text'),
}

/** A connection that is not open yet. Connecting times out after 5 s, or after the target's own timeout. */
export function clientOn(target: ConnectionTarget, application_name: string): pg.Client {
  return new pg.Client({ connectionTimeoutMillis: 5_000, ...target, types, keepAlive: true, application_name })
}

/** One connection apart from those of the service, for migrations and set-up. Session state such as an advisory lock is safe on it. */
export type SingleConnection = pg.Client

export async function connectAlone(target: ConnectionTarget): Promise<SingleConnection> {
  const client = clientOn(target, 'sallyport-setup')
  await client.connect()
  return client
}

const inUtc = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/

/** A moment in its wire format: ISO 8601, UTC, milliseconds, `Z`. */
export function toDateTime(text: string): string {
  // Text that is already in UTC is cut directly: a list has a hundred moments, and a `Date` takes ten times as long.
  if (!inUtc.test(text)) return new Date(text).toISOString()
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`
}
