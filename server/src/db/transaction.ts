import type { RowsOf, Statement, Tx } from '../kernel/context.ts'
import { type Connection, type Connections, type ConnectionTarget, connect, prepared } from './connect.ts'
import { translateDatabaseError } from './constraints.ts'

/** What works on rows outside any tenant: finding due work, the service's own keys. */
export type UnwalledTx = Pick<Tx, 'read' | 'write'>

/** The database, seen through its doors. Each statement passes in a transaction that knows whose rows it may touch. */
export type Database = {
  /** One tenant's rows, as the ordinary role. */
  tenant(tenant_id: string): Tx
  /** Across tenants, routing columns alone, as `sallyport_work`: it finds, it never reads content. */
  work: UnwalledTx
  /** Tables that belong to the service itself, as the ordinary role with no tenant named. */
  service: UnwalledTx
  /** Throws `unavailable` when the server does not answer. */
  probe(): Promise<void>
  close(): Promise<void>
}

/** Opens the doors on a pool of at most `size` connections as the service role. */
export function openDatabase(target: ConnectionTarget, size: number): Database {
  const pool = connect(target, size)
  return {
    tenant: (tenant_id) => tenantDoor(pool, tenant_id),
    work: unwalledDoor(pool, { text: 'set local role sallyport_work', values: [] }),
    service: unwalledDoor(pool),
    probe: async () => {
      await inOneTransaction(pool, [], [{ text: 'select 1', values: [] }])
    },
    close: () => pool.end(),
  }
}

function unwalledDoor(pool: Connections, ...opening: Statement[]): UnwalledTx {
  const run = (statements: readonly Statement[]) => inOneTransaction(pool, opening, statements)
  return {
    read: async <Row>(statement: Statement<Row>) => ((await run([statement]))[0] ?? []) as Row[],
    write: async <const Statements extends readonly Statement[]>(statements: Statements) =>
      (await run(statements)) as RowsOf<Statements>,
  }
}

function tenantDoor(pool: Connections, tenant_id: string): Tx {
  const walls: Statement = { text: `select set_config('app.tenant_id', $1, true)`, values: [tenant_id] }
  return {
    tenant_id,
    ...unwalledDoor(pool, walls),
    interactive: (work) => interactively(pool, walls, tenant_id, work),
  }
}

const begin: Statement = { text: 'begin', values: [] }
const commit: Statement = { text: 'commit', values: [] }
const rollback: Statement = { text: 'rollback', values: [] }

/** begin, opening, statements, commit: sent at once, so that all of it is one round trip. */
async function inOneTransaction(
  pool: Connections,
  opening: readonly Statement[],
  statements: readonly Statement[],
): Promise<unknown[][]> {
  const connection = await pool.connect().catch(translateDatabaseError)
  try {
    const answers = await sendAll(connection, [begin, ...opening, ...statements, commit])
    return answers.slice(1 + opening.length, -1)
  } finally {
    connection.release()
  }
}

/** A tenant's transaction that stays open between questions; for what one batch cannot say. */
async function interactively<Result>(
  pool: Connections,
  walls: Statement,
  tenant_id: string,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect().catch(translateDatabaseError)
  const inside: Tx = {
    tenant_id,
    read: async <Row>(statement: Statement<Row>) => ((await sendAll(connection, [statement]))[0] ?? []) as Row[],
    write: async <const Statements extends readonly Statement[]>(statements: Statements) =>
      (await sendAll(connection, statements)) as RowsOf<Statements>,
    interactive: (more) => more(inside),
  }
  try {
    await sendAll(connection, [begin, walls])
    const result = await work(inside)
    await sendAll(connection, [commit])
    return result
  } catch (error) {
    await sendAll(connection, [rollback]).catch(() => undefined)
    throw error
  } finally {
    connection.release()
  }
}

/** INVARIANT: the answers come in the order of the statements; the first failure is the one that is thrown. */
async function sendAll(connection: Connection, statements: readonly Statement[]): Promise<unknown[][]> {
  const settled = await Promise.allSettled(statements.map((statement) => connection.query(prepared(statement))))
  const failure = settled.find((outcome) => outcome.status === 'rejected')
  if (failure !== undefined) return translateDatabaseError(failure.reason)
  return settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.rows : []))
}
