import { isAtTarget, mayHoldLost } from '../db/at-target.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { ProvisionerUse } from '../provisioners/provisioner.ts'
import { isWanted } from './entitlement-store.ts'

/** What a provisioner would leave at its target: entitlements, up to `max`, that a live grant wants or that are or may be there. */
export async function findUse(tx: Tx, provisioner_id: string, max: number): Promise<ProvisionerUse> {
  const [use] = await tx.read(
    sql<ProvisionerUse>`select
      (select count(*)::int from (
        select from entitlement e where e.tenant_id = ${tx.tenant_id} and e.provisioner_id = ${provisioner_id}
          and (${isAtTarget} or ${isWanted})
        limit ${max}) in_use) as entitlements,
      exists (select from provisioner p where p.tenant_id = ${tx.tenant_id} and p.id = ${provisioner_id}
        and ${mayHoldLost}) as may_hold_lost`,
  )
  return use ?? { entitlements: 0, may_hold_lost: false }
}
