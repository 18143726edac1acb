import type { Egress, Sealer, Tx } from '../kernel/context.ts'
import type { Opening } from './driver.ts'
import { type MarkSource, marksOf } from './marks.ts'
import { openSecrets, type ProvisionerSecrets, wholeConfig } from './provisioner-secrets.ts'
import { findProvisionerToOpen, type ProvisionerToOpen } from './provisioner-store.ts'

/** The dependencies to open a driver, beside the provisioner itself. */
type Dependencies = { tx: Tx; sealer: Sealer; egress: Egress; public_url: string } & { marks?: MarkSource }

/** A provisioner's current state, its secrets, and the input to open its driver. */
type Openable = { found: ProvisionerToOpen; secrets: ProvisionerSecrets; opening: Opening }

/** Undefined when the tenant has no such provisioner. One round trip, or two when it has secrets. */
export async function findOpening(dependencies: Dependencies, id: string): Promise<Openable | undefined> {
  const found = await findProvisionerToOpen(dependencies.tx, id)
  if (found === undefined) return undefined
  const secrets = await openSecrets(dependencies, id, found.sealed_secrets)
  return { found, secrets, opening: openingOf(dependencies, id, found, secrets) }
}

/** The input to open the driver of a provisioner with this config and these secrets. */
export function openingOf(
  { tx, egress, public_url, marks }: Omit<Dependencies, 'sealer'>,
  provisioner_id: string,
  kept: Parameters<typeof wholeConfig>[0],
  secrets: ProvisionerSecrets,
): Opening {
  return {
    tenant_id: tx.tenant_id,
    provisioner_id,
    ...wholeConfig(kept, secrets),
    egress,
    public_url,
    ...(marks && { marks: marksOf(marks, { tenant_id: tx.tenant_id, provisioner_id }) }),
  }
}
