import { isoMoment, sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { findAttribute, userAttributes } from '../attribute.ts'
import type { ListRequest } from '../list-request.ts'
import type { DirectoryUser } from './directory-user.ts'
import { directoryUsers, versionOf } from './directory-user-store.ts'
import { userCondition } from './user-filter-store.ts'

/** A page of the users of the directory, in the order in which they were made unless sorted, and how many there are in all. */
export async function listDirectoryUsers(
  ctx: DirectoryCtx,
  { filter, sort, start, count }: ListRequest,
): Promise<{ total: number; users: DirectoryUser[] }> {
  const condition = filter === undefined ? sql`true` : userCondition(ctx, filter)
  // Without the users where no condition reads them: an index alone counts.
  const all = sql`directory_user d where d.tenant_id = ${ctx.tx.tenant_id}::uuid
    and d.identity_provider_id = ${ctx.identity_provider_id}::uuid and ${condition}`
  const [row] = await ctx.tx.read(sql<{ total: number; users: DirectoryUser[] }>`select
      (select count(*)::integer from ${all}) as total,
      to_jsonb(array(select jsonb_build_object('id', d.user_id, 'resource', d.resource, 'active', u.active,
          'is_owner', u.is_owner, 'created_at', ${isoMoment(sql`d.created_at`)},
          'updated_at', ${isoMoment(sql`d.updated_at`)}, 'version', ${versionOf(sql`d`)})
        from ${directoryUsers(ctx)} and ${condition}
        ${orderOf(ctx, sort)} limit ${count} offset ${start - 1})) as users`)
  return row ?? { total: 0, users: [] }
}

/** Who has no value comes last. */
function orderOf({ tx }: DirectoryCtx, sort: ListRequest['sort']): Statement {
  if (sort === undefined) return sql`order by d.user_id`
  const direction = sort.descending ? sql`desc nulls last` : sql`asc nulls last`
  return sql`order by ${sortedBy(tx.tenant_id, sort.path)} ${direction}, d.user_id`
}

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
