import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable, Uuid } from '../http/schema.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { isScope, type Scope, scopesLacking } from '../permissions/permission.ts'

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
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

/** The answer to making a key: the record, and the key itself this once. */
export const MadeApiKey = Type.Object(
  { ...ApiKey.properties, key: Type.String({ description: 'the key itself: shown now and never again' }) },
  { title: 'MadeApiKey' },
)

export const NewApiKeyInput = Body({
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '^\\P{Cc}+$' }),
  scopes: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 500 }),
  expires_at: Type.Optional(Nullable(DateTime)),
})
export type NewApiKeyInput = Static<typeof NewApiKeyInput>

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
