import { sql } from '../../db/sql.ts'
import { emit, type NewEvent } from '../../events/emit.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import { emailKey } from '../../kernel/email-address.ts'
import { searchedName } from '../filter.ts'
import { keysOf, type Person } from '../person.ts'
import type { SearchedValue } from '../searched-values.ts'
import type { DirectoryUser } from './directory-user.ts'
import { managerLocks, managerOf, reportsFollow, userBy } from './reporting-line-store.ts'
import type { UserContent } from './user-content.ts'

export const versionOf = (row: Statement): Statement =>
  sql`(extract(epoch from ${row}.updated_at) * 1000000)::bigint::text`

/** The columns of `d`, a row of directory_user, and `u`, of tenant_user. */
const userColumns = sql`d.user_id as id, d.resource, u.active, u.is_owner, d.created_at, d.updated_at,
  ${versionOf(sql`d`)} as version`

/** The condition that `d`, a row of directory_user, is this user of the directory: by the id alone, for the reason that `userBy` has. */
function isUser({ tx, identity_provider_id }: DirectoryCtx, id: string): Statement {
  return sql`d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = ${id}::uuid
    and (d.identity_provider_id = ${identity_provider_id}::uuid) is true`
}

/** The user of the directory with this id there (`user_id`): a select to embed in another statement. */
export function userByExternalId(ctx: DirectoryCtx, external_id: Statement): Statement {
  return userBy(ctx, sql`d.external_id = ${external_id}`)
}

export async function findUserByExternalId(ctx: DirectoryCtx, external_id: string): Promise<string | undefined> {
  const [found] = await ctx.tx.read(sql<{ user_id: string }>`${userByExternalId(ctx, sql`${external_id}::text`)}`)
  return found?.user_id
}

export async function findDirectoryUser(ctx: DirectoryCtx, id: string): Promise<DirectoryUser | undefined> {
  const [found] = await ctx.tx.read(
    sql<DirectoryUser>`select ${userColumns} from directory_user d
      join tenant_user u on u.tenant_id = d.tenant_id and u.id = d.user_id where ${isUser(ctx, id)}`,
  )
  return found
}

/**
 * Inserts a user of the directory with the role `user`, and emits the event. Those who named them as their manager before have them as
 * their manager from now on.
 * @throws Problem 409 `user_exists` where another user has the address; `version_conflict` where one of the directory has the name
 */
export async function insertDirectoryUser(
  ctx: DirectoryCtx,
  id: string,
  { person, resource, values }: UserContent,
): Promise<DirectoryUser> {
  const { tx, author, identity_provider_id } = ctx
  const roles = ['user']
  const data = { roles, auth_provider: 'oidc', is_owner: false, identity_provider_id }
  const event = { type: 'user.created', subject_type: 'user', subject_id: id, data } as const
  const [, [made]] = await tx.write([
    managerLocks(ctx, { named: person.external_id, names: person.manager_key }),
    sql<DirectoryUser>`with u as (
        insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider, active, first_name, last_name,
          display_name)
        values (${tx.tenant_id}::uuid, ${id}::uuid, ${person.email}, ${emailKey(person.email)}, ${person.name}, 'oidc',
          ${person.active}, ${person.first_name}, ${person.last_name}, ${person.display_name})
        returning *),
      d as (
        insert into directory_user (tenant_id, user_id, identity_provider_id, external_id, user_name_key, resource,
          manager_key)
        select u.tenant_id, u.id, ${identity_provider_id}::uuid, ${person.external_id},
          ${searchedName(person.user_name)}, ${JSON.stringify(resource)}::jsonb, ${person.manager_key}
        from u returning *),
      searched as (${valuesInsert(values)}),
      given as (
        insert into user_role (tenant_id, user_id, role_id, granted_by)
        select u.tenant_id, u.id, role_id, ${author}::uuid from u, unnest(${roles}::text[]) as role_id),
      emitted as (${emit(ctx, event, sql`u`)})
      select ${userColumns} from d join u on u.id = d.user_id`,
    // By an update, which keeps who wrote them and when: of a new user, too, a requester's word does not count.
    sql`update tenant_user u set department = ${person.department}, title = ${person.title},
        manager_id = ${managerOf(ctx, person, id)}, facts_set_by = ${author}::uuid
      where u.tenant_id = ${tx.tenant_id} and u.id = ${id}`,
    reportsFollow(ctx, id, person.external_id),
    sql`delete from directory_conflict where tenant_id = ${tx.tenant_id}
      and identity_provider_id = ${identity_provider_id} and (user_name_key = ${searchedName(person.user_name)}
        or resource ->> 'externalId' = ${person.external_id})`,
  ])
  if (made === undefined) throw new Error('a user of a directory was inserted and not returned')
  return made
}

/** Gives a user of the tenant to the directory, which has said nothing of them yet. @throws Problem 409 `version_conflict` */
export async function linkDirectoryUser(
  ctx: DirectoryCtx,
  id: string,
  { user_name, external_id }: Person,
): Promise<DirectoryUser> {
  const { tx, identity_provider_id } = ctx
  const [[linked]] = await tx.write([
    sql<DirectoryUser>`with d as (
        insert into directory_user (tenant_id, user_id, identity_provider_id, external_id, user_name_key, resource)
        values (${tx.tenant_id}::uuid, ${id}::uuid, ${identity_provider_id}::uuid, ${external_id},
          ${searchedName(user_name)}, '{}') returning *)
      select ${userColumns} from d join tenant_user u on u.tenant_id = d.tenant_id and u.id = d.user_id`,
  ])
  if (linked === undefined) throw new Error('a user was given to a directory and not returned')
  return linked
}

/** A change of a user: from what was read, to what it becomes, and the events of it. */
export type UserSave = {
  before: DirectoryUser
  after: UserContent
  /** The external id that somebody else’s account may have signed in by: it is taken from the user. */
  former_external_id?: string | null
  /** The values that filters no longer find. */
  gone: readonly SearchedValue[]
  /** Those that they find from now on. */
  found: readonly SearchedValue[]
  events: readonly NewEvent[]
}

/** Writes a change of a user if nobody has changed them since they were read; undefined if somebody has. */
export async function saveDirectoryUser(
  ctx: DirectoryCtx,
  { before, after, former_external_id = null, gone, found, events }: UserSave,
): Promise<DirectoryUser | undefined> {
  const { tx, author } = ctx
  const { person, resource } = after
  const { id } = before
  const isMoved = sql`coalesce(u.subject = ${former_external_id}::text, false)`
  const former = keysOf(before.resource)
  const isAnother = person.active !== before.active || person.external_id !== former.external_id
  const named = person.external_id === former.external_id ? null : person.external_id
  const keepsManager = person.manager_key === former.manager_key
  const names = keepsManager ? null : person.manager_key
  const manager = keepsManager ? sql`u.manager_id` : managerOf(ctx, person, id)
  const [, , [saved]] = await tx.write([
    managerLocks(ctx, { named, names }),
    lockOf(tx, id),
    // Each table by its key alone, for the reason that `isUser` has: `is true` keeps the indexes of users who are not deleted out.
    sql<DirectoryUser>`with f as materialized (
        select ${person.department}::text as department, ${person.title}::text as title, ${manager} as manager_id
        from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid and u.id = ${id}::uuid),
      d as (
        update directory_user d set external_id = ${person.external_id},
          user_name_key = ${searchedName(person.user_name)},
          resource = ${JSON.stringify(resource)}::jsonb, manager_key = ${person.manager_key},
          updated_at = greatest(clock_timestamp(), d.updated_at + interval '1 microsecond')
        where ${isUser(ctx, id)} and ${versionOf(sql`d`)} = ${before.version}
        returning *),
      u as (
        update tenant_user u set email = ${person.email}, email_key = ${emailKey(person.email)}, name = ${person.name},
          -- Case of ASCII letters alone: the key takes other people's addresses for this one.
          email_verified = u.email_verified and lower(u.email collate "C") = lower(${person.email} collate "C"),
          issuer = case when ${isMoved} then null else u.issuer end,
          subject = case when ${isMoved} then null else u.subject end,
          first_name = ${person.first_name}, last_name = ${person.last_name}, display_name = ${person.display_name},
          active = ${person.active}, department = f.department, title = f.title, manager_id = f.manager_id,
          facts_set_by = case when (u.department, u.title, u.manager_id)
            is distinct from (f.department, f.title, f.manager_id) then ${author}::uuid else u.facts_set_by end,
          updated_at = case when ${events.length > 0} then clock_timestamp() else u.updated_at end
        from d, f where u.tenant_id = ${tx.tenant_id}::uuid and u.id = ${id}::uuid and (u.deleted_at is null) is true
        returning u.*),
      unsearched as (
        delete from directory_value v using d, unnest(${gone.map(({ path }) => path)}::text[],
            ${gone.map(({ element }) => element)}::integer[]) as g (path, element)
        where v.tenant_id = d.tenant_id and v.user_id = d.user_id and v.path = g.path and v.element = g.element),
      searched as (${valuesInsert(found)}),
      -- What was said of somebody with their address was about the user as they were.
      settled as (
        delete from directory_conflict c using d
        where c.tenant_id = d.tenant_id and c.user_id = d.user_id and ${isAnother}::boolean),
      emitted as (${events.length === 0 ? sql`select` : emit(ctx, events, sql`u`)})
      select ${userColumns} from d join u on u.id = d.user_id`,
    ...(named === null ? [] : [reportsFollow(ctx, id, named)]),
  ])
  return saved
}

/** Makes the user `d` of the statement be found by these values. */
function valuesInsert(values: readonly SearchedValue[]): Statement {
  return sql`insert into directory_value (tenant_id, identity_provider_id, user_id, path, key, element)
    select d.tenant_id, d.identity_provider_id, d.user_id, v.path, v.key, v.element
    from d, unnest(${values.map(({ path }) => path)}::text[], ${values.map(({ key }) => key)}::text[],
      ${values.map(({ element }) => element)}::integer[]) as v (path, key, element)
    on conflict on constraint directory_value_pk do update set key = excluded.key`
}

/** In the order in which everything locks: the user, and then what they have. */
function lockOf(tx: Tx, id: string): Statement {
  return sql`select from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${id} for no key update`
}
