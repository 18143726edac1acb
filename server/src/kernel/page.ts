/** One page of a list, as every list endpoint answers it. */
export type PageReply<Row> = { data: Row[]; next_cursor?: string; has_more: boolean }

/** Where a page begins and how long it is. Stores fetch `limit + 1` rows, so that the last tells whether more follow. */
export type PageAsk = { limit: number; after: readonly string[] | undefined }

const defaultLimit = 50
const maxLimit = 200

/** The length of a page for what the caller asked: absent = 50, above 200 = 200. */
export function pageLimit(asked: number | undefined): number {
  return Math.min(asked ?? defaultLimit, maxLimit)
}

/** Cuts the extra row off and seals the last one's key as the next cursor. */
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
