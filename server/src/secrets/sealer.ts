import type { SealedPlace, Sealer, Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { deriveKey, type RootKeys } from './root-key.ts'
import { keyVersionOf, seal, unseal, unsealWithAny } from './seal.ts'
import { makeTenantKey, unwrapTenantKey } from './tenant-key.ts'
import { insertTenantKey, listTenantKeys } from './tenant-key-store.ts'

/** A tenant's unwrapped data keys. `newest` seals; undefined when the tenant has none yet. */
type KeyRing = { newest: { version: number; key: Buffer } | undefined; keys: ReadonlyMap<number, Buffer> }

/** How long a process caches a tenant's data keys, and for how many tenants. */
const keptForMs = 60_000
const maxKeyRings = 1_000

/** How often adding a data key is tried while the root key in use changes. */
const maxTries = 5

/** Opens the sealer of an installation. It seals each tenant's secrets under the tenant's own data keys, which root keys wrap. */
export function openSealer(roots: RootKeys): Sealer {
  const rings = new Map<string, { ring: KeyRing; until: number }>()

  const readRing = async (tx: Tx): Promise<KeyRing> => {
    const { ring, settled } = await openRing(tx, roots)
    rings.delete(tx.tenant_id)
    const [oldest] = rings.keys()
    if (rings.size >= maxKeyRings && oldest !== undefined) rings.delete(oldest)
    // INVARIANT: a key that this transaction made is not cached: the transaction may be rolled back.
    if (settled) rings.set(tx.tenant_id, { ring, until: performance.now() + keptForMs })
    return ring
  }

  const findRing = (tx: Tx): KeyRing | undefined => {
    const kept = rings.get(tx.tenant_id)
    return kept !== undefined && performance.now() < kept.until ? kept.ring : undefined
  }

  const newestKey = async (tx: Tx) => {
    const found = (findRing(tx) ?? (await readRing(tx))).newest
    if (found !== undefined) return found
    for (let tries = 0; tries < maxTries; tries += 1) {
      await addTenantKey(tx, roots, 1)
      const { newest } = await readRing(tx)
      if (newest !== undefined) return newest
    }
    throw keyUnavailable(new Error('the root key in use is not here, or keeps changing'))
  }

  return {
    async seal(tx, text, place) {
      const { version, key } = await newestKey(tx)
      return seal(key, text, boundTo(tx, place), version)
    },
    async unseal(tx, sealed, place) {
      const version = keyVersionOf(sealed)
      if (version === undefined) return unsealDerived(roots, tx, sealed, place)
      const key = findRing(tx)?.keys.get(version) ?? (await readRing(tx)).keys.get(version)
      // A missing key gets the same error from `unseal` as every other cause.
      return unseal(key ?? Buffer.alloc(32), sealed, boundTo(tx, place)).toString()
    },
  }
}

/** Makes a data key under the root key in use, when the version is free. It returns no key: the caller reads the stored one. */
export async function addTenantKey(tx: Tx, roots: RootKeys, version: number): Promise<void> {
  const inUse = await insertTenantKey(tx, makeTenantKey(roots.inUse(), tx.tenant_id, version))
  roots.use(inUse)
}

/** Unwraps the tenant's data keys, all of them or none. */
async function openRing(tx: Tx, roots: RootKeys): Promise<{ ring: KeyRing; settled: boolean }> {
  const wrapped = await listTenantKeys(tx)
  const opened = wrapped.map((one) => {
    const root = roots.find(one.root_key_id)
    if (root === undefined) throw keyUnavailable(new Error(`the root key ${one.root_key_id} is not here`))
    return { version: one.version, key: unwrapTenantKey(root, one, tx.tenant_id) }
  })
  const keys = new Map(opened.map(({ version, key }) => [version, key]))
  return { ring: { newest: opened[0], keys }, settled: wrapped.length > 0 && wrapped.every(({ settled }) => settled) }
}

/** Opens a value sealed before tenants had data keys: under a key derived from the root key. */
function unsealDerived(roots: RootKeys, tx: Tx, sealed: string, place: SealedPlace): string {
  const keys = roots.all().map(({ bytes }) => deriveKey(bytes, `seal:${tx.tenant_id}`))
  return unsealWithAny(keys, sealed, boundTo(tx, place)).toString()
}

function boundTo({ tenant_id }: Tx, { table, id, field }: SealedPlace): string[] {
  return [tenant_id, table, id, field]
}

function keyUnavailable(cause: Error): Problem {
  const problem = new Problem('unavailable', 'the secrets of this tenant cannot be opened at present; try again later')
  problem.cause = cause
  return problem
}
