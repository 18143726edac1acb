import { allOf, isoMoment, sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { readUuid } from '../../kernel/id.ts'
import type { Filter, Leaf } from '../filter.ts'
import type { ListRequest } from '../list-request.ts'
import { versionOf } from '../users/directory-user-store.ts'
import { idCondition, momentCondition, textCondition } from '../users/user-filter-store.ts'
import type { DirectoryGroup } from './directory-group.ts'
import { directoryGroups } from './directory-group-store.ts'

export type ListedGroup = DirectoryGroup & { member_count: number }

/** A page of the groups of the directory, in the order in which they were made unless sorted, and how many there are in all. */
export async function listDirectoryGroups(
  ctx: DirectoryCtx,
  { filter, sort, start, count }: ListRequest,
): Promise<{ total: number; groups: ListedGroup[] }> {
  const condition = filter === undefined ? sql`true` : groupCondition(filter)
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
function groupCondition(filter: Filter): Statement {
  switch (filter.op) {
    case 'and':
      return sql`(${allOf(filter.filters.map(groupCondition))})`
    case 'or':
      return filter.filters.map(groupCondition).reduce((all, next) => sql`(${all} or ${next})`)
    case 'not':
      return sql`(${groupCondition(filter.filter)}) is not true`
    case 'nothing':
      return sql`false`
    case 'of':
      // The one list of a group is that of its members.
      return groupCondition(filter.filter)
    default:
      return leafCondition(filter)
  }
}

function leafCondition(leaf: Leaf): Statement {
  switch (leaf.path) {
    case 'id':
      return idCondition(leaf, sql`d.group_id`)
    case 'meta.created':
      return momentCondition(sql`d.created_at`, leaf)
    case 'meta.lastModified':
      return momentCondition(sql`d.updated_at`, leaf)
    case 'displayName':
      return ofColumn(sql`d.display_name_key`, leaf)
    case 'externalId':
      return ofColumn(sql`d.external_id`, leaf)
    case 'members.value':
      return ofMember(leaf)
    default:
      return leaf.op === 'pr' && leaf.path.startsWith('meta.') ? sql`true` : sql`false`
  }
}

function ofColumn(column: Statement, leaf: Leaf): Statement {
  if (leaf.op === 'pr') return sql`${column} is not null`
  if (leaf.op === 'ne') return sql`${column} is distinct from ${leaf.value}`
  return textCondition(column, leaf)
}

function ofMember(leaf: Leaf): Statement {
  const members = sql`select from group_member m where m.tenant_id = d.tenant_id and m.group_id = d.group_id`
  if (leaf.op === 'pr') return sql`exists (${members})`
  const id = readUuid(leaf.value) ?? null
  if (leaf.op === 'eq') return sql`exists (${members} and m.user_id = ${id}::uuid)`
  if (leaf.op === 'ne') return sql`not exists (${members} and m.user_id = ${id}::uuid)`
  return sql`exists (${members} and ${textCondition(sql`m.user_id::text`, leaf)})`
}
