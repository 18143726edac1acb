import { isoMoment, sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { isUuid, newId } from '../kernel/id.ts'
import { approveAction } from '../policy-engine/cedar/schema.ts'
import type { RuleStatement, StatementFields } from '../policy-engine/cedar/statement.ts'
import {
  bumpRuleSet,
  listedIds,
  lockRuleSet,
  type RuleSetChange,
} from '../policy-engine/deciding/rule-set-change-store.ts'
import type { Rule } from '../policy-engine/rule.ts'
import { maxRules, type Placed } from './policy.ts'
import type { RuleChange } from './rule-change.ts'
import { recordTexts } from './rule-texts-store.ts'
import type { MissingPrincipal, NeighbourRule } from './warnings.ts'

/** Where a rule is. */
type RuleAt = { policy_id: string; rule_id: string }

/** `r`, a row of policy_rule, as the API returns it; empty fields are absent. */
export const ruleAsJson = sql`json_strip_nulls(json_build_object(
  'id', r.id, 'policy_id', r.policy_id, 'ordinal', r.ordinal, 'effect', r.effect,
  'principal_scope_type', r.principal_scope_type, 'principal_entity_type', r.principal_entity_type,
  'principal_entity_id', r.principal_entity_id,
  'action_scope_type', r.action_scope_type, 'action_ids', r.action_ids,
  'resource_scope_type', r.resource_scope_type, 'resource_entity_type', r.resource_entity_type,
  'resource_entity_id', r.resource_entity_id,
  'conditions', r.conditions, 'policy_text', r.policy_text, 'notice', r.notice, 'audit_session', r.audit_session,
  'approval_mode', r.approval_mode,
  'created_at', ${isoMoment(sql`r.created_at`)}, 'updated_at', ${isoMoment(sql`r.updated_at`)}))`

/** The rules of `p`, a policy, in their order, as a scalar subquery for another statement. */
export function rulesOf(tx: Tx): Statement {
  return sql`(select coalesce(json_agg(${ruleAsJson} order by r.ordinal, r.id), '[]')
    from policy_rule r where r.tenant_id = ${tx.tenant_id}::uuid and r.policy_id = p.id)`
}

/** The columns that hold a rule's statement. */
export const statementColumns = sql`effect, principal_scope_type, principal_entity_type, principal_entity_id,
  action_scope_type, action_ids, resource_scope_type, resource_entity_type, resource_entity_id, conditions,
  policy_text, notice, audit_session, approval_mode`

/** The fields of those columns, in their order. */
export const statementFields = statementColumns.text.split(/,\s*/) as (keyof StatementFields)[]

/** Those columns of a row that comes as JSON. */
const statementTypes = sql`effect text,
  principal_scope_type text, principal_entity_type text, principal_entity_id text, action_scope_type text,
  action_ids text[], resource_scope_type text, resource_entity_type text, resource_entity_id text, conditions text,
  policy_text text, notice text, audit_session boolean, approval_mode text`

/** A statement as one row of those columns. */
function statementRow({ fields }: RuleStatement): Statement {
  return sql`jsonb_to_record(${JSON.stringify(fields)}::jsonb) as s (${statementTypes})`
}

/** Statements of many rules as rows of those columns, with the rules' ids and ordinals. */
export function statementRows(rules: readonly { id: string; ordinal: number; statement: RuleStatement }[]): Statement {
  const rows = rules.map(({ id, ordinal, statement }) => ({ id, ordinal, ...statement.fields }))
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s (id uuid, ordinal integer, ${statementTypes})`
}

function ruleChanged(at: RuleAt, change: 'rule_created' | 'rule_changed' | 'rule_deleted'): NewEvent {
  const data = { rule_id: at.rule_id, change }
  return { type: 'policy.updated', subject_type: 'policy', subject_id: at.policy_id, data }
}

/** What the rule `r` says, as the texts of a change on record. */
const text = sql`r.policy_text`

/**
 * The expressions that follow `changed (id)` in every change of one rule: the policy's date, the version, the event. `texts`: what
 * the rule said and says, for the record, where the change is one of its text.
 */
function followed(
  ctx: WorkCtx,
  at: RuleAt,
  change: Parameters<typeof ruleChanged>[1],
  texts: { before?: Statement; after?: Statement },
): Statement {
  const { before = sql`null`, after = sql`null` } = texts
  const said = sql`select id as rule_id, ${before}::text as before, ${after}::text as after from changed r`
  return sql`touched as (update policy set updated_at = clock_timestamp()
        where tenant_id = ${ctx.tx.tenant_id}::uuid and id = ${at.policy_id}::uuid and exists (select from changed)),
      bumped as (${bumpRuleSet(ctx.tx, sql`changed`)}),
      emitted as (${emit(ctx, ruleChanged(at, change), sql`changed`)}),
      ${recordTexts(ctx, at.policy_id, said)}`
}

type NewRule = { policy_id: string; statement: RuleStatement; ordinal?: number | undefined }

/** The result of adding a rule. No rule: the policy does not exist, or the tenant has its maximum of rules. */
type RuleInserted = { has_policy: boolean; rule: Rule | null }

/** Adds a rule to a policy and emits the event. Without an ordinal it comes last; rules may share the largest ordinal. */
export function insertRule(ctx: WorkCtx, rule: NewRule): RuleSetChange<RuleInserted> {
  const { tx } = ctx
  const { policy_id } = rule
  const rule_id = newId()
  return (onlyIf) => sql<RuleInserted>`with target as (
        select id from policy where tenant_id = ${tx.tenant_id} and id = ${policy_id}),
      changed as (
        insert into policy_rule (tenant_id, id, policy_id, ordinal, saved_by, ${statementColumns})
        select ${tx.tenant_id}::uuid, ${rule_id}::uuid, target.id,
          coalesce(${rule.ordinal ?? null}::integer,
            (select max(least(ordinal::bigint + 1, 2147483647)) from policy_rule
              where tenant_id = ${tx.tenant_id} and policy_id = ${policy_id}), 0),
          ${ctx.actor.user_id}::uuid, ${statementColumns}
        from target, ${statementRow(rule.statement)}
        where ${onlyIf} and (select count(*) from policy_rule where tenant_id = ${tx.tenant_id}) < ${maxRules}
        returning *),
      ${followed(ctx, { policy_id, rule_id }, 'rule_created', { after: text })}
      select exists (select from target) as has_policy, (select ${ruleAsJson} from changed r) as rule`
}

/** The rule with this id in this policy. */
export function ruleAt(tx: Tx, at: RuleAt): Statement<{ rule: Rule }> {
  return sql<{ rule: Rule }>`select ${ruleAsJson} as rule from policy_rule r
    where r.tenant_id = ${tx.tenant_id} and r.policy_id = ${at.policy_id} and r.id = ${at.rule_id}`
}

export async function findRule(tx: Tx, at: RuleAt): Promise<Rule | undefined> {
  const [found] = await tx.read(ruleAt(tx, at))
  return found?.rule
}

/** Saves a locked rule and emits the event. */
export async function saveRule(ctx: WorkCtx, at: RuleAt, change: RuleChange): Promise<Rule> {
  const { tx } = ctx
  const statement =
    change.statement === undefined
      ? sql``
      : sql`, saved_by = ${ctx.actor.user_id}::uuid,
          (${statementColumns}) = (select ${statementColumns} from ${statementRow(change.statement)})`
  // The statement sees the row as it was, beside what it returns of it.
  const before = sql`(select was.policy_text from policy_rule was where was.tenant_id = r.tenant_id and was.id = r.id)`
  const [[saved]] = await tx.write([
    sql<{ rule: Rule }>`with changed as (
        update policy_rule set ordinal = ${change.ordinal}, updated_at = clock_timestamp() ${statement}
        where tenant_id = ${tx.tenant_id} and policy_id = ${at.policy_id} and id = ${at.rule_id}
        returning *),
      ${followed(ctx, at, 'rule_changed', change.statement === undefined ? {} : { before, after: text })}
      select ${ruleAsJson} as rule from changed r`,
  ])
  if (saved === undefined) throw new Error('a rule that was locked is gone')
  return saved.rule
}

/** Deletes a rule and emits the event; no row when the policy has no such rule. */
export function deleteRuleAt(ctx: WorkCtx, at: RuleAt): RuleSetChange<{ id: string }> {
  const { tx } = ctx
  return (onlyIf) => sql<{ id: string }>`with changed as (delete from policy_rule
        where tenant_id = ${tx.tenant_id} and policy_id = ${at.policy_id} and id = ${at.rule_id} and ${onlyIf}
        returning id, policy_text),
      ${followed(ctx, at, 'rule_deleted', { before: text })}
      select id from changed`
}

/**
 * The place of every rule of a policy, in order; locks the tenant's rule set until the transaction ends. For use inside
 * `interactive`. Undefined when there is no such policy.
 */
export async function lockRulePlaces(tx: Tx, policy_id: string): Promise<Placed[] | undefined> {
  const [, [policy]] = await tx.write([
    lockRuleSet(tx),
    sql<{ places: Placed[] }>`select coalesce((select json_agg(json_build_object('id', r.id, 'place', r.ordinal)
          order by r.ordinal, r.id)
        from policy_rule r where r.tenant_id = p.tenant_id and r.policy_id = p.id), '[]') as places
      from policy p where p.tenant_id = ${tx.tenant_id} and p.id = ${policy_id}`,
  ])
  return policy?.places
}

/** Moves rules whose places are locked, and emits an event with the requested `ids`; no event without a move. */
export async function saveRulePlaces(
  ctx: WorkCtx,
  policy_id: string,
  { moves, ids }: { moves: readonly Placed[]; ids: readonly string[] },
): Promise<void> {
  const { tx } = ctx
  const data = { change: 'rules_reordered', ...listedIds(ids) }
  const event = { type: 'policy.reordered', subject_type: 'policy', subject_id: policy_id, data } as const
  await tx.write([
    sql`with changed as (
        update policy_rule r set ordinal = move.place, updated_at = clock_timestamp()
        from unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map(({ place }) => place)}::integer[])
          as move (id, place)
        where r.tenant_id = ${tx.tenant_id} and r.policy_id = ${policy_id} and r.id = move.id
        returning r.id),
      touched as (update policy set updated_at = clock_timestamp()
        where tenant_id = ${tx.tenant_id} and id = ${policy_id} and exists (select from changed)),
      bumped as (${bumpRuleSet(tx, sql`changed`)}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select id from changed`,
  ])
}

/** The facts for the warnings of a rule. */
type Neighbourhood = { others: NeighbourRule[]; known_actions: string[] }

/** The maximum product of compared and known names: a comparison costs the square of their length. */
const maxComparisons = 2_000
/** A known name longer than this is never suggested. */
const maxProposalLength = 64

/** What new rules stand beside. `except`: the rule, or the policy with all of its rules, that they replace. */
type Place = { except: { rule_id: string } | { policy_id: string }; action_ids: readonly string[] }

/**
 * The other rules of the tenant's enabled policies; and, of the actions that other rules or requests have used, those of `action_ids` and
 * some more as suggestions. Only the beginning of each condition is read.
 */
export async function findNeighbourhood(tx: Tx, { except, action_ids }: Place): Promise<Neighbourhood> {
  const isOther = 'rule_id' in except ? sql`r.id <> ${except.rule_id}` : sql`r.policy_id <> ${except.policy_id}`
  const named = action_ids.filter((id) => id !== approveAction)
  // An action that an earlier version of the policy names is known.
  const known = knownActions(tx, 'rule_id' in except ? isOther : sql`true`, named)
  const [row] = await tx.read(sql<Neighbourhood>`select
      (select coalesce(json_agg(json_build_object('id', r.id, 'effect', r.effect,
          'principal_scope_type', r.principal_scope_type, 'principal_entity_type', r.principal_entity_type,
          'principal_entity_id', r.principal_entity_id,
          'action_scope_type', r.action_scope_type, 'action_ids', r.action_ids,
          'resource_scope_type', r.resource_scope_type, 'resource_entity_type', r.resource_entity_type,
          'resource_entity_id', r.resource_entity_id,
          'conditions', left(r.conditions, 1), 'approval_mode', r.approval_mode) order by r.id), '[]')
        from policy_rule r join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id
        where r.tenant_id = ${tx.tenant_id} and p.enabled and ${isOther}) as others,
      ${named.length === 0 ? sql`'{}'::text[]` : known} as known_actions`)
  return row ?? { others: [], known_actions: [] }
}

/** `isOther`: which rules `r` count. */
function knownActions(tx: Tx, isOther: Statement, named: readonly string[]): Statement {
  const proposals = Math.floor(maxComparisons / named.length)
  return sql`(with used as (
        select unnest(r.action_ids) as id from policy_rule r where r.tenant_id = ${tx.tenant_id} and ${isOther}
        union
        select action from access_request where tenant_id = ${tx.tenant_id})
      select array(select id from used where id = any(${[...named]}::text[]))
        || array(select id from used where char_length(id) <= ${maxProposalLength} and id <> ${approveAction}
          order by id limit ${proposals}))`
}

const maxUsedActions = 1_000
/** The number of requests searched, the latest first. */
const requestsLooked = 10_000

/** The requestable actions that the tenant's rules and requests have used: at most 1,000, those of rules first. */
export async function listUsedActions(tx: Tx): Promise<string[]> {
  const used = await tx.read(sql<{ id: string }>`with used as (
      select unnest(action_ids) as id, 0 as place from policy_rule where tenant_id = ${tx.tenant_id}
      union all
      select action, 1 from (select action from access_request where tenant_id = ${tx.tenant_id}
        order by id desc limit ${requestsLooked}) latest)
    select id from used where id <> ${approveAction} and not starts_with(id, '__')
    group by id order by min(place), id limit ${maxUsedActions}`)
  return used.map(({ id }) => id)
}

/** The tables of the principals that a rule may name, and their name columns. */
type PrincipalTable = { table: Statement; name: Statement; key: 'uuid' | 'text'; scope: string }

/** `scope`: with which a caller may read the names there. */
const principalTables: Record<string, PrincipalTable> = {
  User: { table: sql`tenant_user`, name: sql`email`, key: 'uuid', scope: 'users:read' },
  Group: { table: sql`tenant_group`, name: sql`name`, key: 'uuid', scope: 'groups:read' },
  Role: { table: sql`role`, name: sql`name`, key: 'text', scope: 'roles:read' },
}

/**
 * The principal, where the tenant has none with its id. Ids are compared as in policy, case-sensitively. `scopes`: of the caller, who does
 * not learn which names there are without the scope to read them.
 */
export async function findMissingPrincipal(
  tx: Tx,
  { type, id }: { type: string; id: string },
  scopes: ReadonlySet<string>,
): Promise<MissingPrincipal | undefined> {
  const place = principalTables[type]
  if (place === undefined) return undefined
  const { table, name, key, scope } = place
  const mine = sql`from ${table} t where t.tenant_id = ${tx.tenant_id}`
  const isId = key === 'text' ? sql`t.id = ${id}::text` : sql`t.id = ${isUuid(id) ? id : null}::uuid`
  const [found] = await tx.read(sql<{ is_there: boolean; is_name: boolean }>`select
    exists (select ${mine} and ${isId}) as is_there,
    exists (select ${mine} and lower(t.${name}) = lower(${id})) as is_name`)
  return found?.is_there === false ? { type, id, is_name: found.is_name && scopes.has(scope) } : undefined
}
