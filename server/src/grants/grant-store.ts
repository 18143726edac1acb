import { sql } from '../db/sql.ts'
import { emitEach } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Connect } from '../provisioners/connect.ts'
import { isActive } from '../users/active-store.ts'
import { connectColumn } from './connect-store.ts'
import { isWaitedForBeside } from './entitlement-store.ts'
import { activateWithinSeconds, type Grant, type GrantStatus, grantName } from './grant.ts'
import { type ProgressRow, progressOf } from './grant-progress.ts'
import { progressColumn } from './grant-progress-store.ts'
import { assign, isBefore } from './grant-transition-store.ts'

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
 * expression with the columns of access_request. It inserts one grant per place, due at once.
 */
export function insertGrants(places: readonly Place[], action: string, approved: Statement): Statement {
  const rows = places.map((place) => ({
    ...place,
    id: newId(),
    place_id: place.id,
    name: grantName(action, place),
  }))
  return sql`insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, account_id,
      permission_set, action, duration_seconds, status, provisioning_status, activate_by, next_look_at)
    select a.tenant_id, g.id, a.id, a.requester_id, g.name, g.type, g.place_id, g.account_id,
      g.permission_set, a.action, a.duration_seconds,
      'pending', 'not_attempted', clock_timestamp() + make_interval(secs => ${activateWithinSeconds}), clock_timestamp()
    from ${approved} a, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as g (id uuid, type text, place_id text, name text, account_id text, permission_set text)`
}

export async function findGrant(tx: Tx, id: string): Promise<Grant | undefined> {
  const [row] = await tx.read(
    sql<GrantRow>`select ${columns} from access_grant g where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return row && asGrant(row)
}

/** Ends a live grant early, emits its event and makes its entitlement due now. `not_live`: the status that it has instead. */
export async function revokeLiveGrant(
  ctx: WorkCtx,
  id: string,
  reason: string | null,
): Promise<{ revoked: Grant } | { not_live: GrantStatus }> {
  const holdHolder = sql`select from tenant_user u where u.tenant_id = ${ctx.tx.tenant_id}
    and u.id = (select g.user_id from access_grant g where g.tenant_id = u.tenant_id and g.id = ${id})
    for no key update`
  const [, , [revoked], [now]] = await ctx.tx.write([
    holdHolder,
    ...revoking(ctx, sql`g.id = ${id}`, reason),
    sql<{ status: GrantStatus }>`select status from access_grant where tenant_id = ${ctx.tx.tenant_id} and id = ${id}`,
  ])
  if (revoked !== undefined) return { revoked: asGrant(revoked) }
  if (now === undefined) throw new Error('a grant that was read is gone')
  return { not_live: now.status }
}

/** The statements that end all live grants of a user, for use in the transaction that deactivates the user, after the deactivation. */
export function revokeGrantsOf(ctx: WorkCtx, user_id: string, reason: string): Statement[] {
  return [...revoking(ctx, sql`g.user_id = ${user_id}`, reason)]
}

/**
 * Ends live grants of one holder and makes their entitlements due now. INVARIANT: the transaction locks the holder first, then
 * the entitlements in the order of their ids, then the grants. Code that links, gives or revokes uses the same order, so no
 * grant is linked to an entitlement meanwhile, and no deadlock occurs.
 */
function revoking(ctx: WorkCtx, which: Statement, reason: string | null) {
  const { tx, actor } = ctx
  const live = sql`g.tenant_id = ${tx.tenant_id} and ${which} and ${isBefore('revoke')}`
  const holdEntitlements = sql`select from entitlement e
    where e.tenant_id = ${tx.tenant_id} and e.id in (select g.entitlement_id from access_grant g where ${live})
    order by e.id for no key update`
  const revoke = sql<GrantRow>`with revoked as (
      update access_grant g set ${assign('revoke', sql`${reason}`)}, ended_by = ${actor.user_id},
        target_reference = null, next_look_at = null, expiring_at = null, updated_at = clock_timestamp()
      where ${live}
      returning g.*),
    due as (
      update entitlement e set next_look_at = clock_timestamp(), gives = ${isWaitedForBeside(sql`revoked`)}
      where e.tenant_id = ${tx.tenant_id} and e.id in (select entitlement_id from revoked)),
    emitted as (${emitEach(ctx, { type: 'grant.revoked', subject_type: 'grant' }, sql`revoked`)})
    select ${columns} from revoked g`
  return [holdEntitlements, revoke] as const
}

/** The grant is pending again, or the guard that refused it. */
type Retried =
  | { retried: Grant }
  | { refused: 'not_failed' | 'was_active' | 'deadline_over' | 'holder_inactive'; status: GrantStatus }

/**
 * failed → pending, as after an approval: the grant is planned again and reauthorized, and keeps its deadline. A concurrent
 * deactivation of its holder commits either before this, or after it and then ends the grant. INVARIANT: a grant that was
 * active never begins again.
 */
export async function retryFailedGrant(ctx: WorkCtx, id: string): Promise<Retried> {
  const { tx } = ctx
  const [[retried], [now]] = await tx.write([
    sql<GrantRow>`with holder as (
        select u.id from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
        where g.tenant_id = ${tx.tenant_id} and g.id = ${id} and ${isActive(sql`u`)} for share of u),
      retried as (
        update access_grant g set ${assign('retry')}, entitlement_id = null,
          ended_by = null, last_error = null, target_reference = null,
          alarmed_at = null, failures = 0,
          next_look_at = clock_timestamp(), lease_until = null, updated_at = clock_timestamp()
        where g.tenant_id = ${tx.tenant_id} and g.id = ${id} and ${isBefore('retry')} and g.activated_at is null
          and g.activate_by > clock_timestamp() and exists (select from holder)
        returning g.*),
      emitted as (${emitEach(ctx, { type: 'grant.retried', subject_type: 'grant' }, sql`retried`)})
      select ${columns} from retried g`,
    sql<{ status: GrantStatus; was_active: boolean; active: boolean }>`select g.status,
        ${isActive(sql`u`)} as active, g.activated_at is not null as was_active
      from access_grant g join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id
      where g.tenant_id = ${tx.tenant_id} and g.id = ${id}`,
  ])
  if (retried !== undefined) return { retried: asGrant(retried) }
  if (now === undefined) throw new Error('a grant that was read is gone')
  const { status, was_active, active } = now
  if (status !== 'failed') return { refused: 'not_failed', status }
  if (was_active) return { refused: 'was_active', status }
  return { refused: active ? 'deadline_over' : 'holder_inactive', status }
}
