import type { AccessRequest } from '../requests/request.ts'

/** A request of the list; `isGone`: it was in the list a moment ago. */
export type Shown = AccessRequest & { isGone: boolean }

/** The list, with those that were shown before and are no longer in it at their former places. */
export function withLeaving(listed: readonly AccessRequest[], before: readonly Shown[]): Shown[] {
  const shown: Shown[] = listed.map((request) => ({ ...request, isGone: false }))
  const ids = new Set(listed.map(({ id }) => id))
  for (const [place, request] of before.entries())
    if (!ids.has(request.id)) shown.splice(place, 0, { ...request, isGone: true })
  return shown
}
