import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'

/** The user who sets up a second factor. `is_local`: they sign in with a password here. */
export type FactorOwner = { id: string; email: string; name: string; is_local: boolean }

export async function findFactorOwner(tx: Tx, user_id: string | null): Promise<FactorOwner | undefined> {
  const [found] = await tx.read(sql<FactorOwner>`select id, email, name, auth_provider = 'local' as is_local
    from tenant_user where tenant_id = ${tx.tenant_id} and id = ${user_id} and deleted_at is null`)
  return found
}
