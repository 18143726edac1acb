import type { Egress, Sealer, Tx } from '../kernel/context.ts'
import { createRecent } from '../kernel/recent.ts'
import { type Driver, type DriverType, TargetError } from './driver.ts'
import type { ProvisionerType } from './provisioner.ts'
import { findProvisionerToOpen, findVersion, type ProvisionerToOpen, placeOfSecrets } from './provisioner-store.ts'

/** Which provisioner: of a tenant's own by its id; null: the sandbox of a tenant that has none. */
export type ProvisionerRef = { provisioner: ProvisionerType; provisioner_id: string | null }

/** Every tenant's ways to its targets. */
export type Drivers = {
  /**
   * The driver of a provisioner as it is set up now, or was a few seconds ago.
   * @throws TargetError permanent, where it was deleted
   */
  of(tx: Tx, ref: ProvisionerRef): Promise<Driver>
  /** Closes all of them. */
  close(): Promise<void>
}

type DriversOptions = {
  types: Readonly<Record<ProvisionerType, DriverType>>
  sealer: Sealer
  egress: Egress
  public_url: string
}

type Open = { version: number; driver: Driver; asked: number }

/** So many are kept open; each is asked for its version at most so often, in milliseconds. */
const mostOpen = 1_000
const askedEveryMs = 2_000

export function openDrivers(options: DriversOptions): Drivers {
  const { types } = options
  const opened = createRecent<Promise<Open>>(mostOpen)
  const all = new Set<Driver>()
  const pretend = types.sandbox.open({ tenant_id: '', provisioner_id: '', config: {}, ...options })

  const openNow = async (tx: Tx, id: string): Promise<Open> => {
    const found = await findProvisionerToOpen(tx, id)
    if (found === undefined) throw new TargetError('permanent', 'its provisioner was deleted')
    const config = await openConfig(tx, found, options.sealer)
    const { egress, public_url } = options
    const opening = { tenant_id: tx.tenant_id, provisioner_id: id, config, egress, public_url }
    const driver = types[found.provisioner_type].open(opening)
    all.add(driver)
    return { version: found.version, driver, asked: performance.now() }
  }

  /** The same, or another in its place where it was changed since. */
  const renew = async (tx: Tx, id: string, open: Open): Promise<Open> => {
    if (performance.now() - open.asked < askedEveryMs) return open
    open.asked = performance.now()
    if ((await findVersion(tx, id)) === open.version) return open
    all.delete(open.driver)
    void open.driver.close().catch(() => undefined)
    return openNow(tx, id)
  }

  return {
    async of(tx, { provisioner, provisioner_id }) {
      if (provisioner_id === null) {
        if (provisioner === 'sandbox') return pretend
        throw new TargetError('permanent', 'its provisioner was deleted')
      }
      const key = `${tx.tenant_id}/${provisioner_id}`
      const before = opened.get(key)
      const now =
        before === undefined ? openNow(tx, provisioner_id) : before.then((one) => renew(tx, provisioner_id, one))
      opened.set(key, now)
      // What could not be opened is not kept.
      now.catch(() => opened.get(key) === now && opened.delete(key))
      return (await now).driver
    },
    async close() {
      await Promise.allSettled([...all].map((driver) => driver.close()))
    },
  }
}

/** A provisioner's config with its secrets in their places. */
async function openConfig(
  tx: Tx,
  { id, config, sealed_secrets }: ProvisionerToOpen,
  sealer: Sealer,
): Promise<Record<string, unknown>> {
  if (sealed_secrets === null) return config
  const secrets = JSON.parse(await sealer.unseal(tx, sealed_secrets, placeOfSecrets(id))) as Record<string, unknown>
  return { ...config, ...secrets }
}
