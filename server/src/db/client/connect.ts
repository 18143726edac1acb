import pg from 'pg'

/** Where a PostgreSQL is and as whom: a connection string, or the parts of one. */
export type ConnectionTarget = pg.PoolConfig

const timestamptz = 1184
/** What becomes of a column's text, by its type. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz ? toDateTime : pg.types.getTypeParser(oid, format as 'text'),
}

/** A connection that is not open yet; it is given up after 5 s without an answer, or when the target says. */
export function clientOn(target: ConnectionTarget, application_name: string): pg.Client {
  return new pg.Client({ connectionTimeoutMillis: 5_000, ...target, types, keepAlive: true, application_name })
}

/** One connection beside those of the service, for migrations and set-up: session state such as an advisory lock is safe on it. */
export type SingleConnection = pg.Client

/** Opens one. */
export async function connectAlone(target: ConnectionTarget): Promise<SingleConnection> {
  const client = clientOn(target, 'sallyport-setup')
  await client.connect()
  return client
}

const inUtc = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/

/** A moment as it goes over the wire: ISO 8601, UTC, milliseconds, `Z`. */
export function toDateTime(text: string): string {
  // Cut from the text where it is in UTC already: a list has a hundred of them, and a `Date` takes ten times as long.
  if (!inUtc.test(text)) return new Date(text).toISOString()
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`
}
