import { isObject } from '../../kernel/is-object.ts'
import { TargetError } from '../../provisioners/driver.ts'
import { type AskScim, type ScimAnswer, ScimRefusal } from './scim-server.ts'

/** An entry of a list, with its id as text. */
export type Listed = { id: string; entry: ScimAnswer }

export type ListToRead = {
  kind: 'Users' | 'Groups'
  page_size: number
  /** Whether the server says that it sorts. */
  isSorted: boolean
  maxEntries: number
}

/** A first reading and two more. */
const maxPasses = 3
const maxIdLength = 600

/**
 * Reads a list from its beginning to its end, each entry once. SCIM pages by index alone: when an entry before a page goes away, all others
 * move up, and one of them is never seen. What is guaranteed:
 *
 * The first pass begins each page with the last entry of the page before it. As long as that stays so, each person who is in the list from the
 * beginning to the end of the reading was read, whatever came and went meanwhile, provided that the server keeps the order of its entries.
 *
 * When it does not stay so, the list has changed or the server pages in its own way. The list is read again, without that overlap, until a
 * pass found as many different entries as `totalResults` says, which was the same on each of its pages. Whoever was read in any pass counts as
 * there. Somebody can be missed only where as many entries came as went during the last pass, between two of its pages.
 *
 * Without such a pass, the reading fails and says to try again. It never ends short: a page beyond the last one is asked for when that was full.
 * @throws TargetError
 */
export async function* readList(ask: AskScim, list: ListToRead, signal: AbortSignal): AsyncGenerator<Listed[]> {
  const { kind, maxEntries } = list
  const known = new Set<string>()
  const pageAt = pagesOf(ask, list, signal)
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const reading = readPass(pageAt, list, pass === 1 && list.page_size > 1)
    for (;;) {
      const { value, done } = await reading.next()
      if (done && value) return
      if (done) break
      const isNew = value.filter(({ id }) => !known.has(id))
      for (const { id } of isNew) known.add(id)
      if (known.size > maxEntries)
        throw new TargetError('permanent', `\`/${kind}\` has more than ${maxEntries} entries`)
      yield isNew
    }
  }
  const fix = 'try again later; if it fails each time, the server repeats or leaves out entries between its pages'
  throw new TargetError('transient', `\`/${kind}\` changed each time it was read: ${fix}`)
}

/** `isFull`: it has as many entries as were asked for. */
type Page = { entries: Listed[]; total: number; isFull: boolean }
type PageAt = (startIndex: number) => Promise<Page>

/** Returns whether the pass found the whole list. */
async function* readPass(pageAt: PageAt, list: ListToRead, overlaps: boolean): AsyncGenerator<Listed[], boolean> {
  const ids = new Set<string>()
  const totals = new Set<number>()
  let next = 1
  let last: string | undefined
  for (;;) {
    const page = await pageAfter(pageAt, next, overlaps ? last : undefined)
    if (page === undefined) return false
    const before = ids.size
    for (const { id } of page.entries) ids.add(id)
    totals.add(page.total)
    yield page.entries
    next += page.entries.length
    last = page.entries.at(-1)?.id ?? last
    if (next > page.total) {
      if (page.isFull && (await hasMore(pageAt, list, ids, next))) return false
      return overlaps ? ids.size >= page.total : totals.size === 1 && ids.size === page.total
    }
    if (ids.size === before) return false
  }
}

/** The page from an index on. `last`: the entry that must still be just before it; undefined when it is not. */
async function pageAfter(pageAt: PageAt, next: number, last: string | undefined): Promise<Page | undefined> {
  if (last === undefined) return pageAt(next)
  const page = await pageAt(next - 1)
  return page.entries[0]?.id === last ? { ...page, entries: page.entries.slice(1) } : undefined
}

/**
 * Whether the list has grown beyond its end.
 * @throws TargetError when the server does not count all of its entries
 */
async function hasMore(pageAt: PageAt, { kind }: ListToRead, ids: ReadonlySet<string>, next: number): Promise<boolean> {
  try {
    const { entries, total } = await pageAt(next)
    if (entries.every(({ id }) => ids.has(id))) return false
    if (total >= next) return true
  } catch (error) {
    // Some servers refuse an index beyond their last entry.
    if (error instanceof ScimRefusal && [400, 404].includes(error.status)) return false
    throw error
  }
  throw countsTooFew(kind)
}

function countsTooFew(kind: ListToRead['kind']): TargetError {
  const fix = '`totalResults` must count all, not those of a page'
  return new TargetError('permanent', `\`/${kind}\` of the SCIM server has more entries than it says: ${fix}`)
}

/** Sorts by id where the server sorts by it. */
function pagesOf(ask: AskScim, { kind, page_size, isSorted }: ListToRead, signal: AbortSignal): PageAt {
  let order = isSorted ? '&sortBy=id&sortOrder=ascending' : ''
  return async (startIndex) => {
    const path = `/${kind}?startIndex=${startIndex}&count=${page_size}`
    try {
      return readPage(await ask(`${path}${order}`, signal), kind, page_size)
    } catch (error) {
      const isUnsorted = error instanceof ScimRefusal && [400, 501].includes(error.status) && startIndex === 1
      if (!isUnsorted || order === '') throw error
      order = ''
      return readPage(await ask(path, signal), kind, page_size)
    }
  }
}

function readPage(answer: ScimAnswer, kind: ListToRead['kind'], page_size: number): Page {
  const total = wholeNumber(answer.totalResults)
  const resources = answer.Resources ?? []
  if (total === undefined || !Array.isArray(resources)) {
    const what = `what the SCIM server answered to \`/${kind}\` is no ListResponse`
    throw new TargetError('permanent', `${what}: it has no \`totalResults\` or \`Resources\`; check \`base_url\``)
  }
  if (resources.length > total) throw countsTooFew(kind)
  const entries = resources.map((entry: unknown) => readEntry(kind, entry))
  return { total, entries, isFull: entries.length >= page_size }
}

/** @throws TargetError for an entry that cannot be told from others: left out, a person would be deactivated */
function readEntry(kind: ListToRead['kind'], entry: unknown): Listed {
  const id = isObject(entry) ? idOf(entry.id) : undefined
  if (id !== undefined && isObject(entry)) return { id, entry }
  const form = `\`id\` of 1 to ${maxIdLength} characters`
  throw new TargetError('permanent', `an entry of \`/${kind}\` has no ${form}: the SCIM server must give one to each`)
}

/** An id as text; undefined for what is none. */
export function idOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' && text.length <= maxIdLength ? text : undefined
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && Number(number) >= 0 ? Number(number) : undefined
}
