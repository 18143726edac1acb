import type { WorkCtx } from '../../kernel/context.ts'
import { changeRulesAtOnce } from '../cases/change-rules.flow.ts'
import { type Import, saveImport } from './policy-file-store.ts'

/**
 * Saves an import; false where the tenant's rules changed since it was planned.
 * @throws Problem `case_broken` or `invalid_policy`
 */
export async function applyImport(ctx: WorkCtx, wanted: Import): Promise<boolean> {
  const { added, changed } = wanted.plan
  const addsLiterals = [...added, ...changed].some(({ statement }) => (statement?.literals.length ?? 0) > 0)
  const [answer] = await changeRulesAtOnce(ctx, saveImport(ctx, wanted), addsLiterals)
  return answer?.saved === true
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
