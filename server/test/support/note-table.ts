import { after, before, beforeEach } from 'node:test'
import { PgConnection, pipelined } from '../../src/db/client/pg-connection.ts'
import { sql } from '../../src/db/sql.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { testDatabase } from './database.ts'

export const note = (key: string, text = 'yes'): Statement => sql`insert into note (key, said) values (${key}, ${text})`
export const readNote = (key: string): Statement => sql`select said from note where key = ${key}`
export const failing = sql`select 1 / ${0}::int`

/** A database with a table of notes, and a connection to it; the next test gets a new connection if one broke it. */
export async function noteTable() {
  const db = await testDatabase()
  let connection: PgConnection | undefined
  const connected = () => connection as PgConnection

  before(async () => {
    await db.asSuperuser('create table note (key text primary key, said text)')
    await db.asSuperuser('grant select, insert, update on note to sallyport_app')
  })
  beforeEach(async () => {
    if (connection !== undefined && !connection.isLost) return
    connection = new PgConnection(pipelined(db.service))
    await connection.connect()
  })
  after(() => connection?.end())

  const run = (statements: readonly Statement[]) => connected().run(statements)
  /** The value in the only column of the first row. */
  const value = async (statement: Statement): Promise<unknown> => {
    const [rows = []] = await run([statement])
    return Object.values(rows[0] as Record<string, unknown>)[0]
  }
  return { db, connected, run, value }
}
