import { pbkdf2Sync } from 'node:crypto'

/** What the unit of work takes on the quiet machine on which the time limits of the tests were set. */
const referenceMs = 27

/**
 * How many times slower this machine is at this moment than the one on which the limits were set; at least 1. Measured, by a
 * fixed piece of work: a machine that others keep busy is as slow as an old one.
 */
function slowness(): number {
  const began = performance.now()
  pbkdf2Sync('a unit of work', '', 200_000, 32, 'sha256')
  return Math.max(1, (performance.now() - began) / referenceMs)
}

/**
 * Whether something has taken longer than it would take up to `limitMs` on that machine. The unit is measured only once the
 * limit seems to be over, so that waiting costs nothing. A limit ends what hangs: set it generously, nothing waits for it.
 */
export function isOver(beganAt: number, limitMs: number): boolean {
  const elapsed = performance.now() - beganAt
  return elapsed > limitMs && elapsed > limitMs * slowness()
}
