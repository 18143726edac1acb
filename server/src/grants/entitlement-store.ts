import { sql } from '../db/sql.ts'
import type { EventType } from '../events/catalogue.ts'
import { emitEach } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import { type Statement, systemActor, type Tx } from '../kernel/context.ts'
import { isBefore } from './grant-transition-store.ts'

/** INVARIANT: stands in the `where` of a write about one entitlement: a worker that lost its lease writes nothing. */
export function ours(tx: Tx, item: WorkItem): Statement {
  return sql`e.tenant_id = ${tx.tenant_id} and e.id = ${item.id} and e.generation = ${item.generation}::bigint`
}

export function grantsOf(tx: Tx, item: WorkItem): Statement {
  return sql`g.tenant_id = ${tx.tenant_id} and g.entitlement_id = ${item.id}`
}

/**
 * Whether a live grant wants the entitlement `e`. With its limit each such question is a look into an index; without, a plan
 * may read all grants of a tenant to answer many of them.
 */
export const isWanted = sql`(select true from access_grant live where live.tenant_id = e.tenant_id
  and live.entitlement_id = e.id and live.status in ('pending', 'active') limit 1) is not null`

/** Whether a pending grant waits for the entitlement `e`. */
export const isWaitedFor = sql`(select true from access_grant waiting where waiting.tenant_id = e.tenant_id
  and waiting.entitlement_id = e.id and waiting.status = 'pending' limit 1) is not null`

/** The same, beside the grants of a common table expression that ends them in this statement. */
export function isWaitedForBeside(ended: Statement): Statement {
  return sql`(select true from access_grant waiting where waiting.tenant_id = e.tenant_id
    and waiting.entitlement_id = e.id and waiting.status = 'pending'
    and waiting.id not in (select id from ${ended}) limit 1) is not null`
}

/** So long after a call that was not answered what it began is looked for: far longer than a target takes. */
export const lateEffectFor = sql`clock_timestamp() + interval '15 minutes'`

/** Whether the grant `g` has ended and its access is not yet taken away. */
export const isLeaving = sql`(${isBefore('finish')} and g.provisioning_status in ('deprovisioning', 'deprovisioning_failed'))`

/** An event of each grant of a common table expression, which names its entitlement: as if one worker had each in hand. */
export function emitOfGrants(tx: Tx, type: EventType, grants: Statement): Statement {
  const ctx = { tx, actor: systemActor, request_id: 'entitlement' }
  return emitEach(ctx, { type, subject_type: 'grant', worker: sql`'entitlement:' || entitlement_id` }, grants)
}

/**
 * The common table expression `mine`, for writes about many entitlements: those that are still held under their generation,
 * locked in the order of their ids, as whoever ends grants locks them. `facts`: more columns of the items, with types.
 * INVARIANT: every such write changes what is in `mine` and nothing else; a worker that lost a lease writes nothing there.
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
      select item.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as item (id uuid, generation bigint${facts})
      cross join lateral (
        select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.id = item.id
          and e.generation = item.generation and ${condition}
        for no key update) held)`
}

/** Has an entitlement on which an act is under way looked at now: its target has told how that went. */
export async function requestReconciliation(tx: Tx, provisioner_id: string, key: string): Promise<void> {
  await tx.write([
    sql`update entitlement e set next_look_at = clock_timestamp(), updated_at = clock_timestamp()
      where e.tenant_id = ${tx.tenant_id} and e.provisioner_id = ${provisioner_id} and e.target_key = ${key}
        and e.act is not null`,
  ])
}
