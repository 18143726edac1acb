import type { Operation } from './operation.ts'
import { jsonSchemaOf } from './schema.ts'

/** The lines of a reply that is streamed, and no stream of events. */
export function streamedLines(
  { streams, reply }: Pick<Operation, 'streams' | 'reply'>,
  body: unknown,
  mayGoOn: () => Promise<boolean>,
): AsyncGenerator<string> {
  if (streams !== 'text/csv') return linesOf(body as AsyncIterable<unknown>, mayGoOn)
  const columns = Object.keys((reply && jsonSchemaOf(reply).properties) ?? {})
  return csvOf(body as AsyncIterable<Readonly<Record<string, string>>>, columns, mayGoOn)
}

/** After so many lines, the reader's credential is checked again. */
const recheckRows = 100

/**
 * The rows as lines of JSON (NDJSON). A reader who loses the right to them gets no further hundred: the stream then fails, so that what
 * was sent does not pass for all there is.
 * @throws Error when `mayGoOn` returns false
 */
async function* linesOf<Row>(
  rows: AsyncIterable<Row>,
  mayGoOn: () => Promise<boolean>,
  lineOf: (row: Row) => string = (row) => `${JSON.stringify(row)}\n`,
): AsyncGenerator<string> {
  let sent = 0
  for await (const row of rows) {
    if (sent > 0 && sent % recheckRows === 0 && !(await mayGoOn())) {
      throw new Error('the reader lost the right to these lines')
    }
    sent += 1
    yield lineOf(row)
  }
}

/** The rows as a table (RFC 4180) with a line of headings, under the same conditions. */
async function* csvOf(
  rows: AsyncIterable<Readonly<Record<string, string>>>,
  columns: readonly string[],
  mayGoOn: () => Promise<boolean>,
): AsyncGenerator<string> {
  yield csvLine(columns)
  yield* linesOf(rows, mayGoOn, (row) => csvLine(columns.map((column) => row[column] ?? '')))
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** Spreadsheets would compute a cell that begins like this, some of them also by the wide forms of East Asia. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** A cell. A text of somebody else's that looks like a formula gets an apostrophe, by which spreadsheets take it for a text. */
export function csvCell(text: string): string {
  const plain = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
