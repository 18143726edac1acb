import { inIndexOrder, sql, sqlInteger } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { RoleHolder } from './holder.ts'
import { isCurrent } from './membership-store.ts'

/** Of the groups that give a role, and mostly have no members, a page reads no more than these; then it ends early. */
const maxGroups = 500

/** Behind the members of a group. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Row = Omit<RoleHolder, 'user_id'> & { user_id: string | null; place: number }

/**
 * One page of the ways in which users hold a role: first those who have it themselves, in the order of the users, then the members
 * of each group that gives it. `showsGroups`: with the names of the groups.
 */
export async function listHoldersPage(
  tx: Tx,
  role_id: string,
  showsGroups: boolean,
  page: PageRequest,
): Promise<PageRows<RoleHolder>> {
  const rows = await tx.read(inIndexOrder(waysOf(tx, role_id, showsGroups, page)))
  const ways = rows.flatMap(({ user_id, place: _place, ...row }) => (user_id === null ? [] : [{ user_id, ...row }]))
  const last = ways[page.limit - 1]
  const end = rows.at(-1)
  if (ways.length > page.limit && last !== undefined) {
    return { rows: ways.slice(0, page.limit), next: [last.group_id ?? '', last.user_id] }
  }
  const next = end?.place === maxGroups ? [end.group_id ?? '', end.user_id ?? lastId] : undefined
  return { rows: ways, next }
}

/**
 * Group after group, until there are enough rows: what it reads depends on the page, and not on how many hold the role. A row
 * without a user ends a page that found few.
 */
function waysOf(tx: Tx, role_id: string, showsGroups: boolean, { limit, after }: PageRequest): Statement<Row> {
  const [after_group, after_user] = after ?? ['', null]
  const isOwn = after_group === ''
  const count = limit + 1
  const groupName = sql`(select g.name from tenant_group g
    where g.tenant_id = ${tx.tenant_id}::uuid and g.id = w.group_id)`
  const nextGroup = (behind: Statement, membersBehind: Statement) => sql`select gr.group_id, array(
      select gm.user_id from group_member gm
      where gm.tenant_id = ${tx.tenant_id}::uuid and gm.group_id = gr.group_id and ${membersBehind}
        and ${isCurrent(sql`gm`)}
      order by gm.user_id limit ${count}) as members
    from group_role gr where gr.tenant_id = ${tx.tenant_id}::uuid and gr.role_id = ${role_id}::text and ${behind}
    order by gr.group_id limit 1`
  const [behind, membersBehind] = isOwn
    ? [sql`true`, sql`true`]
    : [
        sql`gr.group_id >= ${after_group}::uuid`,
        sql`(gr.group_id > ${after_group}::uuid or gm.user_id > ${after_user}::uuid)`,
      ]
  return sql<Row>`with recursive own as materialized (
      select ur.user_id from user_role ur
      where ur.tenant_id = ${tx.tenant_id}::uuid and ur.role_id = ${role_id}::text and ${isOwn}::boolean
        and (${after_user}::uuid is null or ur.user_id > ${after_user}::uuid)
      order by ur.user_id limit ${count}),
    found (group_id, members, total, place) as (
      select f.group_id, f.members, cardinality(f.members), 1 from (${nextGroup(behind, membersBehind)}) f
      where (select count(*) from own) < ${count}
      union all
      select n.group_id, n.members, found.total + cardinality(n.members), found.place + 1
      from found cross join lateral (${nextGroup(sql`gr.group_id > found.group_id`, sql`true`)}) n
      where found.total < ${count} and found.place < ${sqlInteger(maxGroups)}),
    way as (
      select user_id, null::uuid as group_id, 0 as place from own
      union all
      select member.user_id, found.group_id, found.place
      from found left join lateral unnest(found.members) as member (user_id) on true
      where member.user_id is not null or found.place = ${sqlInteger(maxGroups)})
    select w.user_id, w.group_id, w.place,
      (select u.name from tenant_user u where u.tenant_id = ${tx.tenant_id}::uuid and u.id = w.user_id) as user_name,
      ${showsGroups ? groupName : sql`null::text`} as group_name
    from (select * from way order by place, user_id limit ${count}) w order by w.place, w.user_id`
}
