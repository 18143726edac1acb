import { answerOf } from '@sallyport/client'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { pageOf, readPages } from '../access/pages.ts'
import { api } from '../api/api.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import { type Account, isSameAccount } from './account.ts'

export const accountsQuery = infiniteQueryOptions({
  queryKey: ['cloud_account', 'list'],
  queryFn: ({ pageParam: cursor }) =>
    answerOf(api.GET('/v1/cloud/accounts', { params: { query: pageBehind(cursor) } })),
  ...growing,
})

/** The number begins few words: a page or two have all accounts with it. */
const maxPages = 20

/**
 * Adds an account, unless one with its number is there: a write replaces the whole entry with its id, tags and units too, and of two with one
 * number rules read one alone.
 * @returns the account that is there; undefined where it was added
 */
export async function addAccount(account: Account): Promise<Account | undefined> {
  const read = (cursor: string | undefined) => {
    const query = { q: account.account_id, ...pageOf(cursor) }
    return answerOf(api.GET('/v1/cloud/accounts', { params: { query } }))
  }
  const { found } = await readPages(read, { maxPages })
  const there = found.find(({ id, account_id }) => id === account.id || account_id === account.account_id)
  if (there !== undefined) return isSameAccount(there, account) ? undefined : there
  await answerOf(api.PUT('/v1/cloud/accounts', { body: { resources: [account] } }))
  return undefined
}
