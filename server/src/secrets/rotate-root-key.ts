import type { Database } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import type { RootKey, RootKeys } from './root-key.ts'
import { deleteRootKey, listRootKeyIds, listTenantsAfter, putRootKeyInUse } from './root-key-store.ts'
import { keyVersionOf } from './seal.ts'
import { type SealedColumn, type SealedValue, sealedColumns } from './sealed-column-store.ts'
import { addTenantKey, openSealer } from './sealer.ts'
import { rewrapTenantKey } from './tenant-key.ts'
import { deleteTenantKey, listTenantKeys, replaceWrapping } from './tenant-key-store.ts'

/** What a change of keys came to. `unopened`: values and keys that no key at hand opens; they stay as they are. */
export type Rotated = { tenants: number; rewrapped: number; resealed: number; removed: number; unopened: string[] }

export type RotateOptions = {
  database: Database
  rootKeys: RootKeys
  /** Whether each tenant gets a new data key, and all its values are sealed anew under that. */
  dataKeys: boolean
  /** Told after each full page of tenants. */
  onTenants?(tenants: number): void
  /** Ends the work between two tenants; what is done is done, the next run goes on. */
  signal?: AbortSignal
}

const nobody = '00000000-0000-0000-0000-000000000000'
const tenantsAPage = 200
const valuesAPage = 100
/** Of those that stay shut, so many are named. */
const mostNamed = 100

/** The first of the root keys is in use from here on, in every process. */
export async function useFirstRootKey(database: Database, rootKeys: RootKeys): Promise<RootKey> {
  const [first] = rootKeys.all()
  await putRootKeyInUse(database.service, first.id)
  rootKeys.use(first.id)
  return first
}

/**
 * Wraps every tenant's data keys with the root key in use, and seals anew what is still under a key derived from a root
 * key. Beside running services and beside itself: each step puts one thing in place of what it was, or else leaves it.
 */
export async function rotateTenantKeys(options: RotateOptions): Promise<Rotated> {
  const { database, onTenants, signal } = options
  const rotated: Rotated = { tenants: 0, rewrapped: 0, resealed: 0, removed: 0, unopened: [] }
  let after = nobody
  for (;;) {
    const page = await listTenantsAfter(database.work, after, tenantsAPage)
    for (const id of page) {
      signal?.throwIfAborted()
      await rotateTenant(options, database.tenant(id), rotated)
      rotated.tenants += 1
    }
    if (page.length === tenantsAPage) onTenants?.(rotated.tenants)
    const last = page.at(-1)
    if (last === undefined) return rotated
    after = last
  }
}

/** How many values are still under a key derived from a root key itself, as all were before tenants had data keys. */
export async function countDerived(database: Database): Promise<number> {
  let derived = 0
  let after = nobody
  for (;;) {
    const page = await listTenantsAfter(database.work, after, tenantsAPage)
    for (const id of page) {
      for (const column of sealedColumns) derived += await countDerivedIn(database.tenant(id), column)
    }
    const last = page.at(-1)
    if (last === undefined) return derived
    after = last
  }
}

async function countDerivedIn(tx: Tx, column: SealedColumn): Promise<number> {
  let derived = 0
  let after = ''
  for (;;) {
    const page = await tx.read(column.list(tx, after, valuesAPage))
    derived += page.filter((value) => versionOf(value) === undefined).length
    const last = page.at(-1)
    if (last === undefined) return derived
    after = last.row
  }
}

/** Forgets the root keys that nothing is wrapped with any more. Answers those that are still needed beside the one in use. */
export async function forgetRootKeys(database: Database): Promise<string[]> {
  const [, ...others] = await listRootKeyIds(database.service)
  const needed: string[] = []
  for (const id of others) await deleteRootKey(database.service, id).catch(() => needed.push(id))
  return needed
}

async function rotateTenant(options: RotateOptions, tx: Tx, rotated: Rotated): Promise<void> {
  const { rootKeys, dataKeys } = options
  await rewrapKeys(rootKeys, tx, rotated)
  const [newest] = await listTenantKeys(tx)
  if (dataKeys && newest !== undefined) await addTenantKey(tx, rootKeys, newest.version + 1)
  const least = dataKeys && newest !== undefined ? newest.version + 1 : 1
  const inUse = new Set<number>()
  for (const column of sealedColumns) await resealColumn(options, tx, column, { least, inUse, rotated })
  if (rotated.unopened.length > 0) return
  for (const { version } of (await listTenantKeys(tx)).slice(1)) {
    if (!inUse.has(version) && (await deleteTenantKey(tx, version))) rotated.removed += 1
  }
}

async function rewrapKeys(rootKeys: RootKeys, tx: Tx, rotated: Rotated): Promise<void> {
  const to = rootKeys.inUse()
  for (const wrapped of await listTenantKeys(tx)) {
    if (wrapped.root_key_id === to.id) continue
    const from = rootKeys.find(wrapped.root_key_id)
    try {
      if (from === undefined) throw new Error(`the root key ${wrapped.root_key_id} is not here`)
      if (await replaceWrapping(tx, wrapped, rewrapTenantKey(from, to, wrapped, tx.tenant_id))) rotated.rewrapped += 1
    } catch (error) {
      noteUnopened(rotated, `the data key ${wrapped.version} of tenant ${tx.tenant_id}`, error)
    }
  }
}

type Reseal = { least: number; inUse: Set<number>; rotated: Rotated }

/** Seals anew what is under no data key, or one before `least`; notes which data keys the others are under. */
async function resealColumn(
  options: RotateOptions,
  tx: Tx,
  column: SealedColumn,
  { least, inUse, rotated }: Reseal,
): Promise<void> {
  // Its own, with nothing kept of before: it is to seal under the newest key.
  const sealer = openSealer(options.rootKeys)
  let after = ''
  for (;;) {
    const page = await tx.read(column.list(tx, after, valuesAPage))
    for (const value of page) {
      const version = versionOf(value)
      if (version !== undefined) inUse.add(version)
      if (version !== undefined && version >= least) continue
      const place = column.place(tx, value.row)
      const text = await sealer.unseal(tx, value.sealed, place).catch((error: unknown) => {
        noteUnopened(rotated, `${column.name} of ${describe(tx, value)}`, error)
      })
      if (text === undefined) continue
      const [[replaced]] = await tx.write([column.replace(tx, value, await sealer.seal(tx, text, place))])
      if (replaced !== undefined) rotated.resealed += 1
    }
    const last = page.at(-1)
    if (last === undefined) return
    after = last.row
  }
}

/** Undefined for a value that is under a key derived from a root key, and for what is no sealed value. */
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

function noteUnopened(rotated: Rotated, what: string, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error)
  if (rotated.unopened.length < mostNamed) rotated.unopened.push(`${what}: ${why}`)
}
