import { TargetError } from '../driver.ts'

/** Of one list: of people, who come a hundred at a time, two million. */
const maxPages = 20_000

/**
 * The pages of a list, from the first to the last; none when what it lists is gone.
 * @throws TargetError when the list does not end
 */
export async function* pagesOf<Page extends { NextToken?: string | undefined }>(
  ask: (NextToken: string | undefined) => Promise<Page | undefined>,
): AsyncGenerator<Page> {
  let NextToken: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page = await ask(NextToken)
    if (page === undefined) return
    yield page
    if (page.NextToken === undefined) return
    // The page after it would be the same, without an end.
    if (page.NextToken === NextToken)
      throw new TargetError('transient', 'AWS repeats a page of a list; try again later')
    if (pages === maxPages) throw new TargetError('permanent', `a list of AWS has more than ${maxPages} pages`)
    NextToken = page.NextToken
  }
}
