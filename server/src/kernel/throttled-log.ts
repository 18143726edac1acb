/**
 * Logs at most once in `everyMs`: the first entry at once, and with the next entry the number of suppressed ones in between.
 * For events that one cause can produce a thousand times a second.
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
