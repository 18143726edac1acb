/** The pages of a list, from the first to the last; none when what it lists is gone. */
export async function* pagesOf<Page extends { NextToken?: string | undefined }>(
  ask: (NextToken: string | undefined) => Promise<Page | undefined>,
): AsyncGenerator<Page> {
  let NextToken: string | undefined
  do {
    const page = await ask(NextToken)
    if (page === undefined) return
    yield page
    NextToken = page.NextToken
  } while (NextToken !== undefined)
}
