import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import type { Driver, Opening } from '../../src/provisioners/driver.ts'
import { type Drivers, openDrivers } from '../../src/provisioners/drivers.ts'
import { rootKeyOf, rootKeysOf } from '../../src/secrets/root-key.ts'
import { openSealer } from '../../src/secrets/sealer.ts'
import { faultyDriverTypes } from './faulty-sandbox.ts'
import { markKeys, original } from './original.ts'

/**
 * The service's own drivers, which may reach this machine, and a sandbox that meets injected faults; secrets are under the key
 * of `sliceServer`.
 */
export const testDrivers = (types = faultyDriverTypes): Drivers =>
  openDrivers({
    types,
    sealer: openSealer(rootKeysOf([rootKeyOf(Buffer.alloc(32, 7))])),
    egress: openEgress(readEgressAllow('127.0.0.1')),
    public_url: 'http://127.0.0.1',
    installation: original,
    markKeys,
  })

/** The same, with a sandbox in which some functions are replaced. */
export const driversWith = (change: (sandbox: Driver) => Partial<Driver>): Drivers => {
  const { sandbox } = faultyDriverTypes
  const open = (opening: Opening) => {
    const driver = sandbox.open(opening)
    return { ...driver, ...change(driver) }
  }
  return testDrivers({ ...faultyDriverTypes, sandbox: { ...sandbox, open } })
}
