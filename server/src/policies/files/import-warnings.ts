import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { RuleStatement } from '../../policy-engine/cedar/statement.ts'
import { type NeighbourRule, warningsFor } from '../warnings.ts'

/** For calls of these functions beside the main thread. */
export const importWarningsModule = import.meta.url

type Facts = {
  listed: readonly { id: string; statement: RuleStatement }[]
  rules: readonly NeighbourRule[]
  known_actions: readonly string[]
}

/** The warnings of each listed rule among the rules, by its id. */
export async function warningsOfAll({ listed, rules, known_actions }: Facts): Promise<Map<string, readonly string[]>> {
  const yieldToEventLoop = periodicYield()
  const warnings = new Map<string, readonly string[]>()
  for (const { id, statement } of listed) {
    await yieldToEventLoop()
    const facts = { rule: statement.fields, engine_warnings: statement.warnings, known_actions }
    warnings.set(id, warningsFor({ ...facts, others: rules.filter((other) => other.id !== id) }))
  }
  return warnings
}
