/** Authenticates and authorizes the caller before the body of a request is read. */
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'

/**
 * The credential that an operation takes. `any`: a token or an API key. `user`: only a token, for records that belong to a
 * person. `tenant`: no credential, but the caller must name the tenant. `none`: neither.
 */
export type CredentialKind = 'any' | 'user' | 'tenant' | 'none'

/** What a credential proves. */
export type Admission = { tenant_id: string; actor: Actor; via: 'token' | 'api_key'; now: Date }

/** The credential as the caller sent it; at most one of the two is present. */
export type PresentedCredential = { authorization: string | undefined; api_key: string | undefined }

/**
 * Undefined when the credential is missing, malformed, unknown, expired or revoked; the caller does not learn which.
 * @throws Problem 429 when `address` sent too many invalid credentials
 */
export type Authenticate = (presented: PresentedCredential, address: string) => Promise<Admission | undefined>

/** The same from the database at this moment, never from a cache, and not counted: for a credential that was admitted. */
export type Prove = (presented: PresentedCredential) => Promise<Admission | undefined>

/** The credential of a request. @throws Problem 400 for two */
export function presentedCredential({ headers }: FastifyRequest): PresentedCredential {
  const { authorization } = headers
  const api_key = headers['x-api-key'] as string | undefined
  if (authorization === undefined || api_key === undefined) return { authorization, api_key }
  throw new Problem(
    'ambiguous_credentials',
    'the request carries both `Authorization` and `X-API-Key`; send only one of them',
  )
}

/** What a caller must show for an operation. */
type Demand = { credential: CredentialKind; scope: string | null }

/**
 * What the caller's credential proves; undefined when the operation takes no credential.
 * @throws Problem 401 without a valid credential, 400 for two
 */
export async function findAdmission(
  authenticate: Authenticate,
  { credential }: Demand,
  request: FastifyRequest,
): Promise<Admission | undefined> {
  if (credential === 'none' || credential === 'tenant') return undefined
  const admission = await authenticate(presentedCredential(request), request.ip)
  if (admission === undefined) {
    throw new Problem('unauthenticated', 'the credential is missing or not valid; send a valid token or API key')
  }
  if (credential === 'user' && admission.actor.kind !== 'user') {
    throw new Problem('unauthenticated', 'this operation belongs to a person and takes no API key; send a token')
  }
  return admission
}

/** Why the admission does not allow this operation in this tenant; undefined when it does. */
export function findRefusal(admission: Admission, tenant_id: string, { scope }: Demand): Problem | undefined {
  if (admission.tenant_id !== tenant_id) {
    return new Problem('tenant_mismatch', '`X-Tenant-ID` is not the tenant of the credential')
  }
  if (scope !== null && !admission.actor.scopes.has(scope)) {
    return new Problem('forbidden', `this needs the scope \`${scope}\``, {
      details: { scope },
    })
  }
  return undefined
}

const singleHeaders = new Set(['authorization', 'x-api-key', 'x-tenant-id'])

/** Node silently keeps the first of two credentials and joins two tenants. Either would be a guess. */
export function requireSingleHeaders(rawHeaders: readonly string[]): void {
  const seen = new Set<string>()
  for (const [index, name] of rawHeaders.entries()) {
    const header = name.toLowerCase()
    if (index % 2 === 1 || !singleHeaders.has(header)) continue
    if (seen.has(header)) {
      throw new Problem('ambiguous_credentials', `the header \`${name}\` is present twice; send it once`)
    }
    seen.add(header)
  }
}

/** The tenant that the caller names. @throws Problem 400 */
export function requireTenantHeader(request: FastifyRequest): string {
  const header = request.headers['x-tenant-id']
  const tenant_id = typeof header === 'string' ? readUuid(header) : undefined
  if (tenant_id === undefined) {
    const why = header === undefined ? 'is required' : 'must be a uuid with hyphens and nothing else'
    throw invalidInput([{ pointer: 'X-Tenant-ID', why }])
  }
  return tenant_id
}
