import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Connect } from '../provisioners/connect.ts'
import { isActive } from '../users/active-store.ts'
import { connectColumn } from './connect-store.ts'
import { mayExtendAgain, withExtensions } from './extension-store.ts'
import { activateWithinSeconds, type Grant, type GrantStatus, grantName } from './grant.ts'
import { type ProgressRow, progressOf } from './grant-progress.ts'
import { progressColumn } from './grant-progress-store.ts'
import { assign, isBefore } from './grant-transition-store.ts'
import { missingTo } from './move-ends-store.ts'
import { isOfRehearsal } from './plan-store.ts'

/** Where a grant gives access, as its request fixed it. */
type Place = { type: string; id: string; account_id?: string; permission_set?: string }

/** A row as read from the table; `asGrant` turns it into the reply. */
export type GrantRow = Omit<
  Grant,
  'resource' | 'approved' | 'expires_at' | 'activated_at' | 'ended_at' | 'connect' | keyof ReturnType<typeof progressOf>
> & {
  progress: ProgressRow
  resource_type: string
  resource_id: string
  expires_at: string | null
  activated_at: string | null
  ended_at: string | null
  connect: Connect | null
}

export const grantColumns = sql`id, name, status, provisioning_status, request_id, user_id, resource_type, resource_id,
  action, duration_seconds, activated_at, expires_at, ended_at, ended_by, end_reason, last_error, created_at,
  updated_at`
const columns = sql`${grantColumns}, ${connectColumn}, ${progressColumn} as progress`

export function asGrant(row: GrantRow): Grant {
  const { resource_type, resource_id, expires_at, activated_at, ended_at, connect, progress, ...rest } = row
  return {
    ...rest,
    approved: true,
    resource: { type: resource_type, id: resource_id },
    ...(expires_at !== null && { expires_at }),
    ...(activated_at !== null && { activated_at }),
    ...(ended_at !== null && { ended_at }),
    ...(connect !== null && { connect }),
    ...progressOf(progress),
  }
}

/**
 * The insert of an approved request's grants, for use in the statement that approves it. `approved` names a common table
 * expression with the columns of access_request. It inserts one grant per place, due at once. The time of an extension begins at
 * the end of the grant that the request extends.
 */
export function insertGrants(places: readonly Place[], action: string, approved: Statement): Statement {
  const rows = places.map((place) => ({
    ...place,
    id: newId(),
    place_id: place.id,
    name: grantName(action, place),
  }))
  const given = sql`coalesce(a.approved_duration_seconds, a.duration_seconds)`
  return sql`insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, account_id,
      permission_set, action, duration_seconds, status, provisioning_status, next_look_at, by_person, rehearsed,
      starts_at, held_since, activate_by)
    select a.tenant_id, g.id, a.id, a.requester_id, g.name, g.type, g.place_id, g.account_id,
      g.permission_set, a.action, ${given}, 'pending', 'not_attempted', clock_timestamp(), a.decided_by is not null,
      (select t.mode = 'rehearsal' from tenant t where t.id = a.tenant_id),
      former.expires_at, former.expires_at - make_interval(secs => a.held_seconds),
      least(clock_timestamp() + make_interval(secs => ${activateWithinSeconds}),
        former.expires_at + make_interval(secs => ${given}))
    from ${approved} a left join lateral (
        select x.expires_at - ${missingTo(sql`clock_back_ms()`, sql`x`)} as expires_at from access_grant x
        where x.tenant_id = a.tenant_id and x.id = a.extends) former on true,
      jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as g (id uuid, type text, place_id text, name text, account_id text, permission_set text)`
}

export async function findGrant(tx: Tx, id: string): Promise<Grant | undefined> {
  const [row] = await tx.read(
    sql<GrantRow>`select ${columns} from access_grant g where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return row && asGrant(row)
}

/**
 * Ends a live grant early, and what extends it, with their events, and makes their entitlements due now. `cancelExtension`: the
 * statement that cancels a request to extend it. `not_live`: the status that the grant has instead.
 */
export async function revokeLiveGrant(
  ctx: WorkCtx,
  id: string,
  reason: string | null,
  cancelExtension: Statement,
): Promise<{ revoked: Grant } | { not_live: GrantStatus }> {
  const holdHolder = sql`select from tenant_user u where u.tenant_id = ${ctx.tx.tenant_id}
    and u.id = (select g.user_id from access_grant g where g.tenant_id = ${ctx.tx.tenant_id} and g.id = ${id})
    for no key update`
  const theirs = sql`g.id = any(${withExtensions(ctx.tx, id)})`
  const these = sql`g.id = any(array(select g.id from access_grant g where ${isLive(ctx.tx, theirs)}
    order by g.id for no key update))`
  const [, , , ended, [now]] = await ctx.tx.write([
    holdHolder,
    cancelExtension,
    holdEntitlementsOf(ctx.tx, theirs),
    revoke(ctx, these, reason, sql<GrantRow>`select ${columns} from revoked g`),
    sql<{ status: GrantStatus }>`select status from access_grant where tenant_id = ${ctx.tx.tenant_id} and id = ${id}`,
  ])
  const revoked = ended.find((grant) => grant.id === id)
  if (revoked !== undefined) return { revoked: asGrant(revoked) }
  if (now === undefined) throw new Error('a grant that was read is gone')
  return { not_live: now.status }
}

/** How many grants one statement ends, at most: a user may have more than it could end before its time limit. */
const maxRevokedAtOnce = 5_000

/**
 * Ends all live grants of a user, whom the transaction has locked before, and returns their number. Only inside `interactive`. The
 * lock keeps grants from being added meanwhile, so that this ends.
 */
export function revokeGrantsOf(ctx: WorkCtx, user_id: string, reason: string | null): Promise<number> {
  return revokeAll(ctx, sql`g.user_id = ${user_id}`, reason)
}

/** The same for the grants of several users, and those of everybody in these accounts. All holders are locked. */
export function revokeGrantsOfAll(
  ctx: WorkCtx,
  { user_ids, account_ids }: { user_ids: readonly string[]; account_ids: readonly string[] },
  reason: string,
): Promise<number> {
  const which = sql`(g.user_id = any(${[...user_ids]}::uuid[]) or g.account_id = any(${[...account_ids]}::text[]))`
  return revokeAll(ctx, which, reason)
}

async function revokeAll(ctx: WorkCtx, theirs: Statement, reason: string | null): Promise<number> {
  const { tx } = ctx
  // Locked below the limit: one that ends by itself meanwhile leaves no batch short, which would end the loop.
  const next = sql`g.id = any(array(select g.id from access_grant g where ${isLive(tx, theirs)}
    order by g.id limit ${maxRevokedAtOnce} for no key update))`
  const revokeNext = revoke(ctx, next, reason, sql<{ count: number }>`select count(*)::integer as count from revoked`)
  let total = 0
  let [, [ended]] = await tx.write([holdEntitlementsOf(tx, theirs), revokeNext])
  for (;;) {
    const count = ended?.count ?? 0
    total += count
    if (count < maxRevokedAtOnce) return total
    ;[[ended]] = await tx.write([revokeNext])
  }
}

function isLive({ tenant_id }: Tx, which: Statement): Statement {
  return sql`g.tenant_id = ${tenant_id} and ${which} and ${isBefore('revoke')}`
}

/**
 * Locks the entitlements of live grants of one holder. INVARIANT: the transaction locks the holder first, then all of the
 * entitlements in the order of their ids, then the grants. Code that links, gives or revokes uses the same order, so no
 * grant is linked to an entitlement meanwhile, and no deadlock occurs.
 */
function holdEntitlementsOf(tx: Tx, which: Statement): Statement {
  return sql`select from entitlement e
    where e.tenant_id = ${tx.tenant_id}
      and e.id in (select g.entitlement_id from access_grant g where ${isLive(tx, which)})
    order by e.id for no key update`
}

/**
 * Ends live grants whose entitlements are locked, emits their events and makes the entitlements due now. `answer`: a query of the
 * common table expression `revoked`.
 */
function revoke<Row>(ctx: WorkCtx, which: Statement, reason: string | null, answer: Statement<Row>): Statement<Row> {
  const { tx, actor } = ctx
  // Arrays, each made once: by a join, a plan for a few rows would read all grants of the tenant for each of thousands.
  const theirEntitlements = sql`array(select entitlement_id from revoked)`
  return sql<Row>`with revoked as (
      update access_grant g set ${assign('revoke', sql`${reason}`)}, ended_by = ${actor.user_id},
        target_reference = null, next_look_at = null, expiring_at = null, updated_at = clock_timestamp()
      where ${isLive(tx, which)}
      returning g.*),
    due as (
      update entitlement e set next_look_at = clock_timestamp(), gives = e.id in (
        select waiting.entitlement_id from access_grant waiting where waiting.tenant_id = ${tx.tenant_id}
          and waiting.entitlement_id = any(${theirEntitlements}) and waiting.status = 'pending'
          and waiting.id not in (select id from revoked))
      where e.tenant_id = ${tx.tenant_id} and e.id = any(${theirEntitlements})),
    emitted as (${emitEach(ctx, { type: 'grant.revoked', subject_type: 'grant' }, sql`revoked`)})
    ${answer}`
}

/** The grant is pending again, or the guard that refused it. */
type Retried = { retried: Grant } | { refused: Refusal; status: GrantStatus }
type Refusal = 'not_failed' | 'was_active' | 'not_extended' | 'deadline_over' | 'holder_inactive' | 'rehearsed'

/**
 * failed → pending, as after an approval: the grant is planned again and reauthorized, and keeps its deadline. A concurrent
 * deactivation of its holder commits either before this, or after it and then ends the grant. INVARIANT: a grant that was
 * active never begins again.
 */
export async function retryFailedGrant(ctx: WorkCtx, id: string): Promise<Retried> {
  const { tx } = ctx
  const [, [retried], [now]] = await tx.write([
    // A statement of its own, so that the next one sees what the lock waited for.
    sql`select from tenant_user u where u.tenant_id = ${tx.tenant_id}
      and u.id = (select g.user_id from access_grant g where g.tenant_id = ${tx.tenant_id} and g.id = ${id})
      for no key update`,
    sql<GrantRow>`with holder as (
        select u.id from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
        where g.tenant_id = ${tx.tenant_id} and g.id = ${id} and ${isActive(sql`u`)}),
      retried as (
        update access_grant g set ${assign('retry')}, entitlement_id = null,
          ended_by = null, last_error = null, target_reference = null,
          alarmed_at = null, failures = 0,
          next_look_at = clock_timestamp(), lease_until = null, updated_at = clock_timestamp()
        where g.tenant_id = ${tx.tenant_id} and g.id = ${id} and ${isBefore('retry')} and g.activated_at is null
          and g.activate_by > clock_timestamp() and exists (select from holder) and ${mayExtendAgain}
          and not ${isOfRehearsal}
        returning g.*),
      emitted as (${emitEach(ctx, { type: 'grant.retried', subject_type: 'grant' }, sql`retried`)})
      select ${columns} from retried g`,
    sql<{ status: GrantStatus; was_active: boolean; active: boolean; may_extend: boolean; is_over: boolean }>`
      select g.status, ${isActive(sql`u`)} as active, g.activated_at is not null as was_active,
        ${mayExtendAgain} as may_extend, ${isOfRehearsal} as is_over
      from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      where g.tenant_id = ${tx.tenant_id} and g.id = ${id}`,
  ])
  if (retried !== undefined) return { retried: asGrant(retried) }
  if (now === undefined) throw new Error('a grant that was read is gone')
  const { status, was_active, active, may_extend, is_over } = now
  if (status !== 'failed') return { refused: 'not_failed', status }
  if (was_active) return { refused: 'was_active', status }
  if (!active) return { refused: 'holder_inactive', status }
  if (is_over) return { refused: 'rehearsed', status }
  return { refused: may_extend ? 'deadline_over' : 'not_extended', status }
}
