/** One page of a list, as every list endpoint returns it. */
export type PageReply<Row> = { data: Row[]; next_cursor?: string; has_more: boolean }

/** Where a page begins and how long it is. Stores fetch `limit + 1` rows; the extra row shows that more follow. */
export type PageRequest = { limit: number; after: readonly string[] | undefined }

const defaultLimit = 50
const maxLimit = 200

/** The page length for the requested limit: absent = 50, above 200 = 200. */
export function pageLimit(requested: number | undefined): number {
  return Math.min(requested ?? defaultLimit, maxLimit)
}

/** Removes the extra row and seals the key of the last remaining row as the next cursor. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => readonly string[],
  seal: (key: readonly string[]) => string,
): PageReply<Row> {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  if (rows.length <= limit || last === undefined) return { data, has_more: false }
  return { data, next_cursor: seal(keyOf(last)), has_more: true }
}
