import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { isWanted } from './entitlement-store.ts'

/**
 * The number of entitlements of a provisioner that are in use, up to `max`: a live grant wants them, something of ours is or may
 * be at the target, or a check is due. Access that was there before us and is settled, or that was added by hand, does not count.
 */
export async function countInUse(tx: Tx, provisioner_id: string, max: number): Promise<number> {
  const [counted] = await tx.read(
    sql<{ count: number }>`select count(*)::int as count from (
      select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.provisioner_id = ${provisioner_id}
        and (e.next_look_at is not null or e.act is not null or e.may_land_until > clock_timestamp()
          or e.observed = 'unknown'
          or (e.observed = 'present' and not e.held_before and e.drift is distinct from 'added') or ${isWanted}
          or exists (select from orphan o where o.tenant_id = e.tenant_id and o.id = e.id and o.origin = 'ours'))
      limit ${max}) in_use`,
  )
  return counted?.count ?? 0
}
