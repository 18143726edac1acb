import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { PageOf, pageQuery } from '../http/schema.ts'
import { CloudAccount } from './cloud-account.ts'
import { listCloudAccountsPage } from './cloud-account-store.ts'

export const listCloudAccounts = operation({
  method: 'GET',
  path: '/v1/cloud/accounts',
  summary: 'List cached cloud accounts by rank and name',
  credential: 'any',
  scope: 'cloud_accounts:read',
  query: Type.Object(
    {
      ...pageQuery,
      q: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'part of the name, the account number or the id' }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: { 200: PageOf(CloudAccount) },
  errors: [],
  run: async (ctx, { query, page }) =>
    page.of(await listCloudAccountsPage(ctx.tx, query.q, page), ({ rank, name, id }) => [String(rank), name, id]),
})
