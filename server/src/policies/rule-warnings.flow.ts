import type { Ctx, Tx } from '../kernel/context.ts'
import { type Scope, scopeFromFields } from '../policy-engine/cedar/scope.ts'
import type { RuleStatement } from '../policy-engine/cedar/statement.ts'
import type { Rule } from '../policy-engine/rule.ts'
import { literalWarnings, unknownTo } from '../policy-facts/literals.ts'
import { readPolicyFacts } from '../policy-facts/policy-facts-store.ts'
import { findMissingPrincipal, findNeighbourhood } from './rule-store.ts'
import { workOnText } from './text-work.ts'
import { warningsFor, warningsModule } from './warnings.ts'

/**
 * The rule as a change returns it, with `warnings` where there are any; `statement` is its new one. The change is already saved, so a
 * warning that cannot be determined (such as when the database is too busy) is left out and fails nothing.
 */
export async function withWarnings(
  { tx, actor }: Pick<Ctx, 'tx' | 'actor'>,
  rule: Rule,
  statement: RuleStatement | undefined,
): Promise<Rule> {
  const { warnings: engine_warnings = [], literals = [] } = statement ?? {}
  const warnings = await Promise.all([
    findWarnings({ tx, actor }, rule, engine_warnings).catch(() => engine_warnings),
    literals.length === 0 ? [] : findLiteralWarnings(tx, actor.scopes, literals).catch(() => []),
  ]).then((found) => found.flat())
  return warnings.length === 0 ? rule : { ...rule, warnings: [...warnings] }
}

async function findWarnings(
  { tx, actor }: Pick<Ctx, 'tx' | 'actor'>,
  rule: Rule,
  engine_warnings: readonly string[],
): Promise<readonly string[]> {
  const principal = namedPrincipal(scopeFromFields(rule))
  const missing = principal === undefined ? undefined : await findMissingPrincipal(tx, principal, actor.scopes)
  const around = { except: { rule_id: rule.id }, action_ids: rule.action_ids }
  const facts = { rule, engine_warnings, missing, ...(await findNeighbourhood(tx, around)) }
  return workOnText(tx.tenant_id, rule.policy_text, warningsModule, warningsFor, [facts])
}

async function findLiteralWarnings(
  tx: Tx,
  scopes: ReadonlySet<string>,
  literals: RuleStatement['literals'],
): Promise<string[]> {
  const { literals: facts } = await readPolicyFacts(tx, literals, undefined)
  return literalWarnings(literals, unknownTo(scopes, literals, facts))
}

/** The principal that the scope names: the user, or the group or role that the user must be in. */
function namedPrincipal({ principal }: Scope): { type: string; id: string } | undefined {
  if (principal.scope === 'is_in') return principal.group
  return principal.scope === 'eq' || principal.scope === 'in' ? principal : undefined
}
