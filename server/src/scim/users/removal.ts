/** A directory that removes more of its users than this within an hour may be emptied by mistake, or by somebody else. */
const maxShare = 0.2
/** Fewer are never many, in however small a directory. */
const minCount = 5

/** The removals of a directory within the last hour, and how many active users it had before them. */
export type Removals = { removed: number; size: number }

export function areMany({ removed, size }: Removals): boolean {
  return removed >= minCount && removed > maxShare * size
}
