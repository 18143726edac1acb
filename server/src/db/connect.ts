import pg from 'pg'

/** Where a PostgreSQL is and as whom: a connection string, or the parts of one. */
export type ConnectionTarget = pg.PoolConfig

const timestamptz = 1184
/** What becomes of a column's text, by its type. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === timestamptz ? toDateTime : pg.types.getTypeParser(oid, format as 'text'),
}

/** A connection that is not open yet; it is given up after 5 s without an answer. */
export function clientOn(target: ConnectionTarget, application_name: string): pg.Client {
  return new pg.Client({ ...target, types, keepAlive: true, connectionTimeoutMillis: 5_000, application_name })
}

/** One connection outside the lanes, for migrations and set-up: session state such as an advisory lock is safe on it. */
export async function connectAlone(target: ConnectionTarget): Promise<pg.Client> {
  const client = clientOn(target, 'sallyport-setup')
  await client.connect()
  return client
}

/** A moment as it goes over the wire: ISO 8601, UTC, milliseconds, `Z`. */
function toDateTime(text: string): string {
  return new Date(text).toISOString()
}
