import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import type { RuleStatement } from '../../policy-engine/cedar/statement.ts'
import { literalWarnings } from '../../policy-facts/literals.ts'
import { type NeighbourRule, warningsFor } from '../warnings.ts'

/** For calls of these functions beside the main thread. */
export const importWarningsModule = import.meta.url

type Facts = {
  listed: readonly { id: string; statement: RuleStatement }[]
  rules: readonly NeighbourRule[]
  known_actions: readonly string[]
  /** The entities that the listed rules read and of which nothing is known. */
  unknown: ReadonlySet<string>
}

/** The warnings of each listed rule among the rules, by its id. */
export async function warningsOfAll(facts: Facts): Promise<Map<string, readonly string[]>> {
  const { listed, rules, known_actions, unknown } = facts
  const yieldToEventLoop = periodicYield()
  const warnings = new Map<string, readonly string[]>()
  for (const { id, statement } of listed) {
    await yieldToEventLoop()
    const others = rules.filter((other) => other.id !== id)
    const about = { rule: statement.fields, engine_warnings: statement.warnings, known_actions, others }
    warnings.set(id, [...warningsFor(about), ...literalWarnings(statement.literals, unknown)])
  }
  return warnings
}
