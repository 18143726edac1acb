import type { AccessRequest } from '../requests/request.ts'

export type Shown = AccessRequest & { isGone: boolean }

/** The list with those that left it at their former places. */
export function withLeaving(
  listed: readonly AccessRequest[],
  leaving: ReadonlyMap<string, AccessRequest>,
  before: readonly Shown[],
): Shown[] {
  const shown: Shown[] = listed.map((request) => ({ ...request, isGone: false }))
  const ids = new Set(listed.map(({ id }) => id))
  for (const [id, request] of leaving) {
    if (ids.has(id)) continue
    const place = before.findIndex((one) => one.id === id)
    shown.splice(place < 0 ? shown.length : place, 0, { ...request, isGone: true })
  }
  return shown
}
