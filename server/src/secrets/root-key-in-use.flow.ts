import type { UnrestrictedTx } from '../db/transaction.ts'
import type { RootKey, RootKeys } from './root-key.ts'
import { deleteRootKey, listRootKeyIds, putRootKeyInUse } from './root-key-store.ts'

/**
 * Uses the root key that the database says is in use. Returns that key's id (undefined when none is recorded yet) and the
 * ids of the root keys that the database needs and that are `missing` here. When any is missing, nothing changes.
 */
export async function followRootKeyInUse(
  service: UnrestrictedTx,
  rootKeys: RootKeys,
): Promise<{ inUse: string | undefined; missing: string[] }> {
  const ids = await listRootKeyIds(service)
  const missing = ids.filter((id) => rootKeys.find(id) === undefined)
  const [inUse] = ids
  if (missing.length === 0 && inUse !== undefined) rootKeys.use(inUse)
  return { inUse, missing }
}

/** Puts the first of the root keys in use, in every process. */
export async function useFirstRootKey(service: UnrestrictedTx, rootKeys: RootKeys): Promise<RootKey> {
  const [first] = rootKeys.all()
  await putRootKeyInUse(service, first.id)
  rootKeys.use(first.id)
  return first
}

/** Forgets the root keys that no longer wrap anything. Returns those that are still needed beside the one in use. */
export async function forgetRootKeys(service: UnrestrictedTx): Promise<string[]> {
  const [, ...others] = await listRootKeyIds(service)
  const needed: string[] = []
  for (const id of others) await deleteRootKey(service, id).catch(() => needed.push(id))
  return needed
}
