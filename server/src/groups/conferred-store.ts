import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** The scopes (`scope`) that a group (a value or a column) gives its members: a select to embed in another statement. */
export function conferred(tx: Tx, group_id: string | Statement): Statement<{ scope: string }> {
  return sql<{ scope: string }>`select distinct scope from group_role gr
    join role r on r.tenant_id = gr.tenant_id and r.id = gr.role_id, unnest(r.scopes) as scope
    where gr.tenant_id = ${tx.tenant_id}::uuid and gr.group_id = ${group_id}::uuid`
}

/** What each group of a select of `group_id` gives its members (`group_id`, `scopes`): read once per group, however often it is named. */
export function conferredByEach(tx: Tx, groups: Statement): Statement {
  return sql`select named.group_id, array(${conferred(tx, sql`named.group_id`)}) as scopes
    from (${groups}) named group by named.group_id`
}
