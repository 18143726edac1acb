/** Tenants are found by their slug or mail domain, and nobody learns whether a name leads to one. */
import type { Database, UnrestrictedTx } from '../db/transaction.ts'
import type { Discovery } from '../kernel/context.ts'
import { momentOf } from '../kernel/id.ts'
import type { RootKey, RootKeys } from '../secrets/root-key.ts'
import {
  type DiscoveryKey,
  inventedId,
  makeDiscoveryKey,
  newTenantId,
  openDiscoveryKey,
  resealDiscoveryKey,
} from './discovery-key.ts'
import { findDiscoveryKey, findIdSpan, insertDiscoveryKey, replaceDiscoverySeal } from './discovery-key-store.ts'
import { listTenantsNamed } from './discovery-store.ts'
import { findOldestTenantId } from './tenant-store.ts'

type DiscoveryParts = { database: Pick<Database, 'work' | 'service'>; rootKeys: RootKeys }

/**
 * Opens discovery, and makes its key when there is none. The process keeps the key: it never changes.
 * @throws Error when the key was sealed with a root key that is not here
 */
export async function openDiscovery({ database, rootKeys }: DiscoveryParts): Promise<Discovery> {
  const key = await requireKey(database, rootKeys)
  return {
    async find(name) {
      const found = await listTenantsNamed(database.work, name)
      // Computed for every name, so that the work is the same.
      const invented = { tenant_id: inventedId(key, name), has_provider: false }
      const [only] = found
      return only !== undefined && found.length === 1 ? only : invented
    },
  }
}

async function requireKey({ work, service }: DiscoveryParts['database'], rootKeys: RootKeys): Promise<DiscoveryKey> {
  const stored = await findDiscoveryKey(service)
  if (stored !== undefined) return openDiscoveryKey(rootKeys, stored)
  const oldest = await findOldestTenantId(work)
  await insertDiscoveryKey(
    service,
    makeDiscoveryKey(rootKeys.inUse()),
    oldest === undefined ? undefined : momentOf(oldest),
  )
  // Another process that starts at the same moment may have inserted its own.
  const made = await findDiscoveryKey(service)
  if (made === undefined) throw new Error('the discovery key was not inserted')
  return openDiscoveryKey(rootKeys, made)
}

/** The id of a new tenant. */
export async function makeTenantId(service: UnrestrictedTx): Promise<string> {
  return newTenantId(await findIdSpan(service))
}

/** Seals the key with this root key if another one sealed it. */
export async function resealDiscovery(service: UnrestrictedTx, rootKeys: RootKeys, root: RootKey): Promise<void> {
  const stored = await findDiscoveryKey(service)
  if (stored === undefined || stored.root_key_id === root.id) return
  await replaceDiscoverySeal(service, stored, resealDiscoveryKey(rootKeys, root, stored))
}
