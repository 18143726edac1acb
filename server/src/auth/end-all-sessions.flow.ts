import type { Database } from '../db/transaction.ts'
import { operatorActor } from '../kernel/context.ts'
import { endTenantSessions } from '../sessions/session-store.ts'
import { listTenantIds } from '../tenants/tenant-store.ts'

/**
 * Ends every session of every tenant that began before the moment, an ISO time by the database's clock, and records it in each tenant
 * that had one. Returns the number of sessions.
 */
export async function endAllSessions(
  database: Pick<Database, 'tenant' | 'work'>,
  { begunBefore }: { begunBefore: string },
): Promise<number> {
  let ended = 0
  for (const id of await listTenantIds(database.work)) {
    const ctx = { tx: database.tenant(id), actor: operatorActor, request_id: 'operator' }
    const endSome = () => endTenantSessions(ctx, begunBefore)
    for (let some = await endSome(); some > 0; some = await endSome()) ended += some
  }
  return ended
}
