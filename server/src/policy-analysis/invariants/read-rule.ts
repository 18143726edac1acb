/** A rule as invariants need it: its scope and conditions parsed once. */
import type { Clause } from '../../policy-engine/cedar/engine.ts'
import { parseStatement } from '../../policy-engine/cedar/parse.ts'
import { approveAction } from '../../policy-engine/cedar/schema.ts'
import { type Scope, scopeFromEngine } from '../../policy-engine/cedar/scope.ts'
import { ruleSetsOf } from '../../policy-engine/cedar/validate.ts'
import { type AskSubset, type PolicyRule, takesPart } from '../../policy-engine/deciding/rule-set.ts'

export type ReadRule = {
  rule: PolicyRule
  scope: Scope
  clauses: readonly Clause[]
  /** The conditions, the same text for the same conditions; '' for none. */
  conditions: string
}

/** Parses rules; a rule in two sets is parsed once. */
export async function readRules(
  rules: readonly PolicyRule[],
  known: Map<string, ReadRule>,
  yieldToEventLoop: () => Promise<void>,
): Promise<ReadRule[]> {
  const read: ReadRule[] = []
  for (const rule of rules) {
    let parts = known.get(rule.policy_text)
    if (parts === undefined) {
      await yieldToEventLoop()
      const statement = parseStatement(rule.policy_text)
      const { conditions: clauses } = statement
      const conditions = clauses.length === 0 ? '' : JSON.stringify(clauses)
      parts = { rule, scope: scopeFromEngine(statement), clauses, conditions }
      known.set(rule.policy_text, parts)
    }
    read.push(parts.rule === rule ? parts : { ...parts, rule })
  }
  return read
}

/** Whether a rule takes part in a question about a request of this kind. */
export function isAsked({ rule, scope }: ReadRule, path: AskSubset): boolean {
  return ruleSetsOf(scope.action).includes('ask') && takesPart(rule, path)
}

/** Whether a rule takes part in questions about who may decide a request. */
export function isAboutApproving({ scope }: ReadRule): boolean {
  return ruleSetsOf(scope.action).includes('approve')
}

/** A requestable action that the scope covers, preferably one that it names; undefined for none. */
export function actionIn({ action }: Scope, among: Scope['action'] = { scope: 'any', ids: [] }): string | undefined {
  const fits = (id: string) => id !== approveAction && (among.scope === 'any' || among.ids.includes(id))
  if (action.scope === 'any')
    return among.scope === 'any' ? 'some-action' : among.ids.find((id) => id !== approveAction)
  return action.ids.find(fits)
}
