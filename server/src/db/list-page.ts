import type { Statement, Tx } from '../kernel/context.ts'
import { badCursor, maxLimit, type PageRequest, type PageRows } from '../kernel/page.ts'
import { allOf, inIndexOrder, inMergedOrder, sql, sqlInteger } from './sql.ts'

/**
 * The order of a list: by a column of `r`, and where that is equal by `id`, which is `r.id` where absent. Where no two rows are equal,
 * both are the same statement. `types`: those of both, to read a key.
 */
export type ListOrder = { by: Statement; id?: Statement; types: readonly [Statement, Statement]; descending: boolean }

/**
 * A filter with an index in the order of the list: a column, its type, and the values of which a row has one; or a condition with a
 * partial index.
 */
export type Filter = ColumnFilter | { partial: Statement }
type ColumnFilter = { column: Statement; type: Statement; values: readonly string[] }

/** Rows that another table links with one of these values: `id` is its column with the row's id. It has an index on both columns. */
export type Link = { table: Statement; id: Statement; column: Statement; type: Statement; values: readonly string[] }

/** The words by which rows are found: a table, and in it the column with the row's id. */
export type WordTable = { table: Statement; id: Statement }

/**
 * A list with its filters. Its rows are read in order from one index, and tested row by row: however few of them pass, a page
 * reads no more than `maxTested`.
 */
export type List = {
  /** The table, as `r`. */
  table: Statement
  /** Set where the table has partitions. */
  partitioned?: true
  columns: Statement
  order: ListOrder
  /** Conditions on the column of the order, which every index answers. */
  range: readonly Statement[]
  /** Those first that leave the fewest rows: the index answers the first that has one value, and the others are tested. */
  filters: readonly Filter[]
  tested: readonly Statement[]
  /** Tested too: a row has each of them. */
  links?: readonly Link[]
  /**
   * Reads only the rows of this link, instead of by a filter. INVARIANT: the list is ordered by `r.id`, and where the link has several
   * values, nothing else is tested.
   */
  through?: Link | undefined
  /**
   * The rows that have each of these words, or a word that begins so. `first`: the words choose what is read, and the rows come in the order
   * of the found word; else they are tested. INVARIANT: they are `first` only where the caller may see every row, since how far a page
   * reads shows how many rows have the word. A list without a word table has the words of a text of `r`, and tests them.
   */
  search?: { q: string; words: WordTable; first: boolean } | { q: string; text: Statement; first: false } | undefined
}

/** Of rows that do not pass, a page reads no more than these; then it ends early, and says where the next one begins. */
const maxTested = 2_000
/** Where words are searched: each row is read with its words. */
const maxSearched = 600

/** `place` counts the rows that were read. */
type Hidden = { page_key: string[]; passes: boolean; place: number }

/** One page, in one round trip. */
export async function readListPage<Row>(tx: Tx, list: List, page: PageRequest): Promise<PageRows<Row>> {
  const { search } = list
  // A cursor of an earlier version had the id alone.
  if (page.after !== undefined && page.after.length !== keyLength(list)) throw badCursor()
  const statement = search?.first ? foundRows<Row>(tx, list, search, page) : orderedRows<Row>(tx, list, page)
  const rows = await tx.read(list.partitioned ? inMergedOrder(statement) : inIndexOrder(statement))
  const passing = rows.filter(({ passes }) => passes)
  const more = passing.length > page.limit ? passing[page.limit - 1] : rows.find(({ place }) => place === maxRead(list))
  // `columns` are those of a Row; the compiler cannot know it of a statement.
  const shown = passing
    .slice(0, page.limit)
    .map(({ page_key: _key, passes: _passes, place: _place, ...row }) => row as unknown as Row)
  return { rows: shown, next: more?.page_key }
}

/**
 * A key has one part where a column alone tells rows apart, and three where words choose what is read: so no place in one order is
 * taken for a place in another, when a caller comes to see more rows, or fewer.
 */
function keyLength({ search, through, order: { by, id } }: List): number {
  if (search?.first) return 3
  return through !== undefined || by === id ? 1 : 2
}

/** How many rows of the list a page reads: each with one of every link. */
function maxRead({ search, through, links = [] }: List): number {
  if (search !== undefined) return maxSearched
  return Math.floor(maxTested / (1 + links.length + (through === undefined ? 0 : 1)))
}

/** The condition that one index answers; undefined where there are several values. */
function readBy(filter: Filter): Statement | undefined {
  if ('partial' in filter) return filter.partial
  const { column, type, values } = filter
  return values.length === 1 ? isExactly(column, sql`(select ${values[0]}::${type})`) : undefined
}

/**
 * That a column of an index has a value, in such words that PostgreSQL reads this index and no other. It plans for a value that it cannot
 * know, and for the few rows that it expects of a range. By what it knows of the value, and of how many there are, it may believe that nearly
 * every row has it: then it reads the list's own index, in the same order, and drops all rows. What it knows is of all tenants.
 */
export function isExactly(column: Statement, value: Statement): Statement {
  return sql`${column} = ${value} and ${column} >= ${value} and ${column} <= ${value}`
}

/** The condition, for a list whose order has no index with the filter. */
export function testOf(filter: Filter): Statement {
  if ('partial' in filter) return filter.partial
  const { column, type, values } = filter
  return sql`${column} = any(${[...values]}::${type}[])`
}

/** Whether one of the values links `r`. By `exists`, PostgreSQL could collect all links first; by `any`, read all links of `r`. */
function isLinked(tx: Tx, { table, id, column, type, values }: Link): Statement {
  const has = values.length === 1 ? sql`${values[0]}::${type}` : sql`any(${[...values]}::${type}[])`
  return sql`(select true from ${table} k where k.tenant_id = ${tx.tenant_id}::uuid and k.${id} = r.id
    and k.${column} = ${has} limit 1)`
}

/** What each row is tested by, besides its filters and words. */
function testsOf(tx: Tx, { tested, links = [] }: List): Statement[] {
  return [...tested, ...links.map((link) => isLinked(tx, link))]
}

function orderedRows<Row>(tx: Tx, list: List, { limit, after }: PageRequest): Statement<Row & Hidden> {
  const { columns, order, filters, search, through } = list
  const { types, descending } = order
  const { by, id = sql`r.id` } = through === undefined ? order : keyOf(through)
  const inOrder = orderOf(by, id, descending)
  const isPair = keyLength(list) === 2
  const place = isPair ? sql`(${after?.[0]}::${types[0]}, ${after?.[1]}::${types[1]})` : sql`${after?.[0]}::${types[1]}`
  const key = isPair ? sql`(${by}, ${id})` : id
  const behind = after === undefined ? [] : [descending ? sql`${key} < ${place}` : sql`${key} > ${place}`]
  const tested = [...testsOf(tx, list), ...(search === undefined ? [] : [isFound(tx, search)])]
  const { rows, indexed } = rowsOf(tx, list, { behind, inOrder, count: limit + 1, isTested: tested.length > 0 })
  const most = sqlInteger(maxRead(list))
  const passes = allOf([...filters.filter((filter) => filter !== indexed).map(testOf), ...tested])
  return sql<Row & Hidden>`${search === undefined ? sql`` : sql`with ${askedWords(search.q)}`}
    select ${columns}, array[${isPair ? sql`r.key_by::text, ` : sql``}r.key_id::text] as page_key, r.passes, r.place
    from (select r.*, ${by} as key_by, ${id} as key_id, ${passes} as passes,
        (row_number() over (${inOrder}))::integer as place
      from ${rows} ${inOrder} limit ${most}) r
    where r.passes or r.place = ${most}
    ${orderOf(isPair ? sql`r.key_by` : shownId, shownId, descending)} limit ${limit + 1}`
}

const shownId = sql`r.key_id`

/** The rows of a link are in the order of their ids. */
function keyOf({ id }: Link): { by: Statement; id: Statement } {
  const key = sql`k.${id}`
  return { by: key, id: key }
}

function orderOf(by: Statement, id: Statement, descending: boolean): Statement {
  if (by === id) return descending ? sql`order by ${id} desc` : sql`order by ${id}`
  return descending ? sql`order by ${by} desc, ${id} desc` : sql`order by ${by}, ${id}`
}

/** Where a page begins, its order, how many rows it needs, and whether it tests conditions row by row. */
type Reading = { behind: Statement[]; inOrder: Statement; count: number; isTested: boolean }

/** From where a page reads its rows, in order; `indexed` is the filter that this answers already. */
function rowsOf(tx: Tx, list: List, reading: Reading): { rows: Statement; indexed?: Filter | undefined } {
  const { table, range, filters, through } = list
  const { behind, inOrder, count, isTested } = reading
  if (through !== undefined) return { rows: linkedRows(tx, list, through, reading) }
  const read = [sql`r.tenant_id = ${tx.tenant_id}`, ...range, ...behind]
  const [only] = filters
  const indexed = filters.find((filter) => readBy(filter) !== undefined)
  const isEach = only !== undefined && indexed === undefined && filters.length === 1 && !isTested
  if (isEach && 'values' in only) {
    const rows = sql`select r.* from ${table} where ${allOf(read)}
      and ${isExactly(only.column, sql`v.value`)}`
    return { rows: sql`${ofEach(only, rows, inOrder, count)} r` }
  }
  return { rows: sql`${table} where ${allOf([...read, (indexed && readBy(indexed)) ?? sql`true`])}`, indexed }
}

/** The linked rows, each looked up by its key, so that PostgreSQL cannot choose to read the whole table beside the link. */
function linkedRows(tx: Tx, { table, range }: List, link: Link, { behind, inOrder, count }: Reading): Statement {
  const { id, column, type, values } = link
  const read = [sql`k.tenant_id = ${tx.tenant_id}`, ...behind]
  const lookup = sql`cross join lateral (
    select r.* from ${table} where r.tenant_id = ${tx.tenant_id} and r.id = k.${id} limit 1) r`
  if (values.length === 1) {
    const has = isExactly(sql`k.${column}`, sql`(select ${values[0]}::${type})`)
    return sql`${link.table} k ${lookup} where ${allOf([...read, has, ...range])}`
  }
  const links = sql`select k.${id} from ${link.table} k where ${allOf(read)}
    and ${isExactly(sql`k.${column}`, sql`v.value`)}`
  return sql`(select distinct k.${id} from ${ofEach(link, links, inOrder, count)} k) k ${lookup}
    where ${allOf([...range])}`
}

/** Of each value as many rows as the page needs. The outer limit stops the inner one, for which the plan is made. */
function ofEach(
  { type, values }: Pick<Link, 'type' | 'values'>,
  rows: Statement,
  inOrder: Statement,
  count: number,
): Statement {
  return sql`unnest(${[...new Set(values)]}::${type}[]) as v (value) cross join lateral (
    select * from (${rows} ${inOrder} limit ${sqlInteger(maxLimit + 1)}) each limit ${count})`
}

/** Behind every word that begins alike, in the order of the words. */
const last = '\u{10ffff}'

/** The common table expression with the asked words. */
export function askedWords(q: string): Statement {
  return sql`asked as materialized (select search_words(${q}::text) as words)`
}

/** Of the longest words so many are counted, and of each so many rows. */
const maxCompared = 5
const maxCounted = 100

/**
 * The asked word by which rows are read: the one that the fewest rows have, and the first of those that many have, such as the
 * name in an address. A word that is the beginning of another adds nothing to it. So on later pages the word is known by the found
 * word, whatever was written meanwhile.
 */
function chosenWord(tx: Tx, { table }: WordTable, found: string | undefined): Statement {
  const counted = sql`case when cardinality((select words from asked)) > 1 then (select count(*) from (
      select from ${table} w where w.tenant_id = ${tx.tenant_id}::uuid and w.word >= candidate.word
        and w.word < candidate.word || ${last} limit ${sqlInteger(maxCounted)}) counted) end`
  const order = found === undefined ? counted : sql`not starts_with(${found}::text, candidate.word)`
  return sql`chosen as materialized (select word from (
      select word, place from unnest((select words from asked)) with ordinality as t (word, place)
      where not exists (select from unnest((select words from asked)) as longer
        where longer <> word and starts_with(longer, word))
      order by length(word) desc, place limit ${sqlInteger(maxCompared)}) candidate
    order by ${order}, place limit 1)`
}

/**
 * Whether `r` has each of the asked words, or one that begins so; not where none is asked. It looks up word by word, until one is
 * missing: as a subselect of one value each, because PostgreSQL would join others, and read all words of the row.
 */
function hasEachWord(tx: Tx, { table, id }: WordTable): Statement {
  const found = sql`(select true from ${table} w where w.tenant_id = ${tx.tenant_id}::uuid and w.${id} = r.id
    and w.word >= beginning and w.word < beginning || ${last} limit 1)`
  return sql`(select cardinality(words) > 0 from asked) and not exists (
    select from unnest((select words from asked)) as beginning where ${found} is null)`
}

/** The same of a text, whose words are made once for each row: the text is at most as long as a few names. */
export function textHasEachWord(text: Statement): Statement {
  return sql`(select cardinality((select words from asked)) > 0 and not exists (
      select from unnest((select words from asked)) as beginning
      where not exists (select from unnest(made.words) as word where starts_with(word, beginning)))
    from (select search_words(${text}) as words offset 0) made)`
}

type Search = NonNullable<List['search']>

function isFound(tx: Tx, search: Search): Statement {
  return 'text' in search ? textHasEachWord(search.text) : hasEachWord(tx, search.words)
}

type FirstSearch = { q: string; words: WordTable }

function foundRows<Row>(tx: Tx, list: List, { q, words }: FirstSearch, { limit, after }: PageRequest) {
  const [, word, behindId] = after ?? []
  const { table, id } = words
  const { descending, types } = list.order
  const most = sqlInteger(maxSearched)
  const ofTenant = sql`w.tenant_id = ${tx.tenant_id}::uuid`
  const begins = sql`w.word >= (select word from chosen) and w.word < (select word || ${last} from chosen)`
  const place = sql`(${word}::text, ${behindId}::${types[1]})`
  const behind = descending ? sql`(w.word, w.${id}) < ${place}` : sql`(w.word, w.${id}) > ${place}`
  const read = allOf([ofTenant, begins, ...(after === undefined ? [] : [behind])])
  const inOrder = descending ? sql`order by word desc, id desc` : sql`order by word, id`
  // Of the words of a row that begin alike, the first one finds it.
  const isFirst = sql`not exists (select from ${table} w where ${ofTenant} and w.${id} = r.id and ${begins}
    and ${descending ? sql`w.word > k.word` : sql`w.word < k.word`})`
  const conditions = [...list.range, ...list.filters.map(testOf), ...testsOf(tx, list)]
  const passes = allOf([sql`r.id is not null`, ...conditions, isFirst, hasEachWord(tx, words)])
  return sql<Row & Hidden>`with ${askedWords(q)}, ${chosenWord(tx, words, word)}
    select ${list.columns}, array['found', r.found_word, r.found_id::text] as page_key, r.passes, r.place
    from (select r.*, ${passes} as passes, k.word as found_word, k.id as found_id, k.place
      from (select word, id, (row_number() over (${inOrder}))::integer as place
        from (select w.word, w.${id} as id from ${table} w where ${read}) w ${inOrder} limit ${most}) k
      left join lateral (
        select r.* from ${list.table} where r.tenant_id = ${tx.tenant_id} and r.id = k.id limit 1) r on true) r
    where r.passes or r.place = ${most}
    order by ${descending ? sql`r.found_word desc, r.found_id desc` : sql`r.found_word, r.found_id`} limit ${limit + 1}`
}
