import { sql } from '../db/sql.ts'
import type { SealedPlace, Tx } from '../kernel/context.ts'
import type { KeptConfig } from '../secrets/sealed-config.ts'
import type { ProvisionerType } from './provisioner.ts'

/** Where a provisioner's secrets are sealed to. */
export function placeOfSecrets(id: string): SealedPlace {
  return { table: 'provisioner', id, field: 'sealed_secrets' }
}

/** A provisioner with its sealed secrets: never what is answered. */
export type ProvisionerToOpen = KeptConfig & { id: string; provisioner_type: ProvisionerType; version: number }

export async function findProvisionerToOpen(tx: Tx, id: string): Promise<ProvisionerToOpen | undefined> {
  const [found] = await tx.read(
    sql<ProvisionerToOpen>`select id, provisioner_type, config, sealed_secrets, version from provisioner
      where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return found
}

/** The version of a provisioner; undefined where it is gone. */
export async function findVersion(tx: Tx, id: string): Promise<number | undefined> {
  const [found] = await tx.read(
    sql<{ version: number }>`select version from provisioner where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return found?.version
}
