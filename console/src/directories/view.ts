/** What the page of a directory shows, as it stands in the address. `run`: absent for the directory itself; the others filter its changes. */
export type View = { run?: string | undefined; change?: string | undefined; outcome?: string | undefined }

/** The parts of an address that the page knows; anything else in it is dropped. */
export function readView(search: Record<string, unknown>): View {
  const known = ['run', 'change', 'outcome'].map((name) => [name, search[name]])
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'string' && value !== ''))
}
