import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { CloudAccountInput, cloudAccountOf, maxBodyBytes, maxEntries, requireSoundEntries } from './cloud-account.ts'
import { saveCloudAccounts } from './cloud-account-store.ts'

/** Writes entries of the account cache, which provides the account data for policies and the accounts for users to choose. */
export const upsertCloudAccounts = operation({
  method: 'PUT',
  path: '/v1/cloud/accounts',
  summary: 'Insert or update cached cloud accounts',
  credential: 'any',
  scope: 'cloud_accounts:write',
  body: Body({ resources: Type.Array(CloudAccountInput, { maxItems: maxEntries }) }),
  bodyLimit: maxBodyBytes,
  replies: {
    200: Type.Object({ upserted: Type.Integer({ description: 'how many entries were inserted or updated' }) }),
  },
  errors: [],
  async run(ctx, { body }) {
    requireSoundEntries(body.resources)
    return { upserted: await saveCloudAccounts(ctx, body.resources.map(cloudAccountOf)) }
  },
})
