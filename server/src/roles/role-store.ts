import { readListPage } from '../db/list-page.ts'
import { allOf, sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { type GivenRole, type PlannedChange, type RoleRow, systemRoles } from './role.ts'

const record = sql`id, name, description, scopes, system, version, created_at, updated_at`

/** Inserts a new tenant's system roles; for the transaction that creates the tenant. */
export function systemRolesInsert(tx: Tx): Statement {
  return sql`insert into role (tenant_id, id, name, description, scopes, system)
    select ${tx.tenant_id}::uuid, id, name, description, scopes, true
    from jsonb_to_recordset(${JSON.stringify(Object.values(systemRoles))}::jsonb)
      as role (id text, name text, description text, scopes text[])`
}

/** Inserts a new role and emits the event. */
export async function insertRole(
  ctx: WorkCtx,
  role: { id: string; name: string; description: string; scopes: readonly string[] },
): Promise<RoleRow> {
  const { id, name, description, scopes } = role
  const event = { type: 'role.created', subject_type: 'role', subject_id: id, data: { scopes } } as const
  const [[made]] = await ctx.tx.write([
    sql<RoleRow>`with made as (
        insert into role (tenant_id, id, name, description, scopes)
        values (${ctx.tx.tenant_id}, ${id}, ${name}, ${description}, ${scopes})
        returning ${record}),
      emitted as (${emit(ctx, event, sql`made`)})
      select * from made`,
  ])
  if (made === undefined) throw new Error('a role was inserted and not returned')
  return made
}

/** The sort key of a role in the list: system roles first, then by id. */
export function roleKey({ system, id }: Pick<RoleRow, 'system' | 'id'>): [string, string] {
  return [String(!system), id]
}

/** One page of the roles whose name has these words, in the order of the found word. */
export function findRolesPage(tx: Tx, q: string, page: PageRequest): Promise<PageRows<RoleRow>> {
  const [words, text] = [{ table: sql`role_word`, id: sql`role_id` }, sql`text`]
  const order = { by: sql`r.id`, types: [text, text], descending: false } as const
  const search = { q, words, first: true }
  const list = { table: sql`role r`, columns: record, order, range: [], filters: [], tested: [], search }
  return readListPage<RoleRow>(tx, list, page)
}

/** One page: the system roles, then the others in the order of creation. */
export function listRolesPage(tx: Tx, page: PageRequest): Promise<RoleRow[]> {
  const conditions = [sql`tenant_id = ${tx.tenant_id}`]
  if (page.after !== undefined) {
    const [own, id] = page.after
    conditions.push(sql`(not system, id collate "C") > (${own}::boolean, ${id}::text collate "C")`)
  }
  return tx.read(sql<RoleRow>`select ${record} from role
    where ${allOf(conditions)} order by not system, id collate "C" limit ${page.limit + 1}`)
}

export async function findRole(tx: Tx, id: string): Promise<RoleRow | undefined> {
  const [role] = await tx.read(
    sql<RoleRow>`select ${record} from role where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return role
}

/** The roles of these ids that exist, with their scopes. */
export function findRoles(tx: Tx, ids: readonly string[]): Promise<GivenRole[]> {
  return tx.read(sql<GivenRole>`select id, scopes from role
    where tenant_id = ${tx.tenant_id} and id = any(${[...ids]}::text[]) order by id`)
}

/** Locks and returns the role until the transaction ends; only inside `interactive`. */
export async function lockRole(tx: Tx, id: string): Promise<RoleRow | undefined> {
  const [[role]] = await tx.write([
    sql<RoleRow>`select ${record} from role where tenant_id = ${tx.tenant_id} and id = ${id} for no key update`,
  ])
  return role
}

/**
 * Saves a changed, locked role and emits the event. A scope that stays keeps the record of who added it and when.
 */
export async function saveRole(ctx: WorkCtx, id: string, change: PlannedChange): Promise<RoleRow> {
  const { tenant_id } = ctx.tx
  const { to, fields, added, removed } = change
  const event = {
    type: 'role.updated',
    subject_type: 'role',
    subject_id: id,
    data: { fields, scopes_added: added, scopes_removed: removed },
  } as const
  const [[saved]] = await ctx.tx.write([
    sql<RoleRow>`with changed as (
        update role set name = ${to.name}, description = ${to.description}, scopes = ${to.scopes},
          version = version + 1, updated_at = clock_timestamp()
        where tenant_id = ${tenant_id} and id = ${id}
        returning ${record}),
      taken as (
        delete from role_added_scope
        where tenant_id = ${tenant_id}::uuid and role_id = ${id}::text and scope = any(${removed}::text[])),
      given as (
        insert into role_added_scope (tenant_id, role_id, scope, added_by)
        select ${tenant_id}::uuid, id, scope, ${ctx.actor.user_id}::uuid from changed, unnest(${added}::text[]) as scope
        on conflict (tenant_id, role_id, scope)
          do update set added_by = excluded.added_by, added_at = excluded.added_at),
      emitted as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  if (saved === undefined) throw new Error('a locked role was not found')
  return saved
}

/**
 * Deletes a custom role that no user holds and no group gives, and that carries no scope which the actor lacks, and emits the
 * event; false when it may not be deleted.
 * `tags`: one of them must be the role's tag, as `roleTag` makes it; undefined: any version.
 */
export async function deleteUnusedRole(
  ctx: WorkCtx,
  id: string,
  tags: readonly string[] | undefined,
): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const event = { type: 'role.deleted', subject_type: 'role', subject_id: id } as const
  const [gone] = await ctx.tx.write([
    sql`with gone as (
        delete from role
        where tenant_id = ${tenant_id}::uuid and id = ${id}::text and not system
          and scopes <@ ${[...ctx.actor.scopes]}::text[]
          and (${tags ?? null}::text[] is null or format('"%s"', version) = any(${tags ?? null}::text[]))
          and not exists (select from user_role where tenant_id = ${tenant_id}::uuid and role_id = ${id}::text)
          and not exists (select from group_role where tenant_id = ${tenant_id}::uuid and role_id = ${id}::text)
        returning id),
      emitted as (${emit(ctx, event, sql`gone`)})
      select id from gone`,
  ])
  return gone.length > 0
}
