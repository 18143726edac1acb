import type { Database } from '../db/transaction.ts'
import { operatorActor } from '../kernel/context.ts'
import { endTenantSessions } from '../sessions/session-store.ts'
import { listTenantIds } from '../tenants/tenant-store.ts'

/** Ends every session of every tenant, and records it in each tenant that had one. Returns the number of sessions. */
export async function endAllSessions(database: Pick<Database, 'tenant' | 'work'>): Promise<number> {
  let ended = 0
  for (const id of await listTenantIds(database.work)) {
    const ctx = { tx: database.tenant(id), actor: operatorActor, request_id: 'operator' }
    for (let some = await endTenantSessions(ctx); some > 0; some = await endTenantSessions(ctx)) ended += some
  }
  return ended
}
