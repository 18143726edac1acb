import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'

/**
 * Locks some of the users who have a pending request, or a grant that waits or is active, in the order of their ids, and returns their
 * ids. Only inside `interactive`.
 */
export async function lockHolders(tx: Tx, limit: number): Promise<string[]> {
  const { tenant_id } = tx
  const [held] = await tx.write([
    sql<{ id: string }>`select u.id from tenant_user u
      where u.tenant_id = ${tenant_id} and u.id in (
        select g.user_id from access_grant g
          where g.tenant_id = ${tenant_id} and g.status in ('pending', 'active')
        union select r.requester_id from access_request r
          where r.tenant_id = ${tenant_id} and r.status = 'pending')
      order by u.id limit ${limit} for no key update`,
  ])
  return held.map(({ id }) => id)
}
