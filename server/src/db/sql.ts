import type { Statement } from '../kernel/context.ts'

const fragmentMark = Symbol('sql')

type Fragment<Row> = Statement<Row> & { readonly [fragmentMark]: readonly string[] }

/**
 * SQL written as SQL: values are bound, never pasted. A statement inside another is inserted with its values.
 *
 *     sql<{ id: string }>`select id from access_request where tenant_id = ${tx.tenant_id} and ${visible}`
 */
export function sql<Row = unknown>(strings: TemplateStringsArray, ...parts: unknown[]): Statement<Row> {
  const pieces: string[] = [strings[0] ?? '']
  const values: unknown[] = []
  const append = (text: string) => {
    pieces[pieces.length - 1] += text
  }
  for (const [index, part] of parts.entries()) {
    if (isFragment(part)) {
      const [head = '', ...rest] = part[fragmentMark]
      append(head)
      pieces.push(...rest)
      values.push(...part.values)
    } else {
      values.push(part)
      pieces.push('')
    }
    append(strings[index + 1] ?? '')
  }
  return fragmentOf(pieces, values)
}

/** The fragment of these pieces, with one value between each two. */
function fragmentOf<Row>(pieces: string[], values: unknown[]): Fragment<Row> {
  const text = pieces.reduce((all, piece, index) => `${all}$${index}${piece}`)
  // The only cast to a statement: here the text consists of the templates' pieces and of numbers for the values.
  return { text, values, [fragmentMark]: pieces } as unknown as Fragment<Row>
}

const literalPattern = /^[a-z_ ]+$/

/** A constant of our own, written into the statement: unlike a bound value, it lets PostgreSQL use a partial index. */
export function sqlLiteral(text: string): Statement {
  if (!literalPattern.test(text)) throw new Error('an SQL literal may only have lower-case letters, `_` and spaces')
  return fragmentOf([`'${text}'`], [])
}

/** A number of our own, written into the statement: unlike with a bound value, PostgreSQL plans for it. */
export function sqlInteger(value: number): Statement {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('an SQL integer has to be a whole number from 0 on')
  return fragmentOf([String(value)], [])
}

/**
 * A read that `read` runs without bitmap scans. On a table without statistics PostgreSQL expects few rows, so it would collect all
 * of a tenant's rows and sort them for one page.
 */
export function inIndexOrder<Row>(statement: Statement<Row>): Statement<Row> {
  return { ...statement, in_index_order: true }
}

/** The same for a read of a partitioned table: where it expects few rows, PostgreSQL would sort those of all partitions. */
export function inMergedOrder<Row>(statement: Statement<Row>): Statement<Row> {
  return { ...statement, in_index_order: 'of_partitions' }
}

/**
 * A read by keys that is planned once on each connection. By its own choice PostgreSQL may plan it for each use, because a plan for the
 * known length of a list looks cheaper; that takes longer than the read.
 */
export function plannedOnce<Row>(statement: Statement<Row>): Statement<Row> {
  return { ...statement, planned_once: true }
}

/** Fragments joined by ` and `; `true` if there is none. */
export function allOf(conditions: Statement[]): Statement {
  return conditions.length === 0 ? sql`true` : conditions.reduce((all, next) => sql`${all} and ${next}`)
}

/** A moment in the format of replies, for rows that the database itself turns into JSON. */
export function isoMoment(column: Statement): Statement {
  return sql`to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The first twelve digits of ids created at that moment: ids of `newId` are ordered by time. */
export function idDigits(moment: Statement): Statement {
  return sql`lpad(to_hex(floor(extract(epoch from ${moment}) * 1000)::bigint), 12, '0')`
}

/**
 * An id like those of `newId`, by the database's clock, another one for each row. Random ids would scatter rows over their index, and events
 * over their partitions.
 */
export const idInOrder = sql`(${idDigits(sql`clock_timestamp()`)} || '7'
  || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid`

function isFragment(part: unknown): part is Fragment<unknown> {
  return typeof part === 'object' && part !== null && fragmentMark in part
}
