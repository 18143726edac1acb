import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, Uuid } from '../http/schema.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { isScope, type Scope, scopesLacking } from '../permissions/permission.ts'
import type { KeyKind } from './api-key-text.ts'

/** What is told of a key: never the key, nor its hash. */
export const ApiKey = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    scopes: Type.Array(Type.String()),
    created_by: Type.String({ description: 'id of the user for whom the key speaks' }),
    last_used_at: Nullable(DateTime),
    expires_at: Nullable(DateTime),
    revoked_at: Nullable(DateTime),
    revoked_by: Nullable(Type.String({ description: 'id of the user; null where the operator did it' })),
    created_at: DateTime,
    identity_provider_id: Type.Optional(Uuid),
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

/** A key's record as the table has it. */
export type ApiKeyRow = Omit<ApiKey, 'identity_provider_id'> & { identity_provider_id: string | null }

/** Leaves the link out where there is none. */
export function apiKeyOf({ identity_provider_id, ...rest }: ApiKeyRow): ApiKey {
  return identity_provider_id === null ? rest : { ...rest, identity_provider_id }
}

/** The answer to making a key: the record, and the key itself this once. */
export const MadeApiKey = Type.Object(
  { ...ApiKey.properties, key: Type.String({ description: 'the key itself: shown now and never again' }) },
  { title: 'MadeApiKey' },
)

export const NewApiKeyInput = Body({
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '^\\P{Cc}+$' }),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 500,
      description: "at most the maker's own; a SCIM key has `scim:provision` alone, and may leave it out",
    }),
  ),
  expires_at: Type.Optional(Nullable(DateTime)),
  identity_provider_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'makes a SCIM key, which writes the people of this provider alone' }),
  ),
})
export type NewApiKeyInput = Static<typeof NewApiKeyInput>

/** What a new key opens, and what it may do there. */
type KeyReach = { kind: KeyKind; scopes: Scope[]; identity_provider_id: string | null }

/**
 * The reach of a new key. One for the API holds at most what its maker holds; one for SCIM holds `scim:provision`, which
 * nobody has, and is made by whoever may change identity providers.
 * @throws Problem 400 without scopes, 422 for scopes that do not exist or are not SCIM's, 403 naming those that the maker lacks
 */
export function requireKeyReach(maker: ReadonlySet<string>, input: NewApiKeyInput): KeyReach {
  const { scopes, identity_provider_id } = input
  if (identity_provider_id !== undefined) {
    return {
      kind: 'scim',
      scopes: requireScimScopes(maker, scopes),
      identity_provider_id: stored(identity_provider_id),
    }
  }
  if (scopes === undefined) throw invalidInput([{ pointer: '/scopes', why: 'is required' }])
  return { kind: 'api', scopes: requireKeyScopes(maker, scopes), identity_provider_id: null }
}

function stored(id: string): string {
  const read = readUuid(id)
  if (read === undefined) throw invalidInput([{ pointer: '/identity_provider_id', why: 'must be a uuid' }])
  return read
}

const scimScope = 'scim:provision' satisfies Scope

function requireScimScopes(maker: ReadonlySet<string>, asked: readonly string[] = [scimScope]): Scope[] {
  if (asked.length !== 1 || asked[0] !== scimScope) {
    const message = `a key of an identity provider has the scope \`${scimScope}\` and no other; leave \`scopes\` out`
    throw new Problem('unprocessable', message, { details: { scopes: asked, allowed: [scimScope] } })
  }
  const lacking = scopesLacking(maker, ['identity_providers:write'])
  if (lacking.length > 0) {
    const message = `a key of an identity provider is made by whoever may change it; you lack ${lacking.join(', ')}`
    throw new Problem('forbidden', message, { details: { scopes: lacking } })
  }
  return [scimScope]
}

/**
 * The scopes of a new key, without repeats.
 * @throws Problem 422 naming those that do not exist, 403 naming those that the maker lacks
 */
export function requireKeyScopes(maker: ReadonlySet<string>, asked: readonly string[]): Scope[] {
  const unknown = [...new Set(asked)].filter((scope) => !isScope(scope))
  if (unknown.length > 0) {
    const named = unknown.map((scope) => `\`${scope}\``).join(', ')
    const message = `${named}: no such scope; GET /v1/permissions lists them`
    throw new Problem('unprocessable', message, { details: { scopes: unknown } })
  }
  const lacking = scopesLacking(maker, asked)
  if (lacking.length > 0) {
    const message = `a key holds at most what its maker holds; you lack ${lacking.join(', ')}`
    throw new Problem('forbidden', message, { details: { scopes: lacking } })
  }
  return [...new Set(asked)].filter(isScope)
}

/** @throws Problem 400 where the end is not after `now`: a key that ends now has ended. */
export function requireFutureEnd(expires_at: string | null, now: Date): string | null {
  if (expires_at === null) return null
  const end = new Date(expires_at)
  if (!(end.getTime() > now.getTime())) {
    throw invalidInput([{ pointer: '/expires_at', why: `must be in the future; it is ${now.toISOString()} now` }])
  }
  return end.toISOString()
}

/** @throws Problem 403 where a key would outlive the key that makes it: an end that was set must mean something */
export function requireEndWithin(expires_at: string | null, parents: string | null): string | null {
  if (parents !== null && (expires_at === null || Date.parse(expires_at) > Date.parse(parents))) {
    throw new Problem('forbidden', `a key made by a key ends with it at the latest: on ${parents}`)
  }
  return expires_at
}
