/** Which known name a mistyped one is likely to mean. */

/** The known name with the fewest edits, ignoring letter case, if they are at most a third of its length. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  return nearestNames(name, known, 1)[0]
}

/** The known names with the fewest edits, at most `most` of them, the nearest first; see `nearestName`. */
export function nearestNames(name: string, known: readonly string[], most: number): string[] {
  const limit = Math.floor(name.length / 3)
  const near: { candidate: string; edits: number }[] = []
  for (const candidate of [...known].sort()) {
    if (Math.abs(candidate.length - name.length) > limit) continue
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits <= limit) near.push({ candidate, edits })
  }
  const sorted = near.toSorted((one, other) => one.edits - other.edits)
  return sorted.slice(0, most).map(({ candidate }) => candidate)
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
