import { isoMoment, sql } from '../../db/sql.ts'
import type { ScimCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import type { Filter, Leaf } from '../filter.ts'
import type { ListRequest } from '../list-request.ts'
import { versionOf } from '../users/directory-user-store.ts'
import { idCondition, joined, momentCondition, textCondition } from '../users/user-filter-store.ts'
import type { DirectoryGroup } from './directory-group.ts'
import { directoryGroups } from './directory-group-store.ts'

export type ListedGroup = DirectoryGroup & { member_count: number }

/** A page of the groups of the directory, in the order in which they were made unless sorted, and how many there are in all. */
export async function listDirectoryGroups(
  ctx: ScimCtx,
  { filter, sort, start, count }: ListRequest,
): Promise<{ total: number; groups: ListedGroup[] }> {
  const condition = filter === undefined ? sql`true` : groupCondition(ctx, filter)
  const [row] = await ctx.tx.read(sql<{ total: number; groups: ListedGroup[] }>`select
      (select count(*)::integer from ${directoryGroups(ctx)} and ${condition}) as total,
      to_jsonb(array(select jsonb_build_object('id', d.group_id, 'display_name', d.display_name,
          'external_id', d.external_id, 'created_at', ${isoMoment(sql`d.created_at`)},
          'updated_at', ${isoMoment(sql`d.updated_at`)}, 'version', ${versionOf(sql`d`)},
          'member_count', (select count(*) from group_member m
            where m.tenant_id = d.tenant_id and m.group_id = d.group_id))
        from ${directoryGroups(ctx)} and ${condition}
        order by ${orderOf(sort)}d.group_id ${sort?.path === 'id' && sort.descending ? sql`desc` : sql`asc`}
        limit ${count} offset ${start - 1})) as groups`)
  return row ?? { total: 0, groups: [] }
}

const sortedColumns: Readonly<Record<string, Statement>> = {
  displayName: sql`d.display_name_key`,
  externalId: sql`d.external_id`,
  'meta.created': sql`d.created_at`,
  'meta.lastModified': sql`d.updated_at`,
}

function orderOf(sort: ListRequest['sort']): Statement {
  const column = sort && sortedColumns[sort.path]
  if (column === undefined) return sql``
  return sql`${column} ${sort?.descending ? sql`desc` : sql`asc`} nulls last, `
}

/** The condition of a filter on `d`, a row of directory_group. */
function groupCondition(ctx: ScimCtx, filter: Filter): Statement {
  return joined(filter, (one) => groupCondition(ctx, one)) ?? groupLeaf(ctx, filter as Leaf | OfMembers)
}

type OfMembers = Extract<Filter, { op: 'of' }>

function groupLeaf(ctx: ScimCtx, filter: Leaf | OfMembers): Statement {
  // The one list of a group is that of its members.
  if (filter.op === 'of') return hasMember(memberCondition(ctx, filter.filter))
  switch (filter.path) {
    case 'id':
      return idCondition(filter, sql`d.group_id`)
    case 'meta.created':
      return momentCondition(sql`d.created_at`, filter)
    case 'meta.lastModified':
      return momentCondition(sql`d.updated_at`, filter)
    case 'displayName':
      return ofColumn(sql`d.display_name_key`, filter)
    case 'externalId':
      return ofColumn(sql`d.external_id`, filter)
    default:
      if (filter.path.startsWith('meta.')) return sql`true`
      // A group without members differs from each value.
      if (filter.op === 'ne') return sql`not ${hasMember(memberCondition(ctx, { ...filter, op: 'eq' }))}`
      return hasMember(memberCondition(ctx, filter))
  }
}

const hasMember = (condition: Statement) => sql`exists (select from group_member m
  where m.tenant_id = d.tenant_id and m.group_id = d.group_id and ${condition})`

/** The condition of a filter on the member `m` of a group. */
function memberCondition(ctx: ScimCtx, filter: Filter): Statement {
  return joined(filter, (one) => memberCondition(ctx, one)) ?? memberLeaf(ctx, filter)
}

function memberLeaf({ base_url }: ScimCtx, filter: Filter): Statement {
  if (filter.op === 'pr') return sql`true`
  if (!('path' in filter)) return sql`false`
  if (filter.path === 'members.value') return idCondition(filter, sql`m.user_id`)
  if (filter.path === 'members.type') return textCondition(sql`'user'`, filter)
  return textCondition(sql`(${`${base_url}/Users/`}::text || m.user_id::text)`, filter)
}

function ofColumn(column: Statement, leaf: Leaf): Statement {
  if (leaf.op === 'pr') return sql`${column} is not null`
  if (leaf.op === 'ne') return sql`${column} is distinct from ${leaf.value}`
  return textCondition(column, leaf)
}
