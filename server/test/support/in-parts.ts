/**
 * Inserts rows numbered from 1 to `count` in parts of some hundreds. All test files share one server, and events are delivered only up to
 * the oldest open transaction on it: a statement that inserts for seconds would delay them in every other file.
 */
export async function inParts(
  count: number,
  insert: (from: number, until: number) => Promise<unknown>,
  size = 1_000,
): Promise<void> {
  for (let from = 1; from <= count; from += size) await insert(from, Math.min(count, from + size - 1))
}
