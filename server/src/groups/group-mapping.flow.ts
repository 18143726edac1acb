import type { WorkCtx } from '../kernel/context.ts'
import { lockMappingsInEffect, settleMappings, type Widened } from './group-mapping-store.ts'

/**
 * Makes a change by which groups may confer more scopes, and settles in the same transaction what that means for the mappings to them.
 * INVARIANT: every such change goes through here. Only inside `interactive`.
 */
export async function settleWidening<Result>(
  ctx: WorkCtx,
  widened: Widened,
  change: () => Promise<Result>,
): Promise<Result> {
  const mappings = await lockMappingsInEffect(ctx.tx, widened)
  const result = await change()
  if (mappings.length > 0) await settleMappings(ctx, mappings)
  return result
}
