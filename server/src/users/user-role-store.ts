import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { scopesAsArray } from './user-store.ts'

/** A user's own roles, every scope that they hold (by groups too), and whether they own the tenant. */
export type OwnRoles = { is_owner: boolean; roles: string[]; scopes: string[] }

/** Locks and returns a user's own roles until the transaction ends; only inside `interactive`. */
export async function lockOwnRoles(tx: Tx, user_id: string): Promise<OwnRoles | undefined> {
  const { tenant_id } = tx
  // Two statements, so that the second sees the writes of the previous lock holder.
  const [, [found]] = await tx.write([
    sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${user_id} for no key update`,
    sql<OwnRoles>`select u.is_owner, array(select role_id from user_role
        where tenant_id = ${tenant_id}::uuid and user_id = u.id order by role_id) as roles,
        ${scopesAsArray(tx)} as scopes
      from tenant_user u where u.tenant_id = ${tenant_id} and u.id = ${user_id} and u.deleted_at is null`,
  ])
  return found
}

/** Adds and removes roles of a locked user and emits the event. Unchanged roles keep their granter and time. */
export async function saveOwnRoles(
  ctx: WorkCtx,
  user_id: string,
  { added, removed }: { added: readonly string[]; removed: readonly string[] },
): Promise<void> {
  const { tenant_id } = ctx.tx
  const event = { type: 'role.assigned', subject_type: 'user', subject_id: user_id, data: { added, removed } } as const
  await ctx.tx.write([
    sql`with taken as (
        delete from user_role
        where tenant_id = ${tenant_id}::uuid and user_id = ${user_id}::uuid and role_id = any(${[...removed]}::text[])),
      given as (
        insert into user_role (tenant_id, user_id, role_id, granted_by)
        select ${tenant_id}::uuid, ${user_id}::uuid, role_id, ${ctx.actor.user_id}::uuid
        from unnest(${[...added]}::text[]) as role_id),
      emitted as (${emit(ctx, event)}),
      changed as (
        update tenant_user set updated_at = clock_timestamp()
        where tenant_id = ${tenant_id}::uuid and id = ${user_id}::uuid returning id)
      select id from changed`,
  ])
}
