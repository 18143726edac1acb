/** So many tabs fit at the bottom of a phone. */
const maxTabs = 5

/** The tabs of a phone, and what stands below “More”, which is then the last tab. */
export function tabsOf<One>(places: readonly One[]): { tabs: readonly One[]; more: readonly One[] } {
  if (places.length <= maxTabs) return { tabs: places, more: [] }
  return { tabs: places.slice(0, maxTabs - 1), more: places.slice(maxTabs - 1) }
}
