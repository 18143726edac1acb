import type { Schemas } from '@sallyport/client'

/** What a connection sees of AWS, as a summary. */
export type Inventory = Schemas['Inventory']
export type Part = Inventory['parts'][number]

/** The service counts people who do not match up to here. */
export const maxUnmatched = 1_000

/** Whether a part is read for the first time, is read now, or is about to be. `now`: in milliseconds since 1970. */
const isAwaited = ({ reading, finished_at, next_at, error }: Part, now: number): boolean =>
  reading || (finished_at === null && error === null) || (next_at !== null && Date.parse(next_at) <= now)

/** Whether what is shown changes soon. */
export const isBeingRead = ({ parts }: Pick<Inventory, 'parts'>, now: number): boolean =>
  parts.length === 0 || parts.some((part) => isAwaited(part, now))

/** When a part was last read to its end; null: never. */
export const readAt = ({ parts }: Pick<Inventory, 'parts'>, wanted: Part['part']): string | null =>
  parts.find(({ part }) => part === wanted)?.finished_at ?? null

/**
 * Which reading the list of what is held is of: it changes with each part, since each names some of what the list shows. Undefined before there is
 * something to list, and while a part is read for the first time.
 */
export function readingOf({ parts }: Pick<Inventory, 'parts'>): string | undefined {
  const isFirst = parts.some(({ finished_at, error }) => finished_at === null && error === null)
  if (isFirst || readAt({ parts }, 'assignments') === null) return undefined
  return parts.map(({ finished_at }) => finished_at ?? '').join(' ')
}

/** As of when all that was read is true; undefined before anything was. */
export function asOf({ parts }: Pick<Inventory, 'parts'>): string | undefined {
  return parts.flatMap(({ finished_at }) => finished_at ?? []).sort()[0]
}

/** Whether everything was read, without a fault. */
export const isWhole = ({ parts }: Pick<Inventory, 'parts'>): boolean =>
  parts.length > 0 && parts.every(({ finished_at, error }) => finished_at !== null && error === null)

const [pollMs, maxPolls] = [3_000, 400]

/** Milliseconds until the summary is loaded again; false: it stays as it is. `polls`: how often it was loaded so far. */
export function pollAfter(inventory: Inventory | undefined, polls: number, now: number): number | false {
  return inventory !== undefined && polls < maxPolls && isBeingRead(inventory, now) && pollMs
}
