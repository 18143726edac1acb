import { sql } from '../db/sql.ts'
import type { EventType } from '../events/catalogue.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import { type Statement, systemActor, type Tx } from '../kernel/context.ts'
import { isBefore } from './grant-transition-store.ts'

/** INVARIANT: every write to one entitlement has this in its `where`: a worker that lost its lease writes nothing. */
export function ours(tx: Tx, item: WorkItem): Statement {
  return sql`e.tenant_id = ${tx.tenant_id} and e.id = ${item.id} and e.generation = ${item.generation}::bigint`
}

export function grantsOf(tx: Tx, item: WorkItem): Statement {
  return sql`g.tenant_id = ${tx.tenant_id} and g.entitlement_id = ${item.id}`
}

/**
 * Whether a live grant wants the entitlement `e`. The limit makes each check one index lookup. Without it, a query plan may
 * read all grants of a tenant to answer many checks.
 */
export const isWanted = sql`(select true from access_grant live where live.tenant_id = e.tenant_id
  and live.entitlement_id = e.id and live.status in ('pending', 'active') limit 1) is not null`

/** Whether a pending grant waits for the entitlement `e`. */
export const isWaitedFor = sql`(select true from access_grant waiting where waiting.tenant_id = e.tenant_id
  and waiting.entitlement_id = e.id and waiting.status = 'pending' limit 1) is not null`

/**
 * A row under one lease. INVARIANT: an answer about many rows is matched by it: of two workers with the same row, the one that lost its lease
 * must not take the other's answer.
 */
export const leaseOf = ({ id, generation }: Pick<WorkItem, 'id' | 'generation'>): string => `${id} ${generation}`

/** Rows as JSON for PostgreSQL, which accepts no half of a surrogate pair: a target may answer with one. */
export function asJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
}

/** Whether Sallyport made what holds the access, as a driver's `Target` says. */
export function isMade(target: Statement): Statement {
  return sql`(${target} @> '{"made": true}')`
}

/** How long after an unanswered call its late effect is still checked for: far longer than a target takes. */
export const lateEffectFor = sql`clock_timestamp() + interval '15 minutes'`

/**
 * A late effect of an unanswered call may come, or may have come unseen: where no grant wants the access, until a check that was due after that time
 * has seen that it is gone.
 */
export const mayLand = sql`(e.may_land_until is not null and (e.may_land_until > now() or not ${isWanted}))`

/**
 * It rests, and was checked after the time for a late effect. A process of version 0.1.0, which may still run beside this one, leaves the moment
 * there.
 */
export const landsNoMore = (entitlement: Statement) =>
  sql`(${entitlement}.next_look_at is null and ${entitlement}.may_land_until <= clock_timestamp())`

/** Whether the grant `g` has ended and its access is not yet revoked. */
export const isLeaving = sql`(${isBefore('finish')}
  and g.provisioning_status in ('deprovisioning', 'deprovisioning_failed'))`

/** Emits one event for each grant of a common table expression. The event's worker is the entitlement, as for a single run. */
export function emitOfGrants(tx: Tx, type: EventType, grants: Statement): Statement {
  const ctx = { tx, actor: systemActor, request_id: 'entitlement' }
  return emitEach(ctx, { type, subject_type: 'grant', worker: sql`'entitlement:' || entitlement_id` }, grants)
}

/**
 * The common table expression `mine`, for writes about many entitlements: those still held under their generation, locked in
 * the order of their ids. Code that ends grants uses the same order. `facts`: more columns of the items, with types.
 * INVARIANT: every such write changes only rows in `mine`; a worker that lost a lease writes nothing to that row.
 */
export function mine(
  tx: Tx,
  items: readonly ({ item: WorkItem } & Record<string, unknown>)[],
  facts: Statement = sql``,
  condition: Statement = sql`true`,
): Statement {
  const rows = items
    .map(({ item, ...rest }) => ({ ...rest, id: item.id, generation: item.generation }))
    .sort((one, other) => (one.id < other.id ? -1 : 1))
  return sql`mine as materialized (
      select item.* from jsonb_to_recordset(${asJson(rows)}::jsonb) as item (id uuid, generation bigint${facts})
      cross join lateral (
        select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.id = item.id
          and e.generation = item.generation and ${condition}
        for no key update) held)`
}

/** Locks entitlements in the order of their ids, before several writes about parts of them. */
export function holdEntitlements(tx: Tx, items: readonly WorkItem[]): Statement {
  return sql`select from entitlement e where e.tenant_id = ${tx.tenant_id}
    and e.id = any(${items.map(({ id }) => id)}::uuid[]) order by e.id for no key update`
}

/**
 * Whether the grant `g` is of an entitlement in `mine`. The array lets PostgreSQL find each grant by its key. By a join, a plan without
 * statistics would read all grants of the tenant.
 */
export function isOfMine({ tenant_id }: Tx): Statement {
  return sql`g.tenant_id = ${tenant_id} and g.entitlement_id = mine.id and g.id = any(array(
    select one.id from mine cross join lateral (
      select one.id from access_grant one where one.tenant_id = ${tenant_id} and one.entitlement_id = mine.id
      offset 0) one))`
}

/** Makes an entitlement with an act under way due now, because its target has reported how the act went. */
export async function requestReconciliation(tx: Tx, provisioner_id: string, key: string): Promise<void> {
  await tx.write([
    sql`update entitlement e set next_look_at = clock_timestamp(), updated_at = clock_timestamp()
      where e.tenant_id = ${tx.tenant_id} and e.provisioner_id = ${provisioner_id} and e.target_key = ${key}
        and e.act is not null`,
  ])
}
