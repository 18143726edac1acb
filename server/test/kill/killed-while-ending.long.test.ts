import { anyBatch, pointAt } from './crash-points.ts'
import { killAt } from './killing.ts'

/**
 * The short form of `npm run test:kill`, on the sandbox: one step of each kind until the last mail, and two random statements.
 */
killAt('sandbox', [
  pointAt('before', 'end written'),
  pointAt('after', 'polled'),
  pointAt('before', 'events delivered'),
  pointAt('before', 'mail ended'),
  ...anyBatch,
])
