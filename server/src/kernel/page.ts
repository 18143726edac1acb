import { invalidInput, type Problem } from './errors.ts'

/** One page of a list, as every list endpoint returns it. */
export type PageReply<Row> = { data: Row[]; next_cursor?: string; has_more: boolean }

/** Where a page begins and how long it is. Stores fetch `limit + 1` rows; the extra row shows that more follow. */
export type PageRequest = { limit: number; after: readonly string[] | undefined }

/** A page as a store reads it. `next`: the key after which more may follow, even where this page is short; undefined at the end. */
export type PageRows<Row> = { rows: Row[]; next: readonly string[] | undefined }

/** How many records there are, as far as they were read. `is_complete`: there are no more. */
export type Counted = { count: number; is_complete: boolean }

/** Records are counted up to this number. */
export const maxCount = 100

/** The page that is read to count records. */
export const countedPage: PageRequest = { limit: maxCount, after: undefined }

export function countOf({ rows, next }: PageRows<unknown>): Counted {
  return { count: rows.length, is_complete: next === undefined }
}

/** 400 for a cursor that does not belong to the list. */
export function badCursor(): Problem {
  const why = 'is not a cursor of this list with these filters; leave it out to start from the first page'
  return invalidInput([{ pointer: 'cursor', why }])
}

const defaultLimit = 50
export const maxLimit = 200

/** The page length for the requested limit: absent = 50, above 200 = 200. */
export function pageLimit(requested: number | undefined): number {
  return Math.min(requested ?? defaultLimit, maxLimit)
}

/** The reply for a page whose end is known. */
export function replyOf<Row>({ rows, next }: PageRows<Row>, seal: (key: readonly string[]) => string): PageReply<Row> {
  return next === undefined ? { data: rows, has_more: false } : { data: rows, next_cursor: seal(next), has_more: true }
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
