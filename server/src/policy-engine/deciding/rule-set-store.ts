import { sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { policyEvaluator } from './evaluate.ts'
import type { PolicyRule, RuleSet } from './rule-set.ts'

/** The version of the tenant's rules, as a scalar subquery for another statement. */
export function ruleSetVersion(tx: Tx): Statement {
  return sql`(select t.rule_set_version::text from tenant t where t.id = ${tx.tenant_id})`
}

/** The current version of the tenant's rules. */
export async function readRuleSetVersion(tx: Tx): Promise<string> {
  const [row] = await tx.read(sql<{ version: string }>`select ${ruleSetVersion(tx)} as version`)
  return row?.version ?? '0'
}

/** True while the tenant's rules still have that version; for the `where` of a write that depends on a decision. */
export function rulesAreStill(tx: Tx, version: string): Statement {
  return sql`exists (select from tenant t where t.id = ${tx.tenant_id} and t.rule_set_version = ${version}::bigint)`
}

/** Rule sets by tenant, the latest version of each; the least recently used are evicted first. */
const held = new Map<string, RuleSet>()
const maxRulesHeld = 50_000
let rulesHeld = 0

/** Whether `findRuleSet` has nothing to read: reading a large set takes time and should not happen while a lock is held. */
export function isRuleSetAtHand(tenant_id: string, version: string): boolean {
  return held.get(tenant_id)?.version === version
}

/**
 * The rules of the tenant's enabled policies at `version`, or at a later one where they changed meanwhile; prepared for decisions.
 * At most one round trip.
 */
export async function findRuleSet(tx: Tx, version: string): Promise<RuleSet> {
  const known = held.get(tx.tenant_id)
  if (known?.version === version) {
    held.delete(tx.tenant_id)
    held.set(tx.tenant_id, known)
    await policyEvaluator.rules.prepare(known)
    return known
  }
  const read = await readRuleSet(tx)
  // Callers that read one version at the same time all use the set that the first one cached, so it is prepared once.
  const kept = held.get(tx.tenant_id)
  const ruleSet = kept?.version === read.version ? kept : read
  keep(ruleSet)
  await policyEvaluator.rules.prepare(ruleSet, known)
  return ruleSet
}

type WithRules<Read> = Read extends undefined ? undefined : Read & { ruleSet: RuleSet }

/** How often something is read again while the rules change. */
const maxReads = 5

/**
 * What `read` returns, with the rules at the version that it read: settings by which rules decide belong to that version too. Reads
 * again where the rules changed meanwhile; undefined where it reads nothing.
 * @throws Problem 503 where the rules change again and again
 */
export async function readWithRules<Read extends { version: string } | undefined>(
  tx: Tx,
  read: () => Promise<Read>,
): Promise<WithRules<Read>> {
  for (let attempt = 0; attempt < maxReads; attempt += 1) {
    const found = await read()
    if (found === undefined) return undefined as WithRules<Read>
    const ruleSet = await findRuleSet(tx, found.version)
    if (ruleSet.version === found.version) return { ...found, ruleSet } as WithRules<Read>
  }
  throw new Problem('unavailable', 'the rules of the tenant are changing just now; try again in a moment')
}

function keep(ruleSet: RuleSet): void {
  rulesHeld += ruleSet.rules.length - (held.get(ruleSet.tenant_id)?.rules.length ?? 0)
  held.delete(ruleSet.tenant_id)
  held.set(ruleSet.tenant_id, ruleSet)
  for (const [tenant_id, oldest] of held) {
    if (rulesHeld <= maxRulesHeld || tenant_id === ruleSet.tenant_id) break
    held.delete(tenant_id)
    rulesHeld -= oldest.rules.length
  }
}

/** `r`, a row of policy_rule in the policy `p`, as decisions need it. */
export const policyRuleAsJson: Statement<PolicyRule> = sql`jsonb_build_object('id', r.id, 'policy_id', r.policy_id,
  'priority', p.priority, 'ordinal', r.ordinal, 'effect', r.effect, 'policy_text', r.policy_text, 'notice', r.notice,
  'audit_session', r.audit_session, 'approval_mode', r.approval_mode, 'saved_by', r.saved_by)`

/**
 * The rules as an open transaction has changed them, for use inside `interactive`. The transaction may roll back, so these rules are
 * not cached and have a version of their own.
 */
export async function readTrialRuleSet(tx: Tx): Promise<RuleSet> {
  return { ...(await readRuleSet(tx)), version: `trial:${newId()}` }
}

/**
 * Version and rules under one snapshot; row by row, since parsing ten thousand in one value would block the event loop. A database of an
 * earlier version has no column that says whether the tenant is suspended.
 */
async function readRuleSet(tx: Tx): Promise<RuleSet> {
  const rows = await tx.read(sql<{
    version: string
    suspended: boolean
    rule: PolicyRule | null
  }>`select t.rule_set_version::text as version,
      (select to_jsonb(own) ->> 'suspended_at' is not null from tenant own where own.id = ${tx.tenant_id}) as suspended,
      case when r.id is not null then ${policyRuleAsJson} end as rule
    from tenant t
      left join (policy_rule r join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id and p.enabled)
        on r.tenant_id = t.id
    where t.id = ${tx.tenant_id}`)
  const rules = rows.flatMap(({ rule }) => rule ?? [])
  const suspended = rows[0]?.suspended === true && { suspended: true }
  return { tenant_id: tx.tenant_id, version: rows[0]?.version ?? '0', rules, ...suspended }
}
