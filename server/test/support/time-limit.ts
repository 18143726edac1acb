import { pbkdf2Sync } from 'node:crypto'

/** The duration of the unit of work on the idle machine on which the tests' time limits were set. */
const referenceMs = 27

/**
 * How many times slower this machine is now than the one on which the limits were set; at least 1. It is measured by a fixed
 * piece of work, so a busy machine counts as slow.
 */
function slowness(): number {
  const began = performance.now()
  pbkdf2Sync('a unit of work', '', 200_000, 32, 'sha256')
  return Math.max(1, (performance.now() - began) / referenceMs)
}

/**
 * Whether something has taken longer than `limitMs` on that machine. The unit is measured only once the limit seems to be
 * over, so waiting costs nothing. A limit ends a hang: set it generously.
 */
export function isOver(beganAt: number, limitMs: number): boolean {
  const elapsed = performance.now() - beganAt
  return elapsed > limitMs && elapsed > limitMs * slowness()
}
