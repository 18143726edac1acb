import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readPages } from './pages.ts'

/** The sizes of the pages that the service has, how many are wanted, how many pages at most; what is read, whether more follows. */
const cases: [
  what: string,
  sizes: number[],
  wanted: number | undefined,
  maxPages: number,
  read: number,
  more: boolean,
][] = [
  ['a list of one page', [3], undefined, 9, 3, false],
  ['all pages, where no number is wanted', [20, 20, 5], undefined, 9, 45, false],
  ['past pages that are empty', [0, 0, 4], 20, 9, 4, false],
  ['as many as wanted', [20, 20], 20, 9, 20, true],
  ['as many as wanted, and there are no more', [20], 20, 9, 20, false],
  ['more than wanted, rather than a page cut', [15, 20, 1], 20, 9, 35, true],
  ['no more pages than are allowed', [1, 1, 1], undefined, 2, 2, true],
]

suite('reading pages', () => {
  for (const [what, sizes, wanted, maxPages, read, more] of cases)
    test(`reads ${what}`, async () => {
      const { found, hasMore } = await readPages(
        async (cursor) => {
          const page = Number(cursor ?? 0)
          const next_cursor = page + 1 < sizes.length ? String(page + 1) : undefined
          return { data: Array.from({ length: sizes[page] ?? 0 }, (_, at) => `${page}/${at}`), next_cursor }
        },
        { maxPages, ...(wanted !== undefined && { wanted }) },
      )
      assert.equal(new Set(found).size, read)
      assert.equal(found.length, read)
      assert.equal(hasMore, more)
    })
})
