import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { ApiKey } from './api-key.ts'
import { findApiKey, revokeLiveApiKey } from './api-key-store.ts'

/** Revokes a key; the record stays. A second call changes nothing: the first revoker and time stay. */
export const revokeApiKey = operation({
  method: 'DELETE',
  path: '/v1/api-keys/{id}',
  summary: 'Revoke API key (soft delete)',
  credential: 'any',
  scope: 'api_keys:write',
  params: IdParams,
  replies: { 200: ApiKey },
  errors: ['not_found'],
  changes: 'authority',
  async run(ctx, { params }) {
    const key = (await revokeLiveApiKey(ctx, params.id)) ?? (await findApiKey(ctx.tx, params.id))
    if (key === undefined) throw notFound('API key')
    return key
  },
})
