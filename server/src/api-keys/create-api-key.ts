import { keepRefusal } from '../events/keep-refusal.ts'
import { findDirectoryScopes } from '../groups/group-member-store.ts'
import { operation } from '../http/operation.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import {
  type ApiKey,
  MadeApiKey,
  NewApiKeyInput,
  requireEndWithin,
  requireFutureEnd,
  requireKeyReach,
  requireMayMakeScimKey,
} from './api-key.ts'
import { type ApiKeyToInsert, findApiKey, insertApiKey, insertScimKey } from './api-key-store.ts'
import { makeKeyText } from './api-key-text.ts'

/** How often the insert of a SCIM key is tried when its obstacle is gone by the time it is read. */
const attempts = 3

/**
 * Creates a key that acts for its creator, with at most the creator's rights at any time; or, for an identity provider, one
 * for SCIM only, which needs every right that the key can give. A key that is created by a key expires no later than that key. The
 * key is shown once.
 */
export const createApiKey = operation({
  method: 'POST',
  path: '/v1/api-keys',
  summary: 'Create API key',
  credential: 'any',
  scope: 'api_keys:write',
  refusesRehearsal: true,
  keyOfSession: true,
  body: NewApiKeyInput,
  replies: { 201: MadeApiKey },
  errors: ['unprocessable', 'version_conflict'],
  async run(ctx, { body }) {
    const { user_id: created_by } = ctx.actor
    if (created_by === null) throw new Problem('forbidden', 'a key acts for a user; sign in as one')
    const { identity_provider_id: provider } = body
    const { id, text, secret_hash } = makeKeyText(provider === undefined ? 'api' : 'scim')
    const subject =
      provider === undefined
        ? { subject_type: 'api_key', subject_id: id }
        : { subject_type: 'identity_provider', subject_id: provider.toLowerCase() }
    return keepRefusal(ctx, subject, async () => {
      const reach = requireKeyReach(ctx.actor.scopes, body)
      const parent = ctx.actor.api_key_id === null ? undefined : await findApiKey(ctx.tx, ctx.actor.api_key_id)
      const end = body.expires_at ?? parent?.expires_at ?? null
      const expires_at = requireEndWithin(requireFutureEnd(end, ctx.now), parent?.expires_at ?? null)
      const key = { id, name: body.name, secret_hash, created_by, expires_at }
      const made = await (reach.kind === 'scim'
        ? makeScimKey(ctx, { ...key, ...reach })
        : insertApiKey(ctx, { ...key, ...reach }))
      return { ...made, key: text }
    })
  },
})

/** The insert checks the scopes itself, so that no group gets a role in between; a refusal is then explained. */
async function makeScimKey(ctx: Ctx, key: ApiKeyToInsert & { identity_provider_id: string }): Promise<ApiKey> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const made = await insertScimKey(ctx, key)
    if (made !== undefined) return made
    requireMayMakeScimKey(ctx.actor.scopes, await findDirectoryScopes(ctx.tx, key.identity_provider_id))
  }
  throw new Problem('version_conflict', 'other requests are changing the roles of groups; try again')
}
