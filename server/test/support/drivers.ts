import { driverTypes } from '../../src/app.ts'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { type Drivers, openDrivers } from '../../src/provisioners/drivers.ts'
import { rootKeyOf, rootKeysOf } from '../../src/secrets/root-key.ts'
import { openSealer } from '../../src/secrets/sealer.ts'

/** The service's own drivers, which may reach this machine; secrets under the key of `sliceServer`. */
export const testDrivers = (): Drivers =>
  openDrivers({
    types: driverTypes,
    sealer: openSealer(rootKeysOf([rootKeyOf(Buffer.alloc(32, 7))])),
    egress: openEgress(readEgressAllow('127.0.0.1')),
    public_url: 'http://127.0.0.1',
  })
