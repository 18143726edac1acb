import { isoMoment, sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { findAttribute, userAttributes } from '../attribute.ts'
import type { ListRequest } from '../list-request.ts'
import type { DirectoryUser } from './directory-user.ts'
import { versionOf } from './directory-user-store.ts'
import { isOfDirectory, userCondition } from './user-filter-store.ts'

/** A page of the users of the directory, in the order in which they were made unless sorted, and how many there are in all. */
export async function listDirectoryUsers(
  ctx: DirectoryCtx,
  { filter, sort, start, count }: ListRequest,
): Promise<{ total: number; users: DirectoryUser[] }> {
  const { tx } = ctx
  const order = sql`${sort?.descending ? sql`desc` : sql`asc`} nulls last, user_id`
  // Without a filter an index counts, and gives the page; with one, those who are found are kept for both.
  const kept = filter === undefined ? sql`not materialized` : sql`materialized`
  const [row] = await tx.read(sql<{ total: number; users: DirectoryUser[] }>`with found as ${kept} (
        select d.user_id, ${sortedBy(tx.tenant_id, sort?.path ?? 'id')} as key from directory_user d
        where ${filter === undefined ? isOfDirectory(ctx) : userCondition(ctx, filter)}),
      page as (select user_id, key from found order by key ${order} limit ${count} offset ${start - 1})
      select (select count(*)::integer from found) as total,
        to_jsonb(array(select jsonb_build_object('id', d.user_id, 'resource', d.resource, 'active', u.active,
            'is_owner', u.is_owner, 'created_at', ${isoMoment(sql`d.created_at`)},
            'updated_at', ${isoMoment(sql`d.updated_at`)}, 'version', ${versionOf(sql`d`)})
          from page join directory_user d on d.tenant_id = ${tx.tenant_id}::uuid and d.user_id = page.user_id
            join tenant_user u on u.tenant_id = ${tx.tenant_id}::uuid and u.id = page.user_id
          order by page.key ${sort?.descending ? sql`desc` : sql`asc`} nulls last, page.user_id)) as users`)
  return row ?? { total: 0, users: [] }
}

/** Who has no value comes last. */
function sortedBy(tenant_id: string, path: string): Statement {
  if (path === 'id') return sql`d.user_id`
  if (path === 'meta.created') return sql`d.created_at`
  if (path === 'meta.lastModified') return sql`d.updated_at`
  const [name = ''] = path.split('.', 1)
  const values = sql`directory_value s where s.tenant_id = ${tenant_id}::uuid and s.user_id = d.user_id
    and s.path = ${path}`
  if (!findAttribute(userAttributes, name)?.multiValued) return sql`(select s.key from ${values})`
  // Of a list the primary value counts, else the first.
  return sql`(select s.key from ${values} order by exists (select from directory_value p where p.tenant_id = s.tenant_id
      and p.user_id = s.user_id and p.path = ${`${name}.primary`} and p.element = s.element and p.key = 'true') desc,
    s.element limit 1)`
}
