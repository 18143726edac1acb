import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { startingPolicy, startingRule } from '../policies/starting-rule.ts'
import { type RuleStatement, statementFromInput } from '../policy-engine/cedar/statement.ts'
import type { Mode, ModeCounts } from './mode.ts'
import { tenantCreated } from './tenant.ts'

/** The statement that inserts the transaction's tenant and emits the event. */
export function tenantInsert(ctx: WorkCtx, name: string): Statement {
  const { tenant_id } = ctx.tx
  return sql`with made as (insert into tenant (id, name) values (${tenant_id}, ${name}) returning id)
    ${emit(ctx, tenantCreated(tenant_id), sql`made`)}`
}

/** The starting rule's statement, once it was needed: the engine gives the same one every time. */
let starting: RuleStatement | undefined

/** The statement that inserts a tenant's starting policy. */
export function startingPolicyInsert(tx: Tx): Statement {
  starting ??= statementFromInput(startingRule)
  const { fields } = starting
  return sql`with made as (
      insert into policy (tenant_id, id, name, description, priority)
      values (${tx.tenant_id}, ${newId()}, ${startingPolicy.name}, ${startingPolicy.description}, 0)
      returning tenant_id, id)
    insert into policy_rule (tenant_id, id, policy_id, ordinal, effect, principal_scope_type,
      action_scope_type, action_ids, resource_scope_type, conditions, policy_text, audit_session)
    select tenant_id, ${newId()}::uuid, id, 0, ${fields.effect}::text, ${fields.principal_scope_type}::text,
      ${fields.action_scope_type}::text, ${fields.action_ids}::text[], ${fields.resource_scope_type}::text,
      ${fields.conditions ?? null}::text, ${fields.policy_text}::text, ${fields.audit_session}::boolean
    from made`
}

/** Every tenant's id, in order. */
export async function listTenantIds(work: UnrestrictedTx): Promise<string[]> {
  const rows = await work.read(sql<{ id: string }>`select id from tenant order by id`)
  return rows.map((row) => row.id)
}

/** How many tenants are in each mode. */
export async function countTenants(work: UnrestrictedTx): Promise<ModeCounts> {
  const rows = await work.read(sql<{ mode: Mode; tenants: number }>`
    select mode, count(*)::integer as tenants from tenant group by mode`)
  return { live: 0, rehearsal: 0, ...Object.fromEntries(rows.map(({ mode, tenants }) => [mode, tenants])) }
}

/** The lowest id of a tenant; undefined when there are none. */
export async function findOldestTenantId(work: UnrestrictedTx): Promise<string | undefined> {
  const [row] = await work.read(sql<{ id: string }>`select id from tenant order by id limit 1`)
  return row?.id
}

/** Whether there is any tenant, or the one with this id. */
export async function hasTenant(work: UnrestrictedTx, id?: string): Promise<boolean> {
  const which = id === undefined ? sql`` : sql` where id = ${id}`
  return (await work.read(sql`select id from tenant${which} limit 1`)).length > 0
}

/** The id of the only tenant; undefined when there are none, or several. */
export async function findOnlyTenant(work: UnrestrictedTx): Promise<string | undefined> {
  const [one, ...others] = await work.read(sql<{ id: string }>`select id from tenant limit 2`)
  return others.length === 0 ? one?.id : undefined
}

/** The tenant as its people see it, as one value: `{id, name, slug, mode}`. */
export function tenantAsJson(tx: Tx): Statement {
  return sql`(select jsonb_build_object('id', t.id, 'name', t.name, 'slug', t.slug, 'mode', t.mode)
    from tenant t where t.id = ${tx.tenant_id}::uuid)`
}

export type NamedTenant = { id: string; name: string; created_at: string }

/** Reads only columns that every version since the first has. */
export async function findTenantName(tx: Tx): Promise<NamedTenant | undefined> {
  const [row] = await tx.read(sql<NamedTenant>`select id, name, created_at from tenant where id = ${tx.tenant_id}`)
  return row
}

/** Any fixed number. Processes that start together run one at a time. */
const oneAtATime = 7_255_103

/** Blocks other processes from creating the first tenant until this transaction ends. Returns the time by the database's clock. */
export async function lockFirstTenant(tx: Tx): Promise<Date> {
  await tx.write([sql`select pg_advisory_xact_lock(${oneAtATime}::bigint)`])
  return readNow(tx)
}

/** The database's clock. */
export async function readNow(tx: Tx): Promise<Date> {
  const [row] = await tx.read(sql<{ now: string }>`select clock_timestamp() as now`)
  if (row === undefined) throw new Error('the database returned no time')
  return new Date(row.now)
}
