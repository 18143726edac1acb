import { openProviderSignIn } from '../../src/auth/provider-sign-in.flow.ts'
import type { Database } from '../../src/db/transaction.ts'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { rootKeyOf, rootKeysOf } from '../../src/secrets/root-key.ts'
import { openSealer } from '../../src/secrets/sealer.ts'

/** Sign-in without providers; none can be set on an internal address. */
export function noProviders(database: Database) {
  const rootKeys = rootKeysOf([rootKeyOf(Buffer.alloc(32, 7))])
  return openProviderSignIn({
    database,
    rootKeys,
    sealer: openSealer(rootKeys),
    egress: openEgress(readEgressAllow('')),
    global: undefined,
    onRefusal: () => undefined,
    dropAdmissions: () => undefined,
  })
}
