import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { PolicyRule } from './deciding/rule-set.ts'
import { policyRuleAsJson } from './deciding/rule-set-store.ts'
import { type Draft, rulesChangedBy } from './draft.ts'
import type { Present } from './draft-work.ts'
import type { Rule } from './rule.ts'
import { ruleAsJson } from './rule-store.ts'

type PresentRow = { version: string; policies: Present['policies']; rules: PolicyRule[]; in_full: Rule[] }

/** The tenant's policies and rules as they are now, as far as the draft needs them. One trip, one snapshot. */
export async function readPresent(tx: Tx, draft: Draft): Promise<Present> {
  const [row] = await tx.read(sql<PresentRow>`select t.rule_set_version::text as version,
      coalesce((select jsonb_agg(jsonb_build_object('id', p.id, 'priority', p.priority, 'enabled', p.enabled))
        from policy p where p.tenant_id = t.id), '[]') as policies,
      coalesce((select jsonb_agg(${policyRuleAsJson})
        from policy_rule r join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id
        where r.tenant_id = t.id), '[]') as rules,
      coalesce((select json_agg(${ruleAsJson})
        from policy_rule r where r.tenant_id = t.id and r.id = any(${rulesChangedBy(draft)}::uuid[])), '[]') as in_full
    from tenant t where t.id = ${tx.tenant_id}`)
  if (row === undefined) throw new Error('a tenant asks and is not there')
  const { version, policies, rules, in_full } = row
  return { tenant_id: tx.tenant_id, version, policies, rules, in_full: new Map(in_full.map((rule) => [rule.id, rule])) }
}
