import type { InstallationState } from '../installation/installation.ts'
import type { Egress, Sealer, Tx } from '../kernel/context.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { claimedDriver } from './claimed-driver.ts'
import { openClaims } from './claims.flow.ts'
import { discreetDriver } from './discreet-driver.ts'
import { type Driver, type DriverType, TargetError, type TargetPace } from './driver.ts'
import { maxCallMs } from './in-time.ts'
import type { MarkKeys } from './marks.ts'
import { findOpening } from './open-provisioner.flow.ts'
import type { ProvisionerType } from './provisioner.ts'

/**
 * Which provisioner. A tenant's own: its id, and its version, which the caller has just read together with its work. Both null:
 * the sandbox of a tenant without provisioners.
 */
export type ProvisionerRef = {
  provisioner: ProvisionerType
  provisioner_id: string | null
  provisioner_version: number | null
}

/** Every tenant's drivers. */
export type Drivers = {
  /**
   * The driver of a provisioner, configured as of that version or a later one.
   * @throws TargetError permanent, when the provisioner was deleted
   */
  of(tx: Tx, ref: ProvisionerRef): Promise<Driver>
  /**
   * Writes the claim of its target further, before a sweep of it. False: the target keeps none, so that another one that acts there would not be
   * seen. @throws HeldBack while nothing may be done there
   */
  beat(tx: Tx, ref: ProvisionerRef): Promise<boolean>
  /** Closes all of them. */
  close(): Promise<void>
}

/** The driver types, by the type of provisioner. */
export type DriverTypes = Readonly<Record<ProvisionerType, DriverType>>

/** How fast the targets of each type take calls that throttle any. */
export function pacesOf(types: DriverTypes): Record<string, TargetPace> {
  const paces = Object.entries(types).flatMap(([type, { pace }]) =>
    pace === undefined ? [] : [[type, pace()] as const],
  )
  return Object.fromEntries(paces)
}

type DriversOptions = {
  types: DriverTypes
  sealer: Sealer
  egress: Egress
  public_url: string
  installation: InstallationState
  markKeys: MarkKeys
  /** How long a process listens for another holder of a target before it writes a claim further; left out: as in use. */
  listenMs?: number | undefined
}

/** `until`: when it must be reopened in any case, by `performance.now()`. */
type Open = { version: number; driver: Driver; until: number }

/** This many recently used drivers stay open, and at most twice as many. */
const maxOpen = 1_000

export function openDrivers(options: DriversOptions): Drivers {
  const { types, sealer, egress, public_url, installation } = options
  const claims = openClaims(options)
  const marks = { installation, keys: options.markKeys }
  const all = new Set<Driver>()

  /** Closes it once its calls in flight have ended. */
  const retire = (driver: Driver) => {
    const close = () => {
      all.delete(driver)
      void driver.close().catch(() => undefined)
    }
    setTimeout(close, maxCallMs).unref()
  }
  const opened = createLruCache<Promise<Open>>(maxOpen, (open) => {
    open.then(
      ({ driver }) => retire(driver),
      () => undefined,
    )
  })
  const pretend = types.sandbox.open({ tenant_id: '', provisioner_id: '', config: {}, previous: {}, ...options })

  const openNow = async (tx: Tx, id: string): Promise<Open> => {
    const openable = await findOpening({ tx, sealer, egress, public_url, marks }, id)
    if (openable === undefined) throw new TargetError('permanent', 'its provisioner was deleted')
    const { found, secrets, opening } = openable
    const discreet = discreetDriver(types[found.provisioner_type].open(opening), secrets)
    const driver = found.provisioner_type === 'sandbox' ? discreet : claimedDriver(discreet, id, claims)
    all.add(driver)
    const overlapMs = found.previous_ms ?? 0
    const until = overlapMs > 0 ? performance.now() + overlapMs : Number.POSITIVE_INFINITY
    return { version: found.version, driver, until }
  }

  const renew = (tx: Tx, id: string, open: Open, version: number): Open | Promise<Open> => {
    if (open.version >= version && performance.now() < open.until) return open
    retire(open.driver)
    return openNow(tx, id)
  }

  const of: Drivers['of'] = async (tx, { provisioner, provisioner_id, provisioner_version }) => {
    if (provisioner_id === null || provisioner_version === null) {
      if (provisioner === 'sandbox') return pretend
      throw new TargetError('permanent', 'its provisioner was deleted')
    }
    const key = `${tx.tenant_id}/${provisioner_id}`
    const before = opened.get(key)
    const now =
      before === undefined
        ? openNow(tx, provisioner_id)
        : before.then((one) => renew(tx, provisioner_id, one, provisioner_version))
    opened.set(key, now)
    // A driver that failed to open is not cached.
    now.catch(() => opened.get(key) === now && opened.delete(key))
    return (await now).driver
  }

  return {
    of,
    async beat(tx, ref) {
      // The sandbox is in the database itself.
      if (ref.provisioner === 'sandbox' || ref.provisioner_id === null) return true
      return claims.beat(tx, ref.provisioner_id, (await of(tx, ref)).claims)
    },
    async close() {
      await Promise.allSettled([...all].map((driver) => driver.close()))
    },
  }
}
