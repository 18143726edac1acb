import type { RowsOf, Statement, Tx } from '../kernel/context.ts'

const begin: Statement = { text: 'savepoint step', values: [] }
const end: Statement = { text: 'release savepoint step', values: [] }
const undo: Statement = { text: 'rollback to savepoint step', values: [] }

/**
 * The door of an open transaction, made to fail as the tenant's own door does: what goes wrong in one read, write or
 * `interactive` is taken back alone, and what came before it stands. So work that was written for transactions of its own
 * can be committed together with something else, whatever it throws. All of it is to be awaited before the transaction ends.
 */
export function inSteps(tx: Tx): Tx {
  const step = (statements: readonly Statement[]) =>
    undoneOnError(tx, async () => (await tx.write([begin, ...statements, end])).slice(1, -1))
  return {
    tenant_id: tx.tenant_id,
    read: async <Row>(statement: Statement<Row>) => ((await step([statement]))[0] ?? []) as Row[],
    write: async <const Statements extends readonly Statement[]>(statements: Statements) =>
      (await step(statements)) as RowsOf<Statements>,
    async interactive(work) {
      await tx.write([begin])
      return undoneOnError(tx, async () => {
        const result = await work(tx)
        await tx.write([end])
        return result
      })
    },
  }
}

async function undoneOnError<Result>(tx: Tx, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    // A connection that is lost has undone everything; then the first error is the one to tell.
    await tx.write([undo, end]).catch(() => undefined)
    throw error
  }
}
