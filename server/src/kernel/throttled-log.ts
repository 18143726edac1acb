/**
 * Logs at most once in `everyMs`: the first at once, and with the next how many were kept back in between. For what can
 * happen a thousand times a second for one cause.
 */
export function throttledLog<What>(everyMs: number, log: (what: What, keptBack: number) => void): (what: What) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  let keptBack = 0
  return (what) => {
    if (performance.now() - loggedAt < everyMs) {
      keptBack += 1
      return
    }
    loggedAt = performance.now()
    log(what, keptBack)
    keptBack = 0
  }
}
