import { sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import type { PolicyRule } from '../../policy-engine/deciding/rule-set.ts'
import { policyRuleAsJson } from '../../policy-engine/deciding/rule-set-store.ts'
import type { Rule } from '../../policy-engine/rule.ts'
import { ruleAsJson } from '../rule-store.ts'
import { type Draft, rulesChangedBy } from './draft.ts'
import type { Present } from './draft-work.ts'

type PresentRow = {
  version: string
  rule: PolicyRule | null
  /** On the first row only. */
  policies: Present['policies'] | null
  in_full: Rule[] | null
}

/**
 * The tenant's current policies and rules, as far as the draft needs them. One round trip, one snapshot; row by row, since parsing
 * ten thousand rules in one value would block the event loop.
 */
export async function readPresent(tx: Tx, draft: Draft): Promise<Present> {
  const once = (value: Statement) => sql`case when row_number() over () = 1 then ${value} end`
  const policies = sql`(select
      coalesce(jsonb_agg(jsonb_build_object('id', id, 'priority', priority, 'enabled', enabled)), '[]')
    from policy where tenant_id = ${tx.tenant_id})`
  const inFull = sql`(select coalesce(json_agg(${ruleAsJson}), '[]') from policy_rule r
    where r.tenant_id = ${tx.tenant_id} and r.id = any(${rulesChangedBy(draft)}::uuid[]))`
  const rows = await tx.read(sql<PresentRow>`select t.rule_set_version::text as version,
      case when r.id is not null then ${policyRuleAsJson} end as rule,
      ${once(policies)} as policies, ${once(inFull)} as in_full
    from tenant t
      left join (policy_rule r join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id) on r.tenant_id = t.id
    where t.id = ${tx.tenant_id}`)
  const [first] = rows
  if (first === undefined) throw new Error('the tenant of the caller does not exist')
  return {
    tenant_id: tx.tenant_id,
    version: first.version,
    policies: first.policies ?? [],
    rules: rows.flatMap(({ rule }) => rule ?? []),
    in_full: new Map(first.in_full?.map((rule) => [rule.id, rule])),
  }
}
