type Page<Item> = { data: readonly Item[]; next_cursor?: string | undefined }

/** What was read of a list, and whether more of it follows. */
export type Reading<Item> = { found: Item[]; hasMore: boolean }

/** A page of a list: as much as one call gives. */
export const pageOf = (cursor: string | undefined) => ({ limit: 200, ...(cursor !== undefined && { cursor }) })

type Bounds = { maxPages: number; wanted?: number }

/** Reads a list page by page, to its end or until `wanted` are found. A page may be short, or empty, though more follows. */
export async function readPages<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  { maxPages, wanted = Number.POSITIVE_INFINITY }: Bounds,
): Promise<Reading<Item>> {
  const found: Item[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const { data, next_cursor } = await read(cursor)
    found.push(...data)
    cursor = next_cursor
    if (cursor === undefined || found.length >= wanted) break
  }
  return { found, hasMore: cursor !== undefined }
}
