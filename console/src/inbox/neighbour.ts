/** The request to which a key moves. */
export function neighbour(ids: readonly string[], chosen: string | undefined, key: string): string | undefined {
  const place = chosen === undefined ? -1 : ids.indexOf(chosen)
  if (key === 'j') return ids[place + 1]
  if (key === 'k') return place > 0 ? ids[place - 1] : undefined
  return undefined
}
