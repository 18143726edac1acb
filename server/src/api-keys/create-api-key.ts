import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import { MadeApiKey, NewApiKeyInput, requireFutureEnd, requireKeyScopes } from './api-key.ts'
import { insertApiKey } from './api-key-store.ts'
import { makeKeyText } from './api-key-text.ts'

/** Makes a key that speaks for its maker, with at most the maker's rights, now and later. The key is shown once. */
export const createApiKey = operation({
  method: 'POST',
  path: '/v1/api-keys',
  summary: 'Create API key',
  credential: 'any',
  scope: 'api_keys:write',
  body: NewApiKeyInput,
  replies: { 201: MadeApiKey },
  errors: ['unprocessable'],
  async run(ctx, { body }) {
    const { user_id: created_by } = ctx.actor
    if (created_by === null) throw new Problem('forbidden', 'a key speaks for a user; sign in as one')
    const scopes = requireKeyScopes(ctx.actor.scopes, body.scopes)
    const expires_at = requireFutureEnd(body.expires_at ?? null, ctx.now)
    const { id, text, secret_hash } = makeKeyText('api')
    const made = await insertApiKey(ctx, { id, name: body.name, secret_hash, scopes, created_by, expires_at })
    return { ...made, key: text }
  },
})
