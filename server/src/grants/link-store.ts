import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Plan } from '../provisioners/driver.ts'
import type { ProvisionerRef } from '../provisioners/drivers.ts'
import { asJson, landsNoMore, leaseOf } from './entitlement-store.ts'
import type { GrantStatus } from './grant.ts'
import { keepSwept } from './sweep-store.ts'

/** A grant, the provisioner that serves it, and what the grant means there. */
export type Link = { item: WorkItem; ref: ProvisionerRef; plan: Plan }

export type LinkOutcome = 'linked' | 'lease_lost' | 'not_pending' | 'provisioner_changed'

/**
 * Links grants to the entitlements that their plans name and inserts those that are new. The entitlements are due now
 * and swept from now on. Whether the access was at the target before us is taken from the plan again whenever nothing of ours is
 * there and no late effect is possible. Access that was added there by hand is not ours. What the target said with an act about how to
 * connect is kept as long as that act's access is there. One round trip.
 *
 * A concurrent end of a grant locks the same holder: it commits before this, or after it and then finds the grant linked.
 * A grant is left as it was if its provisioner changed or was deleted since planning, if it has ended, or if the lease was lost.
 * A concurrent change or deletion of the provisioner commits before this, or after it and then finds the provisioner in use.
 */
export async function linkGrants(tx: Tx, links: readonly Link[]): Promise<LinkOutcome[]> {
  const rows = links.map(({ item, ref, plan }) => ({
    ...{ grant_id: item.id, generation: item.generation, entitlement_id: newId() },
    ...{ provisioner: ref.provisioner, provisioner_id: ref.provisioner_id, version: ref.provisioner_version },
    ...{ key: plan.key, target: plan.target, held: plan.held, connect: plan.connect },
    ...{ session_seconds: plan.session_seconds, recorded_as: plan.recorded_as ?? null },
  }))
  rows.sort((one, other) => (one.grant_id < other.grant_id ? -1 : 1))
  const { linking, locks } = linkingOf(tx, asJson(rows))
  const named = (ref: ProvisionerRef) => `${ref.provisioner} ${ref.provisioner_id} ${ref.provisioner_version}`
  const refs = new Map(links.map(({ ref }) => [named(ref), ref]))
  const inOrder = [...refs.keys()].sort().flatMap((name) => refs.get(name) ?? [])
  const answers = await tx.write([
    ...locks,
    insertEntitlements(tx, linking),
    sql<Linked>`with ${linking},
      ours as materialized (
        select l.grant_id, l.generation, l.is_served, g.status, e.id as entitlement_id
        from linking l
        cross join lateral (select g.status from access_grant g where g.tenant_id = ${tx.tenant_id}
          and g.id = l.grant_id and g.generation = l.generation for no key update) g
        left join lateral (select e.id from entitlement e where e.tenant_id = ${tx.tenant_id}
          and e.provisioner = l.provisioner and e.target_key = l.key offset 0) e on true),
      linked as (
        update access_grant g set entitlement_id = ours.entitlement_id, next_look_at = null, lease_until = null,
          failures = 0, last_error = null, updated_at = clock_timestamp()
        from ours where g.tenant_id = ${tx.tenant_id} and g.id = ours.grant_id and ours.status = 'pending'
          and ours.is_served
        returning g.id)
      select ours.grant_id as id, ours.generation::text, ours.status,
        ours.grant_id in (select id from linked) as linked
      from ours`,
    ...inOrder.map((ref) => sql`with ${servedOf(tx, ref)} ${keepSwept(tx, ref, isServed(ref))}`),
  ])
  const outcomes = answers[locks.length + 1] as Linked[]
  const found = new Map(outcomes.map((row) => [leaseOf(row), row]))
  return links.map(({ item }) => outcomeOf(found.get(leaseOf(item))))
}

type Linked = Pick<WorkItem, 'id' | 'generation'> & { linked: boolean; status: GrantStatus }

function outcomeOf(row: Linked | undefined): LinkOutcome {
  if (row === undefined) return 'lease_lost'
  if (row.linked) return 'linked'
  return row.status === 'pending' ? 'provisioner_changed' : 'not_pending'
}

/**
 * The common table expression `linking`, the rows; `is_served`: its provisioner is still the one of the plan. And the statements before
 * it, so that it sees what their locks waited for. They lock in the order that all code keeps: provisioners, holders, entitlements.
 */
function linkingOf(tx: Tx, rows: string): { linking: Statement; locks: Statement[] } {
  const links = sql`jsonb_to_recordset(${rows}::jsonb) as l (grant_id uuid, generation bigint, entitlement_id uuid,
    provisioner text, provisioner_id uuid, version integer, key text, target jsonb, held boolean, connect jsonb,
    session_seconds integer, recorded_as text)`
  const served = sql`exists (select from provisioner p where p.tenant_id = ${tx.tenant_id} and p.id = l.provisioner_id
    and p.version = l.version)`
  const linking = sql`linking as materialized (
    select l.*, l.provisioner_id is null or ${served} as is_served from ${links})`
  const locks = [
    sql`select from provisioner p where p.tenant_id = ${tx.tenant_id}
      and p.id = any(array(select distinct l.provisioner_id from ${links})) order by p.id for key share`,
    sql`select from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = any(array(
        select g.user_id from ${links} cross join lateral (select g.user_id from access_grant g
          where g.tenant_id = ${tx.tenant_id} and g.id = l.grant_id and g.generation = l.generation offset 0) g))
      order by u.id for share`,
    sql`select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.id = any(array(
        select e.id from ${links} cross join lateral (select e.id from entitlement e where e.tenant_id = ${tx.tenant_id}
          and e.provisioner = l.provisioner and e.target_key = l.key offset 0) e))
      order by e.id for no key update`,
  ]
  return { linking, locks }
}

/** Of grants with the same meaning, the plan of the last counts. */
function insertEntitlements(tx: Tx, linking: Statement): Statement {
  return sql`with ${linking}
    insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, session_seconds,
      recorded_as, connect, held_before, observed, next_look_at, gives)
    select distinct on (l.provisioner, l.key) ${tx.tenant_id}::uuid, l.entitlement_id, l.provisioner, l.provisioner_id,
      l.key, l.target, l.session_seconds, l.recorded_as, l.connect, l.held, 'unknown', clock_timestamp(), true
    from linking l
    cross join lateral (select from access_grant g where g.tenant_id = ${tx.tenant_id} and g.id = l.grant_id
      and g.generation = l.generation and g.status = 'pending' offset 0) g
    where l.is_served
    order by l.provisioner, l.key, l.grant_id desc
    on conflict (tenant_id, provisioner, target_key) do update set target = excluded.target,
      provisioner_id = excluded.provisioner_id, session_seconds = excluded.session_seconds,
      recorded_as = excluded.recorded_as, session_note = null,
      connect = case when ${isNotOurs} then excluded.connect else coalesce(excluded.connect, entitlement.connect) end,
      next_look_at = clock_timestamp(), gives = true, updated_at = clock_timestamp(),
      held_before = case when ${isNotOurs}
        then excluded.held_before and not ${isBackAgain}
          and (entitlement.may_land_until is null or ${landsNoMore(sql`entitlement`)})
        else entitlement.held_before end,
      observed = case when ${isNotOurs} then 'unknown' else entitlement.observed end,
      held_since = case when not ${isHeldByNobody} then entitlement.held_since end,
      by_person = entitlement.by_person and not ${isHeldByNobody},
      drift = case when not ${isNotOurs} then entitlement.drift end,
      drifted_at = case when not ${isNotOurs} then entitlement.drifted_at end`
}

function servedOf({ tenant_id }: Tx, { provisioner_id, provisioner_version }: ProvisionerRef): Statement {
  return sql`served as materialized (
    select from provisioner p where p.tenant_id = ${tenant_id} and p.id = ${provisioner_id}::uuid
      and p.version = ${provisioner_version}::integer)`
}

function isServed({ provisioner_id }: ProvisionerRef): Statement {
  return sql`(${provisioner_id}::uuid is null or exists (select from served))`
}

/** The ledger's row says that nothing of ours is at the target. */
const isNotOurs = sql`(entitlement.act is null and (entitlement.observed = 'absent'
  or coalesce(entitlement.drift = 'added', false)))`

/** It was removed by hand under a grant that goes on. What was put back since is the access of that grant, and ends with it. */
const isBackAgain = sql`(coalesce(entitlement.drift = 'removed', false) and not entitlement.held_before
  and exists (select from access_grant live where live.tenant_id = entitlement.tenant_id
    and live.entitlement_id = entitlement.id and live.status = 'active'))`

/**
 * The time that its holder has the access begins again: it was gone, or it was there before us, where it stays when its grants have
 * ended, and none wants it.
 */
const isHeldByNobody = sql`(${isNotOurs} or entitlement.held_before and not exists (select from access_grant live
  where live.tenant_id = entitlement.tenant_id and live.entitlement_id = entitlement.id
    and live.status in ('pending', 'active')))`
