import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { isCurrent } from '../roles/membership-store.ts'
import { decidingScope } from './notification-rules.ts'

/**
 * Of these users, those who hold `requests:approve` themselves, or by a group whose members are notified: the others may decide, and are
 * not notified of what waits. One round trip, none for no users, which reads each table once: user by user, a plan made before the tenant
 * grew would read all of it for each of them.
 */
export async function notifiedAmong(tx: Tx, user_ids: readonly string[]): Promise<string[]> {
  if (user_ids.length === 0) return []
  // As a select: without statistics, an older planner reads the whole tenant for a list of known length.
  const these = sql`array(select unnest(${[...user_ids]}::uuid[]))`
  const notified = await tx.read(sql<{ user_id: string }>`with own as materialized (
      select ur.user_id, ur.role_id from user_role ur
      where ur.tenant_id = ${tx.tenant_id}::uuid and ur.user_id = any(${these})),
    joined as materialized (
      select gm.user_id, gm.group_id from group_member gm
      where gm.tenant_id = ${tx.tenant_id}::uuid and gm.user_id = any(${these})
        and ${isCurrent(sql`gm`)}),
    given as materialized (
      select gr.group_id, gr.role_id from group_role gr
      where gr.tenant_id = ${tx.tenant_id}::uuid and gr.group_id = any(array(
        select g.id from tenant_group g where g.tenant_id = ${tx.tenant_id}::uuid and g.members_notified
          and g.id = any(array(select distinct group_id from joined))))),
    deciding as materialized (
      select r.id from role r
      where r.tenant_id = ${tx.tenant_id}::uuid and ${decidingScope}::text = any(r.scopes)
        and r.id = any(array(select role_id from own union select role_id from given)))
    select user_id from own where role_id in (select id from deciding)
    union select user_id from joined
    where group_id in (select group_id from given where role_id in (select id from deciding))`)
  return notified.map(({ user_id }) => user_id)
}
