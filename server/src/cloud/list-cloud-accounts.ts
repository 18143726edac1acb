import { Type } from 'typebox'
import { Search } from '../http/list-query.ts'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { CloudAccount } from './cloud-account.ts'
import { findCloudAccountsPage, listCloudAccountsPage } from './cloud-account-store.ts'

export const listCloudAccounts = operation({
  method: 'GET',
  path: '/v1/cloud/accounts',
  summary: 'List cached cloud accounts by rank and name',
  credential: 'any',
  scope: 'cloud_accounts:read',
  query: Type.Object(
    {
      ...pageQuery,
      q: Search('the name, the account number and the id'),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(CloudAccount) },
  errors: [],
  async run(ctx, { query: { q }, page }) {
    if (q !== undefined) return page.reply(await findCloudAccountsPage(ctx.tx, q, page))
    return page.of(await listCloudAccountsPage(ctx.tx, page), ({ rank, name, id }) => [String(rank), name, id])
  },
})
