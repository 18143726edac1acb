import { anyBatch, pointAt } from './crash-points.ts'
import { killAt } from './killing.ts'

/** The short form of `npm run test:kill`, on the sandbox: a step of each kind until the last mail, and two statements by chance. */
killAt('sandbox', [
  pointAt('before', 'end written'),
  pointAt('after', 'polled'),
  pointAt('before', 'cursor moved'),
  pointAt('before', 'mail ended'),
  ...anyBatch,
])
