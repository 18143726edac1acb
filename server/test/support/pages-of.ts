/** The pages of a list from the first to the last, each of so many entries. `read`: one page, by its query. */
export async function pagesOf<Page extends { next_cursor?: string | undefined }>(
  read: (query: string) => Promise<Page>,
  limit: number,
): Promise<Page[]> {
  const pages: Page[] = []
  for (let cursor = ''; ; ) {
    const page = await read(`?limit=${limit}${cursor}`)
    pages.push(page)
    if (page.next_cursor === undefined) return pages
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}
