import type { Database } from '../db/transaction.ts'
import { findEndsToMove, moveEnds } from './move-ends-store.ts'

/** How many tenants' ends are moved at once. */
const width = 2

/** `next`: where the next part begins; undefined: a look from the beginning comes next. `fault`: what kept one of them from being moved. */
export type MovedEnds = { all: boolean; next: string | undefined; fault?: unknown }

/**
 * Moves a part of the ends of grants that were given before the database's clock was set back: those that come first, from that moment on. It may
 * run in several processes, and again after a crash: each grant knows as of which total it is counted. Access that is held up holds up no other.
 */
export async function moveSomeEnds(
  { work, tenant }: Pick<Database, 'work' | 'tenant'>,
  from: string | undefined,
): Promise<MovedEnds> {
  const parts = await findEndsToMove(work, from ?? '-infinity')
  let moved = 0
  let fault: unknown
  for (let at = 0; at < parts.length; at += width) {
    const some = parts.slice(at, at + width)
    const ends = await Promise.allSettled(
      some.map(({ tenant_id, entitlement_ids }) => moveEnds(tenant(tenant_id), entitlement_ids)),
    )
    for (const end of ends) {
      if (end.status === 'fulfilled') moved += end.value
      else fault = end.reason
    }
  }
  const last_at = parts[0]?.last_at
  // Several parts may end at one moment. Where none of them can be moved now, they are tried again later.
  const next = moved > 0 || last_at !== from ? last_at : undefined
  return { all: from === undefined && parts.length === 0, next, ...(fault !== undefined && { fault }) }
}
