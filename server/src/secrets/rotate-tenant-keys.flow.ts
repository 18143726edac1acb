import type { Database } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import type { RootKeys } from './root-key.ts'
import { listTenantsAfter } from './root-key-store.ts'
import { keyVersionOf } from './seal.ts'
import { type SealedColumn, type SealedValue, sealedColumns } from './sealed-column-store.ts'
import { addTenantKey, openSealer } from './sealer.ts'
import { rewrapTenantKey } from './tenant-key.ts'
import { deleteTenantKey, listTenantKeys, replaceWrapping } from './tenant-key-store.ts'

/** The result of a rotation. `unopened`: values and keys that no root key here opens; they stay as they are. */
export type RotatedKeys = { tenants: number; rewrapped: number; resealed: number; removed: number; unopened: string[] }

export type TenantKeyRotation = {
  /** Whether each tenant gets a new data key, with all its values sealed again under that key. */
  dataKeys: boolean
  /** Called after each full page of tenants. */
  onTenants(tenants: number): void
}

const tenantsPerPage = 200
const valuesPerPage = 100
/** The maximum number of unopened values and keys that the result names. */
const maxNamed = 100

/**
 * Wraps every tenant's data keys with the root key in use, and seals again the values that are still under a key derived
 * from a root key. It may run beside running services and other rotations: each step replaces one unchanged value.
 */
export async function rotateTenantKeys(
  database: Database,
  rootKeys: RootKeys,
  { dataKeys, onTenants }: TenantKeyRotation,
): Promise<RotatedKeys> {
  const total: RotatedKeys = { tenants: 0, rewrapped: 0, resealed: 0, removed: 0, unopened: [] }
  for await (const tx of tenantsOf(database)) {
    const wrapped = await rewrapDataKeys(tx, rootKeys)
    const minVersion = dataKeys ? await addNewestKey(tx, rootKeys) : 1
    const sealed = await resealValues(tx, rootKeys, minVersion)
    total.tenants += 1
    total.rewrapped += wrapped.rewrapped
    total.resealed += sealed.resealed
    total.unopened = [...total.unopened, ...wrapped.unopened, ...sealed.unopened].slice(0, maxNamed)
    if (total.unopened.length === 0) total.removed += await removeUnusedKeys(tx, sealed.inUse)
    if (total.tenants % tenantsPerPage === 0) onTenants(total.tenants)
  }
  return total
}

/** The number of values still under a key derived directly from a root key, as all were before tenants had data keys. */
export async function countDerived(database: Database): Promise<number> {
  let derived = 0
  for await (const tx of tenantsOf(database)) {
    for (const column of sealedColumns) {
      for await (const value of valuesOf(tx, column)) if (versionOf(value) === undefined) derived += 1
    }
  }
  return derived
}

async function rewrapDataKeys(tx: Tx, rootKeys: RootKeys): Promise<Pick<RotatedKeys, 'rewrapped' | 'unopened'>> {
  const to = rootKeys.inUse()
  const unopened: string[] = []
  let rewrapped = 0
  for (const wrapped of await listTenantKeys(tx)) {
    if (wrapped.root_key_id === to.id) continue
    const from = rootKeys.find(wrapped.root_key_id)
    try {
      if (from === undefined) throw new Error(`the root key ${wrapped.root_key_id} is not here`)
      if (await replaceWrapping(tx, wrapped, rewrapTenantKey(from, to, wrapped, tx.tenant_id))) rewrapped += 1
    } catch (error) {
      unopened.push(`the data key ${wrapped.version} of tenant ${tx.tenant_id}: ${reasonOf(error)}`)
    }
  }
  return { rewrapped, unopened }
}

/** Gives a tenant that has a data key a new one. Returns the minimum version whose values may stay as they are. */
async function addNewestKey(tx: Tx, rootKeys: RootKeys): Promise<number> {
  const [newest] = await listTenantKeys(tx)
  if (newest === undefined) return 1
  await addTenantKey(tx, rootKeys, newest.version + 1)
  return newest.version + 1
}

/** Seals again the values under no data key or one before `minVersion`. `inUse`: the data keys that the values were under. */
async function resealValues(tx: Tx, rootKeys: RootKeys, minVersion: number) {
  const inUse = new Set<number>()
  const unopened: string[] = []
  let resealed = 0
  for (const column of sealedColumns) {
    // A new sealer for each column has an empty cache, so it seals under the newest key.
    const sealer = openSealer(rootKeys)
    for await (const value of valuesOf(tx, column)) {
      const version = versionOf(value)
      if (version !== undefined) inUse.add(version)
      if (version !== undefined && version >= minVersion) continue
      const place = column.place(tx, value.row)
      const text = await sealer.unseal(tx, value.sealed, place).catch((error: unknown) => {
        if (unopened.length < maxNamed) unopened.push(`${column.name} of ${describe(tx, value)}: ${reasonOf(error)}`)
      })
      if (text === undefined) continue
      const [[replaced]] = await tx.write([column.replace(tx, value, await sealer.seal(tx, text, place))])
      if (replaced !== undefined) resealed += 1
    }
  }
  return { inUse, resealed, unopened }
}

/** Removes the older data keys that no value is under. Returns their number. */
async function removeUnusedKeys(tx: Tx, inUse: ReadonlySet<number>): Promise<number> {
  let removed = 0
  for (const { version } of (await listTenantKeys(tx)).slice(1)) {
    if (!inUse.has(version) && (await deleteTenantKey(tx, version))) removed += 1
  }
  return removed
}

async function* tenantsOf(database: Database): AsyncGenerator<Tx> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const page = await listTenantsAfter(database.work, after, tenantsPerPage)
    for (const id of page) yield database.tenant(id)
    const last = page.at(-1)
    if (last === undefined) return
    after = last
  }
}

async function* valuesOf(tx: Tx, column: SealedColumn): AsyncGenerator<SealedValue> {
  let after = ''
  for (;;) {
    const page = await tx.read(column.list(tx, after, valuesPerPage))
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = last.row
  }
}

/** Undefined for a value under a key derived from a root key, and for text that is not a sealed value. */
function versionOf({ sealed }: SealedValue): number | undefined {
  try {
    return keyVersionOf(sealed)
  } catch {
    return undefined
  }
}

function describe({ tenant_id }: Tx, { row }: SealedValue): string {
  return row === tenant_id ? `tenant ${tenant_id}` : `${row} of tenant ${tenant_id}`
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
