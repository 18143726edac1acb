/** What every change of a tenant's policies and rules has in common, to be woven into its statements. */
import { sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'

/**
 * Lets one writer of the tenant's rule set through at a time. INVARIANT: a statement of its own, before the change: the
 * statement after it sees what the writer before has left, where the same statement would see what was there earlier.
 * Its own row is seen as that writer left it. Other rows may refer to the tenant meanwhile.
 */
export function lockRuleSet(tx: Tx): Statement<{ version: string }> {
  return sql<{ version: string }>`select rule_set_version::text as version from tenant
    where id = ${tx.tenant_id} for no key update`
}

/**
 * The update that gives the rule set its next version, if `changed`, the name of a common table expression, has a row.
 * INVARIANT: it stands in the transaction of the change, so that a version is one set of rules for ever.
 */
export function bumpRuleSet(tx: Tx, changed: Statement): Statement {
  return sql`update tenant set rule_set_version = rule_set_version + 1
    where id = ${tx.tenant_id}::uuid and exists (select from ${changed})`
}

/** The one statement of a change. INVARIANT: it changes nothing where `onlyIf`, a condition for its `where`, is false. */
export type RuleSetChange<Row> = (onlyIf: Statement) => Statement<Row>

/** How many ids an event names at most; how many there were it always says. */
const maxIdsShown = 100

/** Ids as plain facts of an event. */
export function idsTold(ids: readonly string[]): { ids: string[]; count: number } {
  return { ids: ids.slice(0, maxIdsShown), count: ids.length }
}
