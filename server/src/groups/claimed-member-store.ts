import { sql } from '../db/sql.ts'
import { emitWithFacts } from '../events/emit.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { isCurrent } from '../roles/membership-store.ts'
import { conferred } from './conferred-store.ts'

/** Why a membership by a claim was not given again by a sign-in. */
type ClaimCause = 'not_claimed' | 'claim_missing' | 'claim_overflow'

/** Why a membership by a claim lapsed before its time. */
type LapseCause = 'mapping_removed' | 'mapping_out_of_effect' | 'provider_changed'

const removed = { type: 'group.member_removed', subject_type: 'group' } as const
const added = { type: 'group.member_added', subject_type: 'group' } as const

/** What the events say of a membership, a row `m`. */
const facts = sql`jsonb_build_object('user_id', m.user_id, 'membership_source', m.membership_source,
  'mapping_id', m.mapping_id)`

const isExpired = sql`not ${isCurrent(sql`m`)}`

/** The memberships `m` by claims for which the condition holds, locked in one order: two such statements never wait in a circle. */
function lockClaimed(tx: Tx, which: Statement): Statement {
  return sql`select m.user_id, m.group_id from group_member m
    where m.tenant_id = ${tx.tenant_id}::uuid and m.mapping_id is not null and ${which}
    order by m.user_id, m.group_id for update`
}

/**
 * Lets memberships `m` by claims count no longer, from now on: the job ends them soon, with an event for each. There may be hundreds of
 * thousands, and sign-ins wait for the end of this transaction. Only under `mappingsLock`, so that no sign-in moves their end again.
 */
export function membershipsLapse(tx: Tx, which: Statement, cause: LapseCause): Statement[] {
  const here = sql`tenant_id = ${tx.tenant_id}::uuid`
  const lapsing = sql`${isCurrent(sql`m`)} and ${which}`
  return [
    // First, as the job locks these rows first.
    sql`with due as materialized (
        select c.id from claimed_groups c where c.${here} and c.id in (select m.user_id from group_member m
          where m.${here} and m.mapping_id is not null and ${lapsing})
        order by c.id for update)
      update claimed_groups c set next_look_at = clock_timestamp() from due where c.${here} and c.id = due.id`,
    sql`with lapsing as materialized (${lockClaimed(tx, lapsing)})
      update group_member m set expires_at = clock_timestamp(), end_cause = ${cause}
      from lapsing l where m.${here} and m.user_id = l.user_id and m.group_id = l.group_id`,
  ]
}

/**
 * Ends memberships `m` by claims, with an event for each; the others stay, whatever the condition says. One that counts no longer says so
 * as its cause, and else `cause` is it.
 */
function membershipsEnd(ctx: WorkCtx, which: Statement, cause: ClaimCause | 'expired'): Statement<{ id: string }> {
  const { tenant_id } = ctx.tx
  return sql<{ id: string }>`with ending as materialized (${lockClaimed(ctx.tx, which)}),
    gone as (
      delete from group_member m using ending e
      where m.tenant_id = ${tenant_id}::uuid and m.user_id = e.user_id and m.group_id = e.group_id
      returning m.group_id as id, ${facts} || jsonb_build_object('cause',
        case when ${isExpired} then coalesce(m.end_cause, 'expired') else ${cause}::text end) as facts),
    emitted as (${emitWithFacts(ctx, removed, sql`gone`)})
    select id from gone`
}

/** What the claim of a sign-in gives. `cause`: why other memberships by claims end. `seconds`: how long they count. */
export type ClaimedGroups = {
  provider_id: string
  values: readonly string[]
  cause: ClaimCause
  seconds: Statement
}

/**
 * The statements that give a user exactly the groups of these values, and that return the groups in which something changed. To run
 * under the locks of the user and of the provider (shared), where `when` holds: a sign-in is either before a change of mappings, which
 * then ends what it gave, or after it. Memberships that no claim gave stay as they are.
 */
export function claimedGroupsSync(
  ctx: WorkCtx,
  user_id: string,
  claimed: ClaimedGroups,
  when: Statement,
): Statement<{ id: string }>[] {
  const { tx } = ctx
  const { cause, seconds } = claimed
  const until = sql`clock_timestamp() + make_interval(secs => ${seconds})`
  const isTheirs = sql`m.tenant_id = ${tx.tenant_id}::uuid and m.user_id = ${user_id}::uuid
    and m.mapping_id is not null`
  const follows = sql`m.group_id in (select f.group_id from (${followed(tx, claimed)}) f)`
  return [
    // First, as the job that ends memberships locks this row first.
    sql<{ id: string }>`with listed as (
        insert into claimed_groups (tenant_id, id, next_look_at)
        select ${tx.tenant_id}::uuid, ${user_id}::uuid, ${until}
        where ${when} and exists (select from (${followed(tx, claimed)}) f)
        on conflict (tenant_id, id) do update set next_look_at = excluded.next_look_at)
      select null::uuid as id where false`,
    membershipsEnd(ctx, sql`m.user_id = ${user_id}::uuid and ${when} and (${isExpired} or not ${follows})`, cause),
    sql<{ id: string }>`with followed as materialized (select f.* from (${followed(tx, claimed)}) f where ${when}),
      kept as (
        update group_member m set expires_at = ${until}, mapping_id = f.mapping_id, added_by = f.mapped_by,
          given_at = f.mapped_at
        from followed f where ${isTheirs} and m.group_id = f.group_id),
      m as (
        insert into group_member
          (tenant_id, group_id, user_id, membership_source, added_by, given_at, mapping_id, expires_at)
        select ${tx.tenant_id}::uuid, f.group_id, ${user_id}::uuid, 'identity_provider', f.mapped_by, f.mapped_at,
          f.mapping_id, ${until}
        from followed f order by f.group_id
        on conflict (tenant_id, group_id, user_id) do nothing
        returning *),
      given as (select m.group_id as id, ${facts} || '{"cause": "claim"}'::jsonb as facts from m),
      emitted as (${emitWithFacts(ctx, added, sql`given`)})
      select id from given`,
  ]
}

/**
 * The groups (`group_id`) that the values give, each by the oldest mapping in effect (`mapping_id`, `mapped_by`, `mapped_at`): the
 * memberships count as given by it.
 */
function followed(tx: Tx, { provider_id, values }: ClaimedGroups): Statement {
  return sql`select distinct on (p.group_id) p.group_id, p.id as mapping_id, p.mapped_by, p.mapped_at
    from group_mapping p join tenant_group g on g.tenant_id = p.tenant_id and g.id = p.group_id
    where p.tenant_id = ${tx.tenant_id}::uuid and p.value = any(${[...values]}::text[])
      and g.sign_in_provider_id = ${provider_id}::uuid
      and array(${conferred(tx, sql`p.group_id`)}) <@ p.vouched_scopes
    order by p.group_id, p.mapped_at, p.id`
}

/**
 * Ends the memberships of a user that have expired, with their events, and sets when the next one does; for the worker that holds the
 * lease. A sign-in at the same moment comes either before, and has moved the end, or after.
 */
export async function endExpiredMemberships(ctx: WorkCtx, { id, generation }: WorkItem): Promise<void> {
  const { tx } = ctx
  const ours = sql`c.tenant_id = ${tx.tenant_id} and c.id = ${id} and c.generation = ${generation}::bigint
    and c.lease_until is not null`
  const theirs = sql`from group_member m where m.tenant_id = ${tx.tenant_id} and m.user_id = ${id}
    and m.mapping_id is not null`
  await tx.write([
    // By itself, so that the others see the writes of a sign-in that held the lock.
    sql`select from claimed_groups c where ${ours} for update`,
    membershipsEnd(
      ctx,
      sql`m.user_id = ${id}::uuid and ${isExpired}
        and exists (select from claimed_groups c where ${ours})`,
      'expired',
    ),
    sql`delete from claimed_groups c where ${ours} and not exists (select ${theirs})`,
    sql`update claimed_groups c set lease_until = null, next_look_at = (select min(m.expires_at) ${theirs})
      where ${ours}`,
  ])
}
