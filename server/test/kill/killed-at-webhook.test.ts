import { pointAt } from './crash-points.ts'
import { killAt } from './killing.ts'

/** Killed at the call that the target has just done, and not answered. */
killAt('webhook', [pointAt('after', 'create sent'), pointAt('after', 'delete sent')])
