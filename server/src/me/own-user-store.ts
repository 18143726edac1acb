import { needsSecondFactor } from '../auth/session-authority-store.ts'
import { sql } from '../db/sql.ts'
import { groupsHeldAsJson } from '../groups/group-store.ts'
import type { Tx } from '../kernel/context.ts'
import { unreadCount } from '../notifications/notification-store.ts'
import { rolesHeldAsJson } from '../roles/holding-store.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { tenantAsJson } from '../tenants/tenant-store.ts'
import { managerAsJson } from '../users/fact-store.ts'
import { maxListed, maxUnread, type OwnUserRow } from './own-user.ts'

/** One round trip. Undefined for a user who was deleted since their credential was checked. */
export async function findOwnUser(tx: Tx, user_id: string | null): Promise<OwnUserRow | undefined> {
  const self = sql`u.id`
  const [found] = await tx.read(sql<OwnUserRow>`
    select u.id, u.email, u.name, u.is_owner, u.locale, u.timezone, u.date_format, u.time_format,
      u.department, u.title, ${managerAsJson(sql`u`)} as manager,
      ${tenantAsJson(tx)} as tenant, ${settingsAsJson(tx)} as settings,
      ${rolesHeldAsJson(tx, self, maxListed)} as roles, ${groupsHeldAsJson(tx, self, maxListed)} as groups,
      ${unreadCount(tx, self, maxUnread)} as unread_notifications,
      u.auth_provider = 'local' and ${needsSecondFactor(tx, self)} as needs_second_factor
    from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and u.deleted_at is null`)
  return found
}
