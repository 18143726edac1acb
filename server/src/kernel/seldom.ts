/**
 * Says at most one in `everyMs`: the first at once, and with the next how many were kept back in between. For what can
 * happen a thousand times a second for one cause.
 */
export function seldom<What>(everyMs: number, say: (what: What, keptBack: number) => void): (what: What) => void {
  let saidAt = Number.NEGATIVE_INFINITY
  let keptBack = 0
  return (what) => {
    if (performance.now() - saidAt < everyMs) {
      keptBack += 1
      return
    }
    saidAt = performance.now()
    say(what, keptBack)
    keptBack = 0
  }
}
