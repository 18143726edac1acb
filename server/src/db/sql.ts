import type { Statement } from '../kernel/context.ts'

const fragmentMark = Symbol('sql')

type Fragment<Row> = Statement<Row> & { readonly [fragmentMark]: readonly string[] }

/**
 * SQL written as SQL: values are bound, never pasted; a statement inside another is woven in with its values.
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

/** The fragment of these pieces, with one of the values between each two. */
function fragmentOf<Row>(pieces: string[], values: unknown[]): Fragment<Row> {
  const text = pieces.reduce((all, piece, index) => `${all}$${index}${piece}`)
  return { text, values, [fragmentMark]: pieces }
}

const wordsAlone = /^[a-z_ ]+$/

/** Words of our own as a constant of the statement: unlike a value that is bound, an index on a part of a table can serve it. */
export function sqlLiteral(words: string): Statement {
  if (!wordsAlone.test(words)) throw new Error('what is pasted into SQL is a word of our own')
  return fragmentOf([`'${words}'`], [])
}

/** Fragments one after another, parted by ` and `; `true` where there is none. */
export function allOf(conditions: Statement[]): Statement {
  return conditions.length === 0 ? sql`true` : conditions.reduce((all, next) => sql`${all} and ${next}`)
}

/** A moment as answers have it, for rows of which the database itself makes JSON. */
export function isoMoment(column: Statement): Statement {
  return sql`to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The twelve digits with which the ids of that moment begin: those of `newId` are in the order of time. */
export function idDigits(moment: Statement): Statement {
  return sql`lpad(to_hex(floor(extract(epoch from ${moment}) * 1000)::bigint), 12, '0')`
}

function isFragment(part: unknown): part is Fragment<unknown> {
  return typeof part === 'object' && part !== null && fragmentMark in part
}
