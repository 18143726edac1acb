import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Statement, Tx } from '../../src/kernel/context.ts'
import { maxCount, type PageRequest, type PageRows } from '../../src/kernel/page.ts'
import type { TestDatabase } from './database.ts'
import { longVariable } from './race.ts'
import { outline, readingOf, recordingTx } from './rows-read.ts'

/** Reads a page of a list. */
export type Pages = (tx: Tx, page: PageRequest) => Promise<PageRows<unknown>>

/** The pages of each of these lists, by its filters. */
export function eachOf<Filters>(
  lists: Record<string, Filters>,
  pages: (filters: Filters) => Pages,
): Record<string, Pages> {
  return Object.fromEntries(Object.entries(lists).map(([name, filters]) => [name, pages(filters)]))
}

/** A read of something else than a page, measured as if it were one. */
export function asPage(read: (tx: Tx) => Promise<unknown>): Pages {
  return async (tx) => {
    await read(tx)
    return { rows: [], next: undefined }
  }
}

/** The counts of these lists, except of those in an order that is not the usual one, which a count does not have. */
export function countsOf<Filters extends { sort?: string }>(
  lists: Record<string, Filters>,
  count: (tx: Tx, filters: Filters) => Promise<unknown>,
): Record<string, Pages> {
  const counted = Object.entries(lists).filter(([, { sort }]) => sort === undefined)
  return Object.fromEntries(
    counted.map(([name, filters]) => [`the count of ${name}`, asPage((tx) => count(tx, filters))]),
  )
}

/** How many records the tenant has whose lists are measured. */
export const manyRecords = process.env[longVariable] === undefined ? 100_000 : 1_000_000

const limit = 50

type Counts = { single: Record<string, Pages>; combined: Record<string, Pages> }

/** Rows of word tables that are read beside those of the list. */
const maxWordRows = 500

/**
 * Tests that lists stay flat: what a page reads does not grow with the tenant. `single`: each filter alone reads at most ten times the
 * page. `combined`: filters together read at most 2,000 rows, and then end the page. `names`: the rows of other tables that are
 * read for each row of a page, beyond those that fit. `counts`: the same for the counts of lists, which read as a page of 100 does, without names.
 */
export function requireFlat(
  db: TestDatabase,
  tenant_id: string,
  lists: {
    single: Record<string, Pages>
    several?: Record<string, Pages>
    combined: Record<string, Pages>
    counts?: Counts
  },
  names = 10,
): void {
  const bounds: [Record<string, Pages>, number, string][] = [
    [lists.single, 10 * limit, 'at most ten times its length'],
    [lists.several ?? {}, (10 + names) * limit, 'at most ten times its length, and names'],
    [lists.counts?.single ?? {}, 10 * maxCount, 'at most ten times 100'],
    [lists.counts?.combined ?? {}, 2_000 + maxWordRows, 'at most 2,000 rows, and words'],
    [lists.combined, 2_000 + names * limit, 'at most 2,000 rows, and names for those it shows'],
  ]
  for (const analyzed of [false, true]) {
    suite(analyzed ? 'on analyzed tables' : 'on tables without statistics', () => {
      if (analyzed) test('(analyzes them)', async () => void (await db.asSuperuser('analyze')))
      for (const [some, most, what] of bounds) {
        for (const [name, list] of Object.entries(some)) {
          test(`${name}: a page reads ${what}`, () => requireAtMost(db, tenant_id, list, most))
        }
      }
    })
  }
}

async function requireAtMost(db: TestDatabase, tenant_id: string, list: Pages, most: number): Promise<void> {
  const recording = recordingTx(db.database.tenant(tenant_id))
  let after: readonly string[] | undefined
  for (let page = 0; page < 3; page += 1) {
    const { next } = await list(recording.tx, { limit, after })
    after = next
    if (next === undefined) break
  }
  for (const [page, statement] of recording.statements.entries()) {
    await requireStatement(db, tenant_id, statement, page, most)
  }
}

async function requireStatement(
  db: TestDatabase,
  tenant_id: string,
  statement: Statement,
  page: number,
  most: number,
): Promise<void> {
  for (const generic of [false, true]) {
    const { rows, plan } = await readingOf(db, tenant_id, statement, generic)
    const which = `page ${page + 1}, ${generic ? 'generic' : 'custom'} plan: ${rows} rows`
    assert.ok(rows <= most, `${which}\n${outline(plan)}`)
  }
}
