import type { WorkCtx } from '../../kernel/context.ts'
import { periodicGiveWay } from '../../kernel/yield-to-event-loop.ts'
import { changeRules } from '../cases/change-rules.flow.ts'
import { findPolicyUnchanged, type Import, recordImport, saveRules } from './policy-file-store.ts'
import { partsOf } from './policy-import.ts'

/**
 * Saves an import in one transaction; false where the tenant's rules changed since it was planned. One of many rules is saved in parts, and gives
 * way to other tenants between them.
 * @throws Problem `case_broken` or `invalid_policy`, and nothing is changed
 */
export function applyImport(ctx: WorkCtx, wanted: Import): Promise<boolean> {
  const { added, changed } = wanted.plan
  const addsLiterals = [...added, ...changed].some(({ statement }) => (statement?.literals.length ?? 0) > 0)
  const save = async (inside: WorkCtx, [policy]: { id: string }[]) => {
    if (policy === undefined) return false
    const giveWay = periodicGiveWay()
    await inside.tx.write([recordImport(inside, wanted)])
    for (const part of partsOf(wanted.plan)) {
      await inside.tx.write([saveRules(inside, wanted.policy_id, part)])
      await giveWay()
    }
    return true
  }
  return changeRules(ctx, findPolicyUnchanged(ctx.tx, wanted), save, () => addsLiterals)
}

/** Saves the import and rolls it back: it answers and throws what saving would. */
export async function tryImport(ctx: WorkCtx, wanted: Import): Promise<boolean> {
  const rolledBack = new Error('dry run, rolled back')
  let saved = false
  try {
    await ctx.tx.interactive(async (tx) => {
      saved = await applyImport({ ...ctx, tx }, wanted)
      throw rolledBack
    })
  } catch (error) {
    if (error !== rolledBack) throw error
  }
  return saved
}
