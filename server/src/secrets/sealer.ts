import type { Sealer } from '../kernel/context.ts'
import { deriveKey, type RootKey } from './root-key.ts'
import { seal, unseal } from './seal.ts'

/** The sealer of an installation: each tenant's secrets under a key of its own, derived from the root key. */
export function openSealer(root: RootKey): Sealer {
  const keyOf = (tenant_id: string) => deriveKey(root, `seal:${tenant_id}`)
  return {
    seal: async (text, { tenant_id, table, id, field }) => seal(keyOf(tenant_id), text, [tenant_id, table, id, field]),
    unseal: async (sealed, { tenant_id, table, id, field }) =>
      unseal(keyOf(tenant_id), sealed, [tenant_id, table, id, field]).toString(),
  }
}
