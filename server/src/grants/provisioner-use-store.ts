import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { isWanted } from './entitlement-store.ts'

/**
 * How many entitlements of a provisioner are not done with, at most `most`: a live grant wants them, something of ours is at
 * the target or may be, or they are to be looked at. What was there before us and is settled so, or was added there by hand, is
 * none of ours.
 */
export async function countInUse(tx: Tx, provisioner_id: string, most: number): Promise<number> {
  const [counted] = await tx.read(
    sql<{ count: number }>`select count(*)::int as count from (
      select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.provisioner_id = ${provisioner_id}
        and (e.next_look_at is not null or e.act is not null or e.may_land_until > clock_timestamp()
          or e.observed = 'unknown' or (e.observed = 'present' and not e.held_before and e.drift is distinct from 'added') or ${isWanted})
      limit ${most}) in_use`,
  )
  return counted?.count ?? 0
}
