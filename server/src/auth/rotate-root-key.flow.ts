import type { Database, UnrestrictedTx } from '../db/transaction.ts'
import type { RootKey, RootKeys } from '../secrets/root-key.ts'
import { forgetRootKeys, useFirstRootKey } from '../secrets/root-key-in-use.flow.ts'
import { countTenantKeys, listRootKeyIds } from '../secrets/root-key-store.ts'
import { countDerived, rotateTenantKeys, type TenantKeyRotation } from '../secrets/rotate-tenant-keys.flow.ts'
import { resealDiscovery } from '../tenants/discovery.flow.ts'
import { findDiscoveryKey } from '../tenants/discovery-key-store.ts'
import { resealSigningKey } from './signing-key.ts'
import { listAllSigningKeys, replaceSealedKey } from './signing-key-store.ts'

/**
 * Puts the first root key in use, seals everything under it that a root key seals (token keys, the discovery key and
 * tenants' data keys), and forgets the other root keys. `needed_beside`: other root keys that still seal something. `droppable`: the other keys in
 * the list.
 * @throws Error that names what cannot be opened. Everything else is then done, and no root key is forgotten
 */
export async function rotateRootKey(database: Database, rootKeys: RootKeys, options: TenantKeyRotation) {
  const root = await useFirstRootKey(database.service, rootKeys)
  const token_keys = await resealTokenKeys(database.service, rootKeys, root)
  await resealDiscovery(database.service, rootKeys, root)
  const { unopened, ...rotated } = await rotateTenantKeys(database, rootKeys, options)
  if (unopened.length > 0) {
    throw new Error(`${unopened.join('; ')}. Everything else is done; keep the old root keys, they are still needed`)
  }
  const needed_beside = await forgetRootKeys(database.service)
  const [, ...others] = rootKeys.all()
  return { root_key_id: root.id, token_keys, ...rotated, needed_beside, droppable: others.map(({ id }) => id) }
}

/** Seals every token key that is under another root key with this one. Returns their number. */
async function resealTokenKeys(service: UnrestrictedTx, rootKeys: RootKeys, root: RootKey): Promise<number> {
  let resealed = 0
  for (const stored of await listAllSigningKeys(service)) {
    if (stored.root_key_id === root.id) continue
    const after = resealSigningKey(rootKeys, root, stored)
    if (await replaceSealedKey(service, stored, after)) resealed += 1
  }
  return resealed
}

/** How many keys each root key seals. `of_old`: values sealed before root keys were recorded. */
export async function countKeysByRoot(database: Database, rootKeys: RootKeys) {
  const dataKeys = new Map((await countTenantKeys(database.work)).map(({ root_key_id, keys }) => [root_key_id, keys]))
  const tokenKeys = await listAllSigningKeys(database.service)
  const [inUse] = await listRootKeyIds(database.service)
  const discovery = await findDiscoveryKey(database.service)
  const tokenKeysUnder = (root: string | null) => tokenKeys.filter(({ root_key_id }) => root_key_id === root).length
  return {
    root_keys: rootKeys.all().map(({ id }) => ({
      id,
      in_use: id === inUse,
      data_keys: dataKeys.get(id) ?? 0,
      token_keys: tokenKeysUnder(id),
      discovery_keys: discovery?.root_key_id === id ? 1 : 0,
    })),
    of_old: { secrets: await countDerived(database), token_keys: tokenKeysUnder(null) },
  }
}
