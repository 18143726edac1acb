import type { Tx } from '../kernel/context.ts'
import type { Rule } from './rule.ts'
import { findNeighbourhood } from './rule-store.ts'
import { warningsFor } from './warnings.ts'

/**
 * The rule as it is answered after a change: with `warnings` where there are any. The change stands already, so that a
 * warning which cannot be had (a database too busy to say) is left out and fails nothing.
 */
export async function withWarnings(tx: Tx, rule: Rule, engine_warnings: readonly string[]): Promise<Rule> {
  const warnings = await findWarnings(tx, rule, engine_warnings).catch(() => engine_warnings)
  return warnings.length === 0 ? rule : { ...rule, warnings: [...warnings] }
}

async function findWarnings(tx: Tx, rule: Rule, engine_warnings: readonly string[]): Promise<readonly string[]> {
  return warningsFor({ rule, engine_warnings, ...(await findNeighbourhood(tx, rule)) })
}
