import { anyBatch, pointAt } from './crash-points.ts'
import { killAt } from './killing.ts'

/** The short form of `npm run test:kill`, on the sandbox: a step of each kind, and two statements by chance. */
killAt('sandbox', [
  pointAt('after', 'approval'),
  pointAt('after', 'entitlement claimed'),
  pointAt('after', 'create sent'),
  pointAt('before', 'reference kept'),
  pointAt('before', 'presence kept'),
  pointAt('before', 'end written'),
  pointAt('after', 'polled'),
  pointAt('before', 'cursor moved'),
  pointAt('before', 'mail ended'),
  ...anyBatch,
])
