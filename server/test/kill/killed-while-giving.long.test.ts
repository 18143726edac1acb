import { pointAt } from './crash-points.ts'
import { killAt } from './killing.ts'

/** The short form of `npm run test:kill`, on the sandbox: one step of each kind from the approval to the target's answer. */
killAt('sandbox', [
  pointAt('after', 'approval'),
  pointAt('after', 'entitlement claimed'),
  pointAt('after', 'create sent'),
  pointAt('before', 'reference kept'),
  pointAt('before', 'presence kept'),
])
