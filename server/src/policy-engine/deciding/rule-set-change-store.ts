/** The SQL that every change of a tenant's policies and rules has in common. */
import { sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'

/**
 * Serializes the writers of a tenant's rule set. INVARIANT: it is a separate statement before the change. The change then sees what
 * the previous writer committed; in the same statement it would see the older state. The locked row itself is returned as the
 * previous writer left it. Other rows may refer to the tenant meanwhile.
 */
export function lockRuleSet(tx: Tx): Statement<{ version: string }> {
  return sql<{ version: string }>`select rule_set_version::text as version from tenant
    where id = ${tx.tenant_id} for no key update`
}

/**
 * The update that gives the rule set its next version, if `changed`, the name of a common table expression, has a row.
 * INVARIANT: it runs in the transaction of the change, so that a version always means the same set of rules.
 */
export function bumpRuleSet(tx: Tx, changed: Statement): Statement {
  return sql`update tenant set rule_set_version = rule_set_version + 1
    where id = ${tx.tenant_id}::uuid and exists (select from ${changed})`
}

/** The one statement of a change. INVARIANT: it changes nothing where `onlyIf`, a condition for its `where`, is false. */
export type RuleSetChange<Row> = (onlyIf: Statement) => Statement<Row>

/** An event names at most this many ids; it always gives their number. */
const maxIdsShown = 100

/** Ids as plain facts of an event. */
export function listedIds(ids: readonly string[]): { ids: string[]; count: number } {
  return { ids: ids.slice(0, maxIdsShown), count: ids.length }
}
