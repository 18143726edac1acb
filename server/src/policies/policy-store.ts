import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import {
  bumpRuleSet,
  listedIds,
  lockRuleSet,
  type RuleSetChange,
} from '../policy-engine/deciding/rule-set-change-store.ts'
import type { Placed, Policy, PolicyChange } from './policy.ts'
import { rulesOf } from './rule-store.ts'
import { recordTexts } from './rule-texts-store.ts'

/** The columns of `p`, a policy, and its rules. */
function policyWithRules(tx: Tx): Statement {
  return sql`p.id, p.name, p.description, p.enabled, p.priority, p.created_at, p.updated_at, ${rulesOf(tx)} as rules`
}

type NewPolicy = {
  name: string
  description: string
  enabled: boolean
  priority?: number | undefined
  /** Marks the policy as the rehearsal's; left out: the tenant's own. */
  rehearsal?: string
}

/**
 * Creates a policy without rules and emits the event. Without a priority it comes last.
 * Undefined when another policy has the priority.
 */
export async function insertPolicy(ctx: WorkCtx, policy: NewPolicy): Promise<Policy | undefined> {
  const { tx } = ctx
  const id = newId()
  const priority = sql`${policy.priority ?? null}::integer`
  const event = { type: 'policy.created', subject_type: 'policy', subject_id: id } as const
  const [, [created]] = await tx.write([
    lockRuleSet(tx),
    sql<Policy>`with changed as (
        insert into policy (tenant_id, id, name, description, enabled, rehearsal, priority)
        select ${tx.tenant_id}::uuid, ${id}::uuid, ${policy.name}::text, ${policy.description}::text,
          ${policy.enabled}::boolean, ${policy.rehearsal ?? null}::text,
          coalesce(${priority}, (select max(priority) + 1 from policy where tenant_id = ${tx.tenant_id}), 0)
        where not exists (select from policy where tenant_id = ${tx.tenant_id} and priority = ${priority})
        returning *),
      bumped as (${bumpRuleSet(tx, sql`changed`)}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${policyWithRules(tx)} from changed p`,
  ])
  return created
}

/** The policy with this id. */
export function policyById(tx: Tx, id: string): Statement<Policy> {
  return sql<Policy>`select ${policyWithRules(tx)} from policy p where p.tenant_id = ${tx.tenant_id} and p.id = ${id}`
}

export async function findPolicy(tx: Tx, id: string): Promise<Policy | undefined> {
  const [found] = await tx.read(policyById(tx, id))
  return found
}

/** Saves the fields of a locked policy, and emits which. `fields` holds at least one, and each differs from the stored value. */
export async function savePolicy(
  ctx: WorkCtx,
  policy: Policy,
  change: { to: PolicyChange; fields: readonly (keyof PolicyChange)[] },
): Promise<Policy> {
  const { tx } = ctx
  const { name, description, enabled } = { ...policy, ...change.to }
  const summary = { change: 'policy_changed', fields: change.fields }
  const event = {
    type: 'policy.updated',
    subject_type: 'policy',
    subject_id: policy.id,
    data: change.fields.includes('enabled') ? { ...summary, enabled } : summary,
  } as const
  const [[saved]] = await tx.write([
    sql<Policy>`with changed as (
        update policy set name = ${name}, description = ${description}, enabled = ${enabled},
          updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id} and id = ${policy.id}
        returning *),
      bumped as (${bumpRuleSet(tx, sql`changed`)}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${policyWithRules(tx)} from changed p`,
  ])
  if (saved === undefined) throw new Error('a policy that was locked is gone')
  return saved
}

/** Deletes a policy with its rules and emits the event; no row when the policy does not exist. */
export function deletePolicyById(ctx: WorkCtx, id: string): RuleSetChange<{ id: string }> {
  const { tx } = ctx
  const event = { type: 'policy.deleted', subject_type: 'policy', subject_id: id } as const
  // Its rules go with the policy when the statement ends.
  const texts = sql`select r.id as rule_id, r.policy_text as before, null::text as after
    from policy_rule r where r.tenant_id = ${tx.tenant_id} and r.policy_id in (select id from changed)`
  return (onlyIf) => sql<{ id: string }>`with changed as (
        delete from policy where tenant_id = ${tx.tenant_id} and id = ${id} and ${onlyIf} returning id),
      bumped as (${bumpRuleSet(tx, sql`changed`)}),
      emitted as (${emit(ctx, event, sql`changed`)}),
      ${recordTexts(ctx, id, texts)}
      select id from changed`
}

/** Every policy's place, in order; locks the tenant's rule set until the transaction ends. For use inside `interactive`. */
export async function lockPolicyPlaces(tx: Tx): Promise<Placed[]> {
  const [, places] = await tx.write([
    lockRuleSet(tx),
    sql<Placed>`select id, priority as place from policy where tenant_id = ${tx.tenant_id} order by priority`,
  ])
  return places
}

/** Moves policies whose places are locked, and emits an event with the requested `ids`; no event without a move. */
export async function savePolicyPlaces(ctx: WorkCtx, moves: readonly Placed[], ids: readonly string[]): Promise<void> {
  const { tx } = ctx
  const event = {
    type: 'policy.reordered',
    subject_type: 'tenant',
    subject_id: tx.tenant_id,
    data: { change: 'policies_reordered', ...listedIds(ids) },
  } as const
  await tx.write([
    sql`with changed as (
        update policy p set priority = move.place, updated_at = clock_timestamp()
        from unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map(({ place }) => place)}::integer[])
          as move (id, place)
        where p.tenant_id = ${tx.tenant_id} and p.id = move.id
        returning p.id),
      bumped as (${bumpRuleSet(tx, sql`changed`)}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
  ])
}
