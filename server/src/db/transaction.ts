import type { RowsOf, Statement, Tx } from '../kernel/context.ts'
import type { ConnectionTarget } from './client/connect.ts'
import { type ConnectionLimits, Connections, type Load } from './client/connections.ts'
import { translateDatabaseError } from './client/constraints.ts'
import type { PgConnection } from './client/pg-connection.ts'
import { workRole } from './roles.ts'
import { sql } from './sql.ts'

/** Access to rows outside any tenant: due work, the service's own keys. */
export type UnrestrictedTx = Pick<Tx, 'read' | 'write'>

/** The database. Each statement runs in a transaction that determines which tenant's rows it may touch. */
export type Database = {
  /** One tenant's rows, as the ordinary role. */
  tenant(tenant_id: string): Tx
  /** Across tenants, routing columns only, as `sallyport_work`: it finds rows and never reads their content. */
  work: UnrestrictedTx
  /** Tables that belong to the service itself, as the ordinary role without a tenant. */
  service: UnrestrictedTx
  /** The current state of its connections. */
  load(): Load
  close(): Promise<void>
}

/** Opens the database as the service role. Connections are opened on demand. */
export function openDatabase(target: ConnectionTarget, limits: ConnectionLimits): Database {
  const connections = new Connections(target, limits)
  return {
    tenant: (tenant_id) => openTenant(connections, tenant_id),
    work: openUnrestricted(connections, ownTurn, { read: openingWork, plannedOnce: openingWork }),
    service: openUnrestricted(connections, ownTurn, { read: [], plannedOnce: [planForAllValues] }),
    load: () => connections.load(),
    close: () => connections.close(),
  }
}

/** The statements that open a transaction, by what follows them. */
type Opening = { read: readonly Statement[]; plannedOnce: readonly Statement[] }

/**
 * Rows so dear that PostgreSQL reads as few of them as it can. By its usual costs it would read whole tables of middling size to join them with
 * a few rows, and drop the rest. Plans seem dear then, so it would compile some and read others in parallel, for nothing.
 */
const fewestRows = sql`set_config('cpu_tuple_cost', '10', true), set_config('jit', 'off', true),
  set_config('max_parallel_workers_per_gather', '0', true)`

const planOnce = sql`set_config('plan_cache_mode', 'force_generic_plan', true), ${fewestRows}`

/** What writes and the search for due work need. They find rows by their keys: one plan is good for all values. */
export const planForAllValues = sql`select ${planOnce}`

/** `set local role` works only in an explicit transaction; a batch is an implicit one. */
const takeWorkRole = sql`set_config('role', ${workRole}, true)`
const openingWork: readonly Statement[] = [sql`select ${takeWorkRole}, ${planOnce}`]

const ordered = sql`set_config('enable_bitmapscan', 'off', true), ${fewestRows}`

/**
 * What a read in the order of an index needs. By its usual costs PostgreSQL would read a list by another index and drop the rows that do not
 * match, since it expects some that do everywhere. `of_partitions`: without sorts, which the merge of partitions does not need, and other reads
 * may.
 */
export const readInIndexOrder = {
  true: sql`select ${ordered}`,
  of_partitions: sql`select set_config('enable_sort', 'off', true), ${ordered}`,
}

let turns = 0

/** Work without a tenant, such as the search for due rows, waits for none of its own kind. */
function ownTurn(): string {
  turns += 1
  return `without a tenant ${turns}`
}

/** `turn`: whose turn for a connection a statement takes. */
function openUnrestricted(
  connections: Connections,
  turn: () => string,
  { read, plannedOnce }: Opening,
): UnrestrictedTx {
  const openingOf = ({ in_index_order, planned_once }: Statement) => {
    if (in_index_order !== undefined) return [...read, readInIndexOrder[`${in_index_order}`]]
    return planned_once ? plannedOnce : read
  }
  return {
    read: <Row>(statement: Statement<Row>) =>
      connections.read(openingOf(statement), statement, turn()).catch(translateDatabaseError) as Promise<Row[]>,
    write: <const Statements extends readonly Statement[]>(statements: Statements) =>
      connections.write(plannedOnce, statements, turn()).catch(translateDatabaseError) as Promise<RowsOf<Statements>>,
  }
}

function openTenant(connections: Connections, tenant_id: string): Tx {
  const tenant = sql`set_config('app.tenant_id', ${tenant_id}, true)`
  const setTenant = sql`select ${tenant}`
  return {
    tenant_id,
    ...openUnrestricted(connections, () => tenant_id, {
      read: [setTenant],
      plannedOnce: [sql`select ${tenant}, ${planOnce}`],
    }),
    interactive: (work) =>
      connections.hold((connection) => interactively(connection, setTenant, tenant_id, work), tenant_id),
  }
}

const begin = sql`begin`
const commit = sql`commit`
const rollback = sql`rollback`

/** A tenant's transaction that stays open across several round trips, for work that does not fit in one batch. */
async function interactively<Result>(
  connection: PgConnection,
  setTenant: Statement,
  tenant_id: string,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  // Sent with the first statement, so that it needs no round trip of its own.
  let opening: readonly Statement[] = [begin, setTenant]
  let isOver = false
  const send = async (statements: readonly Statement[]) => {
    // INVARIANT: afterwards the connection belongs to another caller, perhaps of another tenant.
    if (isOver) throw new Error('the transaction is over; await all of it before it ends')
    const first = opening
    opening = []
    const answers = await connection.run([...first, ...statements]).catch(translateDatabaseError)
    return answers.slice(first.length)
  }
  const inside: Tx = {
    tenant_id,
    read: async <Row>(statement: Statement<Row>) => ((await send([statement]))[0] ?? []) as Row[],
    write: async <const Statements extends readonly Statement[]>(statements: Statements) =>
      (await send(statements)) as RowsOf<Statements>,
    interactive: (more) => more(inside),
  }
  try {
    const result = await work(inside)
    isOver = true
    if (connection.transaction === 'failed')
      throw new Error('a statement of the transaction failed, so it cannot be committed')
    if (opening.length === 0) await connection.run([commit]).catch(translateDatabaseError)
    return result
  } catch (error) {
    isOver = true
    if (opening.length === 0) await connection.run([rollback]).catch(() => undefined)
    throw error
  }
}
