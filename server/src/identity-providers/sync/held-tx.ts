import type { Tx } from '../../kernel/context.ts'

/** The run is no longer this worker’s, or is to stop: what it was about to write is rolled back. */
export class LeaseLost extends Error {
  constructor() {
    super('the run is no longer this worker’s')
  }
}

/**
 * The transactions of a run. Before one commits, `isHeld` makes sure that the run is still to go on: a worker that lost its lease, or whose
 * provider was switched off, no longer changes anybody. It reads within the transaction, after all that it waited for.
 */
export function heldTx(tx: Tx, isHeld: (inside: Tx) => Promise<boolean>): Tx {
  const interactive: Tx['interactive'] = (work) =>
    tx.interactive(async (inside) => {
      const result = await work(inside)
      if (await isHeld(inside)) return result
      throw new LeaseLost()
    })
  return {
    tenant_id: tx.tenant_id,
    read: tx.read,
    interactive,
    write: (statements) => interactive((inside) => inside.write(statements)),
  }
}
