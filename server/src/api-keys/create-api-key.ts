import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import { MadeApiKey, NewApiKeyInput, requireFutureEnd, requireKeyReach } from './api-key.ts'
import { insertApiKey } from './api-key-store.ts'
import { makeKeyText } from './api-key-text.ts'

/**
 * Makes a key that speaks for its maker, with at most the maker's rights, now and later; or, for an identity provider, one
 * that opens SCIM alone. The key is shown once.
 */
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
    const reach = requireKeyReach(ctx.actor.scopes, body)
    const expires_at = requireFutureEnd(body.expires_at ?? null, ctx.now)
    const { id, text, secret_hash } = makeKeyText(reach.kind)
    const made = await insertApiKey(ctx, { ...reach, id, name: body.name, secret_hash, created_by, expires_at })
    return { ...made, key: text }
  },
})
