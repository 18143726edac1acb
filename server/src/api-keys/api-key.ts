import { type Static, Type } from 'typebox'
import { Body, DateTime, Name, Nullable, Uuid } from '../http/schema.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { readMoment } from '../kernel/moment.ts'
import { isScope, requireHeld, type Scope } from '../permissions/permission.ts'

/** The public record of a key: never the key itself, nor its hash. */
export const ApiKey = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    scopes: Type.Array(Type.String()),
    created_by: Type.String({ description: 'id of the user for whom the key acts' }),
    last_used_at: Nullable(DateTime),
    expires_at: Nullable(DateTime),
    revoked_at: Nullable(DateTime),
    revoked_by: Nullable(Type.String({ description: 'id of the user; null if the operator revoked it' })),
    created_at: DateTime,
    identity_provider_id: Type.Optional(Uuid),
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

/** A key's record as stored. */
export type ApiKeyRow = Omit<ApiKey, 'identity_provider_id'> & { identity_provider_id: string | null }

/** Omits `identity_provider_id` when it is null. */
export function apiKeyOf({ identity_provider_id, ...rest }: ApiKeyRow): ApiKey {
  return identity_provider_id === null ? rest : { ...rest, identity_provider_id }
}

/** The reply to the creation of a key: the record, and the key itself this one time. */
export const MadeApiKey = Type.Object(
  { ...ApiKey.properties, key: Type.String({ description: 'the key itself; it is never shown again' }) },
  { title: 'MadeApiKey' },
)

export const NewApiKeyInput = Body({
  name: Name(200),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 500,
      description: "required; at most the creator's own scopes. A SCIM key has only `scim:provision`, and may omit it",
    }),
  ),
  expires_at: Type.Optional(Nullable(Type.String({ ...DateTime, description: 'in the future; null or absent: none' }))),
  identity_provider_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'makes a SCIM key, which writes only the users of this provider' }),
  ),
})
export type NewApiKeyInput = Static<typeof NewApiKeyInput>

/** What a new key gives access to, and its scopes there. */
type KeyReach = { kind: 'api'; scopes: Scope[] } | { kind: 'scim'; scopes: Scope[]; identity_provider_id: string }

/**
 * The reach of a new key. An API key holds at most its creator's scopes. A SCIM key holds `scim:provision`, which no user
 * has; `requireMayMakeScimKey` says who may create it.
 * @throws Problem 400 without scopes, 422 for scopes that do not exist or are not SCIM's, 403 naming those that the creator lacks
 */
export function requireKeyReach(maker: ReadonlySet<string>, input: NewApiKeyInput): KeyReach {
  const { scopes, identity_provider_id } = input
  if (identity_provider_id !== undefined) {
    return { kind: 'scim', scopes: requireScimScopes(scopes), identity_provider_id: stored(identity_provider_id) }
  }
  if (scopes === undefined) throw invalidInput([{ pointer: '/scopes', why: 'is required' }])
  return { kind: 'api', scopes: requireKeyScopes(maker, scopes) }
}

function stored(id: string): string {
  const read = readUuid(id)
  if (read === undefined) throw invalidInput([{ pointer: '/identity_provider_id', why: 'must be a uuid' }])
  return read
}

const scimScope = 'scim:provision' satisfies Scope

function requireScimScopes(requested: readonly string[] = [scimScope]): Scope[] {
  if (requested.length !== 1 || requested[0] !== scimScope) {
    const message = `a key of an identity provider has the scope \`${scimScope}\` and no other; omit \`scopes\``
    throw new Problem('unprocessable', message, { details: { scopes: requested, allowed: [scimScope] } })
  }
  return [scimScope]
}

/** The scopes that the creator of a SCIM key needs in every tenant: the key writes users, groups and their members. */
export const scimMakerScopes = [
  'api_keys:write',
  'identity_providers:write',
  'users:write',
  'groups:write',
] as const satisfies readonly Scope[]

/**
 * INVARIANT: a key gives nobody more rights than its creator has. A SCIM key can make anybody a member of a group that its directory
 * manages, and so give them the scopes of that group; and it says by which account and address a user of the directory signs in.
 * @param conferred the scopes that these groups give, and that these users hold
 * @throws Problem 403 naming all scopes that the creator lacks
 */
export function requireMayMakeScimKey(maker: ReadonlySet<string>, conferred: readonly string[]): void {
  const why =
    'a SCIM key writes users, groups and their members, so its creator needs the scopes for that and every scope that the ' +
    "directory's groups give and its users hold"
  requireHeld(maker, [...scimMakerScopes, ...conferred], (lacking) => `${why}; you lack ${lacking}`)
}

/**
 * The scopes of a new key, without duplicates.
 * @throws Problem 422 naming those that do not exist, 403 naming those that the creator lacks
 */
export function requireKeyScopes(maker: ReadonlySet<string>, requested: readonly string[]): Scope[] {
  const unknown = [...new Set(requested)].filter((scope) => !isScope(scope))
  if (unknown.length > 0) {
    const named = unknown.map((scope) => `\`${scope}\``).join(', ')
    const message = `${named}: no such scope; GET /v1/permissions lists them`
    throw new Problem('unprocessable', message, { details: { scopes: unknown } })
  }
  requireHeld(maker, requested, (lacking) => `a key cannot hold a scope that its creator lacks; you lack ${lacking}`)
  return [...new Set(requested)].filter(isScope)
}

/** @throws Problem 400 when the end is not after `now`. */
export function requireFutureEnd(expires_at: string | null, now: Date): string | null {
  if (expires_at === null) return null
  const end = readMoment(expires_at)
  if (end === undefined || end <= now) {
    throw invalidInput([{ pointer: '/expires_at', why: `must be in the future; it is ${now.toISOString()} now` }])
  }
  return end.toISOString()
}

/** @throws Problem 403 when a key would outlive the key that creates it, which would circumvent that key's expiry */
export function requireEndWithin(expires_at: string | null, parents: string | null): string | null {
  if (parents !== null && (expires_at === null || Date.parse(expires_at) > Date.parse(parents))) {
    throw new Problem('forbidden', `a key cannot outlive the key that creates it; set an end no later than ${parents}`)
  }
  return expires_at
}
