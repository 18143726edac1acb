import { beside } from '../../kernel/beside.ts'
import type { Ctx } from '../../kernel/context.ts'
import type { StatementFields } from '../../policy-engine/cedar/statement.ts'
import { unknownTo } from '../../policy-facts/literals.ts'
import { readPolicyFacts } from '../../policy-facts/policy-facts-store.ts'
import { findNeighbourhood } from '../rule-store.ts'
import type { NeighbourRule } from '../warnings.ts'
import { listedChanges } from './import-result.ts'
import { importWarningsModule, warningsOfAll } from './import-warnings.ts'
import type { FiledPolicy } from './policy-file.ts'
import type { ImportPlan } from './policy-import.ts'

/** Above this many names in one reply none is compared with the known names, because that costs the square of their number. */
const maxNames = 500

/**
 * The warnings of the rules that an import will add or change, by rule, for those that its answer tells one by one. As
 * with one rule, warnings that cannot be had are left out and fail nothing.
 */
export async function findImportWarnings(
  { tx, actor }: Pick<Ctx, 'tx' | 'actor'>,
  policy: FiledPolicy,
  plan: ImportPlan,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const listed = listedChanges(plan).flatMap(({ id, statement }) =>
    statement === undefined ? [] : [{ id, statement }],
  )
  if (listed.length === 0) return new Map()
  try {
    const literals = listed.flatMap(({ statement }) => statement.literals)
    const facts = literals.length === 0 ? new Map() : (await readPolicyFacts(tx, literals, undefined)).literals
    const named = listed.flatMap(({ statement }) => statement.fields.action_ids)
    const action_ids = named.length > maxNames ? [] : named
    const { others, known_actions } = await findNeighbourhood(tx, { except: { policy_id: policy.id }, action_ids })
    const known = action_ids.length === 0 ? named : known_actions
    const rules = [...others, ...(policy.enabled ? rulesAfter(policy, plan) : [])]
    const about = { listed, rules, known_actions: known, unknown: unknownTo(actor.scopes, literals, facts) }
    return await beside.run(tx.tenant_id, importWarningsModule, warningsOfAll, [about])
  } catch {
    return new Map(listed.map(({ id, statement }) => [id, statement.warnings]))
  }
}

/** The rules of the policy after the plan, without the texts, which the other thread does not need. */
function rulesAfter(policy: FiledPolicy, { added, changed, removed }: ImportPlan): NeighbourRule[] {
  const rules = new Map<string, StatementFields>(policy.rules.map((rule) => [rule.id, rule]))
  for (const id of removed) rules.delete(id)
  for (const { id, statement } of [...added, ...changed]) if (statement !== undefined) rules.set(id, statement.fields)
  return [...rules].map(([id, { policy_text, notice, audit_session, conditions = '', ...fields }]) => ({
    ...fields,
    id,
    conditions: conditions.slice(0, 1),
  }))
}
