import { allOf, sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PageRequest } from '../kernel/page.ts'
import { isCurrent } from '../roles/membership-store.ts'
import { conferred } from './conferred-store.ts'
import type { GroupMember, Membership } from './group.ts'

const record = sql`group_id, user_id, membership_source, created_at`

/** The scopes that a group gives its members. */
export async function findConferred(tx: Tx, group_id: string): Promise<string[]> {
  return (await tx.read(sql<{ scope: string }>`${conferred(tx, group_id)} order by 1`)).map(({ scope }) => scope)
}

/**
 * The scopes (`scope`) that a holder of a directory's key controls: those that its groups give, to which the key can add
 * anybody, and those of its users, whose sign-in it decides. Where people sign in by the directory, accounts made for a provider may
 * become its users. A select to embed in another statement.
 */
export function conferredByDirectory(tx: Tx, identity_provider_id: string): Statement {
  const users = sql`select d.user_id from directory_user d
      where d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid
    union select u.id from sign_in_setting s join tenant_user u on u.tenant_id = s.tenant_id
      where s.tenant_id = ${tx.tenant_id}::uuid and s.identity_provider_id = ${identity_provider_id}::uuid
        and u.auth_provider = 'oidc' and u.deleted_at is null`
  const roles = sql`select gr.role_id from directory_group d
      join group_role gr on gr.tenant_id = d.tenant_id and gr.group_id = d.group_id
      where d.tenant_id = ${tx.tenant_id}::uuid and d.identity_provider_id = ${identity_provider_id}::uuid
    union select ur.role_id from user_role ur where ur.tenant_id = ${tx.tenant_id}::uuid and ur.user_id in (${users})
    union select gr.role_id from group_member m
      join group_role gr on gr.tenant_id = m.tenant_id and gr.group_id = m.group_id
      where m.tenant_id = ${tx.tenant_id}::uuid and m.user_id in (${users}) and ${isCurrent(sql`m`)}`
  return sql`select distinct scope from role r, unnest(r.scopes) as scope
    where r.tenant_id = ${tx.tenant_id}::uuid and r.id in (${roles})`
}

/** The scopes that a holder of a directory's key controls now. */
export async function findDirectoryScopes(tx: Tx, identity_provider_id: string): Promise<string[]> {
  const rows = await tx.read(sql<{ scope: string }>`${conferredByDirectory(tx, identity_provider_id)} order by scope`)
  return rows.map(({ scope }) => scope)
}

/**
 * Makes a user a member of a group and emits the event. Undefined when the user or the group does not exist, the group is
 * not local or gives a scope that the actor lacks, or the user is a member already.
 */
export async function insertLocalMember(
  ctx: WorkCtx,
  group_id: string,
  user_id: string,
): Promise<GroupMember | undefined> {
  const { tx, actor } = ctx
  const data = { user_id, membership_source: 'local' }
  const event = { type: 'group.member_added', subject_type: 'group', subject_id: group_id, data } as const
  const [[made]] = await tx.write([
    sql<GroupMember>`with made as (
        insert into group_member (tenant_id, group_id, user_id, membership_source, added_by)
        select g.tenant_id, g.id, u.id, g.source, ${actor.user_id}::uuid
        from tenant_group g
        join tenant_user u on u.tenant_id = g.tenant_id and u.id = ${user_id}::uuid and u.deleted_at is null
        where g.tenant_id = ${tx.tenant_id}::uuid and g.id = ${group_id}::uuid and g.source = 'local'
          and array(${conferred(tx, group_id)}) <@ ${[...actor.scopes]}::text[]
        -- A user who is deleted at this very moment becomes no member.
        for share of u
        on conflict (tenant_id, group_id, user_id) do nothing
        returning ${record}),
      emitted as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  return made
}

/** A user's relation to a group; undefined when either does not exist. */
export async function findMembership(tx: Tx, group_id: string, user_id: string): Promise<Membership | undefined> {
  const [found] = await tx.read(
    sql<Membership>`select g.source, array(${conferred(tx, group_id)} order by 1) as conferred,
        exists (select from group_member m where m.tenant_id = ${tx.tenant_id}::uuid and m.group_id = g.id
          and m.user_id = u.id and ${isCurrent(sql`m`)}) as is_member
      from tenant_group g
      join tenant_user u on u.tenant_id = g.tenant_id and u.id = ${user_id}::uuid and u.deleted_at is null
      where g.tenant_id = ${tx.tenant_id}::uuid and g.id = ${group_id}::uuid`,
  )
  return found
}

/** One page of a group's members, in the order in which the users were created. */
export function listGroupMembersPage(tx: Tx, group_id: string, page: PageRequest): Promise<GroupMember[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id} and group_id = ${group_id} and ${isCurrent(sql`m`)}`]
  if (page.after !== undefined) conditions.push(sql`user_id > ${page.after[0]}::uuid`)
  return tx.read(sql<GroupMember>`select ${record} from group_member m
    where ${allOf(conditions)} order by user_id limit ${page.limit + 1}`)
}

/**
 * Removes a user from a local group and emits the event; false when they are not a member, or the group is not local or gives
 * a scope that the actor lacks.
 */
export async function deleteLocalMember(ctx: WorkCtx, group_id: string, user_id: string): Promise<boolean> {
  const { tx } = ctx
  const event = {
    type: 'group.member_removed',
    subject_type: 'group',
    subject_id: group_id,
    data: { user_id },
  } as const
  const [gone] = await tx.write([
    sql`with gone as (
        delete from group_member m using tenant_group g
        where m.tenant_id = ${tx.tenant_id}::uuid and m.group_id = ${group_id}::uuid and m.user_id = ${user_id}::uuid
          and g.tenant_id = m.tenant_id and g.id = m.group_id and g.source = 'local'
          and array(${conferred(tx, group_id)}) <@ ${[...ctx.actor.scopes]}::text[]
        returning m.user_id),
      emitted as (${emit(ctx, event, sql`gone`)})
      select user_id from gone`,
  ])
  return gone.length > 0
}
