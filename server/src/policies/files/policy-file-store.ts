import { sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import { bumpRuleSet, listedIds, type RuleSetChange } from '../../policy-engine/deciding/rule-set-change-store.ts'
import { ruleSetVersion } from '../../policy-engine/deciding/rule-set-store.ts'
import { statementColumns, statementFields, statementRows } from '../rule-store.ts'
import { recordTexts } from '../rule-texts-store.ts'
import type { FiledPolicy, FiledRule } from './policy-file.ts'
import type { ImportPlan } from './policy-import.ts'

/** A policy at a version of the tenant's rules, and the number of rules in all policies of the tenant. */
type PolicyAt = { policy: FiledPolicy; version: string; rule_count: number }

type FiledRow = Omit<FiledPolicy, 'rules'> & { rules: unknown[][] }

const filedFields = ['id', 'ordinal', ...statementFields]

/** The columns of `p`, a policy. Rules are arrays: that takes PostgreSQL a quarter of the time of objects as the API returns them. */
function filedPolicy(tx: Tx): Statement {
  return sql`p.id, p.name, p.description, p.enabled,
    (select coalesce(json_agg(json_build_array(r.id, r.ordinal, ${statementColumns}) order by r.ordinal, r.id), '[]')
      from policy_rule r where r.tenant_id = ${tx.tenant_id} and r.policy_id = p.id) as rules`
}

/** A rule by its columns; empty fields are absent. */
function ruleOf(values: readonly unknown[]): FiledRule {
  const fields = filedFields.map((name, place) => [name, values[place]] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as FiledRule
}

/** What a file says of the policy. */
export async function findFiledPolicy(tx: Tx, id: string): Promise<FiledPolicy | undefined> {
  const [found] = await tx.read(
    sql<FiledRow>`select ${filedPolicy(tx)} from policy p where p.tenant_id = ${tx.tenant_id} and p.id = ${id}`,
  )
  return found && { ...found, rules: found.rules.map(ruleOf) }
}

/** One round trip, under one snapshot. */
export async function findPolicyAt(tx: Tx, id: string): Promise<PolicyAt | undefined> {
  const [found] = await tx.read(sql<FiledRow & Omit<PolicyAt, 'policy'>>`select ${filedPolicy(tx)},
      ${ruleSetVersion(tx)} as version,
      (select count(*)::integer from policy_rule where tenant_id = ${tx.tenant_id}) as rule_count
    from policy p where p.tenant_id = ${tx.tenant_id} and p.id = ${id}`)
  if (found === undefined) return undefined
  const { version, rule_count, rules, ...policy } = found
  return { policy: { ...policy, rules: rules.map(ruleOf) }, version, rule_count }
}

/** What is imported: the policy, the version of the rules that the plan was made for, and the plan. */
export type Import = { policy_id: string; version: string; plan: ImportPlan }

/**
 * Applies the plan to the rules of a policy in one change, and emits the event. `saved` is false where the tenant's rules no longer
 * have that version. `plan` must contain a change.
 */
export function saveImport(ctx: WorkCtx, { policy_id, version, plan }: Import): RuleSetChange<{ saved: boolean }> {
  const { tx } = ctx
  const { added, changed, removed } = plan
  const rewritten = changed.flatMap(({ statement, ...rule }) =>
    statement === undefined ? [] : [{ ...rule, statement }],
  )
  const moved = changed.filter(({ statement }) => statement === undefined)
  const listed = (rules: readonly { id: string }[]) => listedIds(rules.map(({ id }) => id))
  const event = {
    type: 'policy.updated',
    subject_type: 'policy',
    subject_id: policy_id,
    data: { change: 'rules_imported', added: listed(added), changed: listed(changed), removed: listedIds(removed) },
  } as const
  // `policy_rule` is seen as it was before the statement.
  const texts = sql`select id as rule_id, policy_text as before, null::text as after from removed
    union all select n.id, was.policy_text, n.policy_text from rewritten n
      join policy_rule was on was.tenant_id = ${tx.tenant_id} and was.id = n.id
    union all select id, null, policy_text from added`
  return (onlyIf) => sql<{ saved: boolean }>`with target as (
        select p.id from policy p join tenant t on t.id = p.tenant_id
        where p.tenant_id = ${tx.tenant_id} and p.id = ${policy_id} and t.rule_set_version = ${version}::bigint
          and ${onlyIf}),
      removed as (
        delete from policy_rule r using target
        where r.tenant_id = ${tx.tenant_id} and r.policy_id = target.id and r.id = any(${removed}::uuid[])
        returning r.id, r.policy_text),
      moved as (
        update policy_rule r set ordinal = s.ordinal, updated_at = clock_timestamp()
        from target, ${places(moved)}
        where r.tenant_id = ${tx.tenant_id} and r.policy_id = target.id and r.id = s.id),
      rewritten as (
        update policy_rule r set ordinal = s.ordinal, saved_by = ${ctx.actor.user_id}::uuid,
          updated_at = clock_timestamp(),
          (${statementColumns}) = (select ${statementColumns} from (select s.*) one)
        from target, ${statementRows(rewritten)}
        where r.tenant_id = ${tx.tenant_id} and r.policy_id = target.id and r.id = s.id
        returning r.id, r.policy_text),
      added as (
        insert into policy_rule (tenant_id, id, policy_id, ordinal, saved_by, ${statementColumns})
        select ${tx.tenant_id}::uuid, s.id, target.id, s.ordinal, ${ctx.actor.user_id}::uuid, ${statementColumns}
        from target, ${statementRows(added)}
        returning id, policy_text),
      touched as (update policy set updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id}::uuid and id = (select id from target)),
      bumped as (${bumpRuleSet(tx, sql`target`)}),
      emitted as (${emit(ctx, event, sql`target`)}),
      ${recordTexts(ctx, policy_id, texts)}
      select exists (select from target) as saved`
}

function places(rules: readonly { id: string; ordinal: number }[]): Statement {
  return sql`unnest(${rules.map(({ id }) => id)}::uuid[], ${rules.map(({ ordinal }) => ordinal)}::integer[])
    as s (id, ordinal)`
}
