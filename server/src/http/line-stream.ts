/** After so many lines, the reader's credential is checked again. */
const recheckRows = 100

/**
 * The rows as lines of JSON (NDJSON). A reader who loses the right to them gets no further hundred: the stream then fails, so that what
 * was sent does not pass for all there is.
 * @throws Error when `mayGoOn` returns false
 */
export async function* linesOf(rows: AsyncIterable<unknown>, mayGoOn: () => Promise<boolean>): AsyncGenerator<string> {
  let sent = 0
  for await (const row of rows) {
    if (sent > 0 && sent % recheckRows === 0 && !(await mayGoOn())) {
      throw new Error('the reader lost the right to these lines')
    }
    sent += 1
    yield `${JSON.stringify(row)}\n`
  }
}
