/** What the page shows, as it stands in the address. */
export type View = {
  /** Absent: the first connection; `new`: the form for another. */
  connection?: string | undefined
  order?: 'person' | undefined
  administrators?: 'true' | undefined
  q?: string | undefined
}

const maxSearchLength = 200

/** The parts of an address that the page knows; anything else in it is dropped. */
export function readView({ connection, order, administrators, q }: Record<string, unknown>): View {
  return {
    ...(typeof connection === 'string' && { connection }),
    ...(order === 'person' && { order }),
    ...(administrators === 'true' && { administrators }),
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, maxSearchLength) }),
  }
}

/** Stands in the address for the form of another connection. */
export const another = 'new'
