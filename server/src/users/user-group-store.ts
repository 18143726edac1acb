import { readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { isCurrent } from '../roles/membership-store.ts'
import type { UserGroup } from './user.ts'

/** One page of a user's groups, in the order in which the groups were created. `showsNames`: with the names of the groups. */
export function listUserGroupsPage(
  tx: Tx,
  user_id: string,
  showsNames: boolean,
  page: PageRequest,
): Promise<PageRows<UserGroup>> {
  const [group_id, uuid] = [sql`r.group_id`, sql`uuid`]
  const name = sql`(select g.name from tenant_group g
    where g.tenant_id = ${tx.tenant_id}::uuid and g.id = r.group_id)`
  const list = {
    table: sql`group_member r`,
    columns: sql`r.group_id, ${showsNames ? name : sql`null::text`} as group_name, r.membership_source, r.created_at`,
    order: { by: group_id, id: group_id, types: [uuid, uuid], descending: false },
    range: [],
    filters: [{ column: sql`r.user_id`, type: uuid, values: [user_id] }],
    tested: [isCurrent(sql`r`)],
  } as const
  return readListPage<UserGroup>(tx, list, page)
}
