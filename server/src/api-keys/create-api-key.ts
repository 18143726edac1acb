import { operation } from '../http/operation.ts'
import { Problem } from '../kernel/errors.ts'
import { MadeApiKey, NewApiKeyInput, requireEndWithin, requireFutureEnd, requireKeyReach } from './api-key.ts'
import { findApiKey, insertApiKey } from './api-key-store.ts'
import { makeKeyText } from './api-key-text.ts'

/**
 * Creates a key that acts for its creator, with at most the creator's rights at any time; or, for an identity provider, one
 * for SCIM only. A key that is created by a key expires no later than that key. The key is shown once.
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
    if (created_by === null) throw new Problem('forbidden', 'a key acts for a user; sign in as one')
    const reach = requireKeyReach(ctx.actor.scopes, body)
    const parent = ctx.actor.api_key_id === null ? undefined : await findApiKey(ctx.tx, ctx.actor.api_key_id)
    const end = body.expires_at ?? parent?.expires_at ?? null
    const expires_at = requireEndWithin(requireFutureEnd(end, ctx.now), parent?.expires_at ?? null)
    const { id, text, secret_hash } = makeKeyText(reach.kind)
    const made = await insertApiKey(ctx, { ...reach, id, name: body.name, secret_hash, created_by, expires_at })
    return { ...made, key: text }
  },
})
