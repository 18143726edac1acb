import type { Actor, Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { Admission } from './admission.ts'

/**
 * The transactions of an operation of administrators. Before one commits, `confirm` checks that the caller may still do it. A call
 * may wait, for a lock or for its turn, until the very change that takes the caller's rights has committed; without the check it
 * would then undo that change.
 *
 * INVARIANT: `confirm` reads outside the transaction. There it sees everything that the transaction waited for, and nothing of what
 * the transaction itself changed, such as a right that the caller gives back to themself.
 */
export function confirmedTx(tx: Tx, confirm: () => Promise<void>): Tx {
  const interactive = <Result>(work: (inside: Tx) => Promise<Result>): Promise<Result> =>
    tx.interactive(async (inside) => {
      const result = await work(inside)
      await confirm()
      return result
    })
  return {
    tenant_id: tx.tenant_id,
    read: tx.read,
    interactive,
    write: (statements) => interactive((inside) => inside.write(statements)),
  }
}

/**
 * @param now what the caller's credential proves now; undefined when it is no longer valid
 * @throws Problem 401 or 403 when the caller has lost a right since the call began
 */
export function requireSameRights(before: Actor, now: Admission | undefined): void {
  if (now === undefined) {
    throw new Problem('unauthenticated', 'the credential ceased to be valid while this call ran, so it changed nothing')
  }
  const lost = [...before.scopes].filter((scope) => !now.actor.scopes.has(scope))
  if (lost.length === 0) return
  const message = `you lost rights while this call ran, so it changed nothing: ${lost.join(', ')}; call again`
  throw new Problem('forbidden', message, { details: { scopes: lost } })
}
