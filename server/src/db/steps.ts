import type { RowsOf, Statement, Tx } from '../kernel/context.ts'
import { sql } from './sql.ts'

const begin = sql`savepoint step`
const end = sql`release savepoint step`
const undo = sql`rollback to savepoint step`

/**
 * Wraps the `Tx` of an open transaction so that each read, write or `interactive` fails alone, as in a transaction of its own: it
 * is rolled back to a savepoint, and the earlier work stays. So work that was written for its own transactions can be committed
 * together with other work, even if it throws. Await all of it before the transaction ends.
 */
export function inSteps(tx: Tx): Tx {
  const step = (statements: readonly Statement[]) =>
    rollBackOnError(tx, async () => (await tx.write([begin, ...statements, end])).slice(1, -1))
  return {
    tenant_id: tx.tenant_id,
    read: async <Row>(statement: Statement<Row>) => ((await step([statement]))[0] ?? []) as Row[],
    write: async <const Statements extends readonly Statement[]>(statements: Statements) =>
      (await step(statements)) as RowsOf<Statements>,
    async interactive(work) {
      await tx.write([begin])
      return rollBackOnError(tx, async () => {
        const result = await work(tx)
        await tx.write([end])
        return result
      })
    },
  }
}

async function rollBackOnError<Result>(tx: Tx, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    // A lost connection has rolled everything back; the first error is the one to report.
    await tx.write([undo, end]).catch(() => undefined)
    throw error
  }
}
