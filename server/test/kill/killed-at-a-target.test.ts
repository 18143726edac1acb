import { pointAt } from './crash-points.ts'
import { killAt } from './killing.ts'

/** The short form of `npm run test:kill` with targets outside: killed at the call that the target has just done, and not answered. */
const done = [pointAt('after', 'create sent'), pointAt('after', 'delete sent')]

killAt('postgresql', done)
killAt('webhook', done)
killAt('aws-identity-center', done)
