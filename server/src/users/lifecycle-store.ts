import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { factorsEnd } from '../second-factors/second-factor-store.ts'
import { sessionsEnd } from '../sessions/session-store.ts'
import { isActive, isSuspended } from './active-store.ts'
import type { EffectiveChange, EndAccess, EndedAccess, LockedUser } from './lifecycle.ts'
import { directoryOf } from './managed-store.ts'
import { scopesAsArray } from './user-store.ts'

/**
 * Locks the user and every active owner of the tenant until the transaction ends, always in the same order. When two owners
 * deactivate each other at once, the second waits and then finds that no other owner is left. Undefined when there is no
 * such user. Only inside `interactive`.
 */
export async function lockUser(tx: Tx, id: string): Promise<LockedUser | undefined> {
  const which = sql`u.tenant_id = ${tx.tenant_id} and u.deleted_at is null
    and (u.id = ${id} or u.is_owner and ${isActive(sql`u`)})`
  // Two statements, so that the second sees the writes of the previous lock holder, such as a role or a membership.
  const [held, found] = await tx.write([
    sql<{ id: string }>`select u.id from tenant_user u where ${which} order by u.id for no key update`,
    sql<Omit<LockedUser, 'other_owners'>>`select u.id, u.name, u.active, u.is_owner,
        u.department, u.title, u.manager_id, ${directoryOf(sql`u`)} as identity_provider_id,
        ${isSuspended(sql`u`)} as suspended, ${scopesAsArray(tx)} as scopes
      from tenant_user u where ${which} order by u.id`,
  ])
  // An owner who was reactivated meanwhile is not locked, and does not count.
  const locked = found.filter((one) => held.some(({ id }) => id === one.id))
  const user = locked.find((one) => one.id === id)
  return user && { ...user, other_owners: locked.filter((one) => one !== user).length }
}

/**
 * Locks the user alone until the transaction ends, for a change that needs no other owner. False where there is no such user. Only
 * inside `interactive`.
 */
export async function lockUserAlone(tx: Tx, id: string): Promise<boolean> {
  return (await lockUsersAlone(tx, [id])).length > 0
}

/** The same for several users, always in the same order. Returns those that there are. */
export async function lockUsersAlone(tx: Tx, ids: readonly string[]): Promise<Pick<LockedUser, 'id' | 'is_owner'>[]> {
  const [held] = await tx.write([
    sql<Pick<LockedUser, 'id' | 'is_owner'>>`select u.id, u.is_owner from tenant_user u
      where u.tenant_id = ${tx.tenant_id} and u.id = any(${[...ids]}::uuid[]) and u.deleted_at is null
      order by u.id for no key update`,
  ])
  return held
}

/** Emits that all access of a user who stays active was ended; nothing where there was nothing to end. */
export async function saveAccessEnd(ctx: WorkCtx, user_id: string, ended: EndedAccess): Promise<void> {
  if (ended.requests_cancelled + ended.grants_ended === 0) return
  const event = { type: 'user.access_ended', subject_type: 'user', subject_id: user_id, data: ended } as const
  await ctx.tx.write([emit(ctx, event)])
}

/** Ends the sessions of a locked user and their access, in one round trip: whatever ends the one ends the other. */
export async function leave(
  ctx: WorkCtx,
  { id }: Pick<LockedUser, 'id'>,
  endAccess: EndAccess,
  why: string,
): Promise<void> {
  await Promise.all([ctx.tx.write([sessionsEnd(ctx.tx, id)]), endAccess(ctx, id, { cancelled: why, revoked: why })])
}

/** Writes the change of a locked user and its events. */
export async function saveUserChange(
  ctx: WorkCtx,
  user: LockedUser,
  { fields, events }: EffectiveChange,
): Promise<void> {
  const { tx } = ctx
  const about = { subject_type: 'user', subject_id: user.id } as const
  const { name, department, title, manager_id } = { ...user, ...fields }
  const active = events.includes('user.reactivated') || (user.active && !events.includes('user.deactivated'))
  const statesFacts = ['department', 'title', 'manager_id'].some((fact) => fact in fields)
  const author = statesFacts ? sql`${ctx.actor.user_id}::uuid` : sql`facts_set_by`
  await tx.write([
    sql`update tenant_user set name = ${name}, active = ${active}, department = ${department}, title = ${title},
        manager_id = ${manager_id}, facts_set_by = ${author}, updated_at = clock_timestamp()
      where tenant_id = ${tx.tenant_id} and id = ${user.id}`,
    emit(
      ctx,
      events.map((type) =>
        type === 'user.updated' ? { type, ...about, data: { fields: Object.keys(fields) } } : { type, ...about },
      ),
    ),
  ])
}

const suspensionHours = 24
/** A suspension with more hours left is not begun again: each time would be an event, and a notice to every owner. */
const enoughHours = 23

/**
 * Suspends a locked user, from now on, and emits the event. False for a user who was suspended less than an hour ago: it writes
 * nothing.
 */
export async function saveSuspension(ctx: WorkCtx, { id }: LockedUser): Promise<boolean> {
  const { tx } = ctx
  const [[saved]] = await tx.write([
    sql<{ until: string }>`update tenant_user set updated_at = clock_timestamp(),
        suspended_until = clock_timestamp() + make_interval(hours => ${suspensionHours})
      where tenant_id = ${tx.tenant_id} and id = ${id} and (suspended_until is null
        or suspended_until <= clock_timestamp() + make_interval(hours => ${enoughHours}))
      returning suspended_until as until`,
  ])
  if (saved === undefined) return false
  const event = { type: 'user.suspended', subject_type: 'user', subject_id: id, data: { until: saved.until } } as const
  await tx.write([emit(ctx, event)])
  return true
}

/** Ends the suspension of a locked user and emits the event. */
export async function endSuspension(ctx: WorkCtx, { id }: LockedUser): Promise<void> {
  const { tx } = ctx
  await tx.write([
    sql`update tenant_user set suspended_until = null, updated_at = clock_timestamp()
      where tenant_id = ${tx.tenant_id} and id = ${id}`,
    emit(ctx, { type: 'user.unsuspended', subject_type: 'user', subject_id: id }),
  ])
}

/**
 * Deletes a locked user. The row stays because other rows refer to its id, but it is no user any more. Password, picture, facts, roles,
 * memberships and favourites are deleted. Name and address stay for readers of the audit log; another user may take the address.
 */
export async function saveUserDeletion(ctx: WorkCtx, user: Pick<LockedUser, 'id'>): Promise<void> {
  const { tx } = ctx
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id = ${user.id}`
  await tx.write([
    sql`update tenant_user set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), active = false,
        is_owner = false, avatar_base64 = null, first_name = null, last_name = null, display_name = null,
        locale = null, timezone = null, date_format = null, time_format = null,
        department = null, title = null, manager_id = null, facts_set_by = null
      where tenant_id = ${tx.tenant_id} and id = ${user.id}`,
    emit(ctx, { type: 'user.deleted', subject_type: 'user', subject_id: user.id }),
    sql`delete from directory_conflict where ${whose}`,
    sql`delete from directory_user where ${whose}`,
    sql`delete from user_fact_version where ${whose}`,
    sql`delete from user_password where ${whose}`,
    ...factorsEnd(tx, user.id),
    sql`delete from user_role where ${whose}`,
    // In the order in which other statements lock memberships.
    sql`with leaving as materialized (
        select m.user_id, m.group_id from group_member m where ${whose} order by m.user_id, m.group_id for update)
      delete from group_member m using leaving l
      where m.tenant_id = ${tx.tenant_id} and m.user_id = l.user_id and m.group_id = l.group_id`,
    sql`delete from favourite where ${whose}`,
  ])
}
