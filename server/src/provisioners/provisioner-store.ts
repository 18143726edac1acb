import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { KeptConfig } from '../secrets/sealed-config.ts'
import type { ProvisionerType } from './provisioner.ts'

/** A provisioner with its sealed secrets: never what is answered. */
export type ProvisionerToOpen = KeptConfig & {
  provisioner_type: ProvisionerType
  version: number
  /** Milliseconds for which secrets of before the last rotation count on; null or less than 0: they do not. */
  previous_ms: number | null
}

export async function findProvisionerToOpen(tx: Tx, id: string): Promise<ProvisionerToOpen | undefined> {
  const [found] = await tx.read(
    sql<ProvisionerToOpen>`select provisioner_type, config, sealed_secrets, version,
        (extract(epoch from previous_until - clock_timestamp()) * 1000)::float8 as previous_ms
      from provisioner where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return found
}
