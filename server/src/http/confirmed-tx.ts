import type { Tx } from '../kernel/context.ts'
import { Problem, tenantSuspended } from '../kernel/errors.ts'
import type { Admission } from './admission.ts'

/**
 * The transactions of an operation that is confirmed. Before one commits, `findLoss` checks that the caller may still do it. A call
 * may wait, for a lock or for its turn, until the very change that takes the caller's rights, or ends their session, has committed;
 * without the check it would then undo that change. A loss rolls everything back, and is recorded afterwards.
 *
 * INVARIANT: `findLoss` reads outside the transaction. There it sees everything that the transaction waited for, and nothing of what
 * the transaction itself changed, such as a right that the caller gives back to themself.
 */
export function confirmedTx(
  tx: Tx,
  { findLoss, recordLoss }: { findLoss(): Promise<Problem | undefined>; recordLoss(loss: Problem): Promise<void> },
): Tx {
  let isRecorded = false
  async function interactive<Result>(work: (inside: Tx) => Promise<Result>): Promise<Result> {
    let loss: Problem | undefined
    try {
      return await tx.interactive(async (inside) => {
        const result = await work(inside)
        loss = await findLoss()
        if (loss !== undefined) throw loss
        return result
      })
    } catch (error) {
      if (loss !== undefined && error === loss) {
        // Once: the operation may try to record the refusal itself, which meets the same loss.
        if (isRecorded) loss.isRecorded = true
        else await recordLoss(loss)
        isRecorded = true
      }
      throw error
    }
  }
  return {
    tenant_id: tx.tenant_id,
    read: tx.read,
    interactive,
    write: (statements) => interactive((inside) => inside.write(statements)),
  }
}

/**
 * The answer to a caller who has lost a right since the call began, 401 or 403; undefined when they have all of them.
 * @param needed the scopes that the caller had, where the operation needs scopes
 * @param now what the caller's credential proves now; undefined when it is no longer valid
 */
export function lossOf(needed: ReadonlySet<string>, now: Admission | undefined): Problem | undefined {
  if (now === undefined) {
    return new Problem(
      'unauthenticated',
      'the credential ceased to be valid while this call ran, so it changed nothing',
    )
  }
  if (now.tenant_suspended) return tenantSuspended()
  const lost = [...needed].filter((scope) => !now.actor.scopes.has(scope))
  if (lost.length === 0) return undefined
  const message = `you lost rights while this call ran, so it changed nothing: ${lost.join(', ')}; call again`
  return new Problem('forbidden', message, { details: { scopes: lost } })
}
