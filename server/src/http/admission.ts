/** Authenticates and authorizes the caller before the body of a request is read. */
import type { FastifyRequest } from 'fastify'
import type { Actor, SignInSession } from '../kernel/context.ts'
import { invalidInput, Problem, tenantSuspended } from '../kernel/errors.ts'
import { findStaleness, multiFactor, signInAgain } from '../kernel/fresh-sign-in.ts'
import { readUuid } from '../kernel/id.ts'
import type { SessionCookie } from './session-cookie.ts'
import { callerAddress } from './source.ts'

/**
 * The credential that an operation takes. `any`: a token, a browser's session or an API key. `user`: no API key, for records that
 * belong to a person. `token`: only a token, to stay signed in. `tenant`: no credential, but the caller must name
 * the tenant. `none`: neither.
 */
export type CredentialKind = 'any' | 'user' | 'token' | 'tenant' | 'none'

/** What a credential proves. */
export type Admission = {
  tenant_id: string
  actor: Actor
  via: 'token' | 'api_key' | 'session'
  /** Null for an API key. */
  session: AdmittedSession | null
  /** The operator suspended the tenant: the credential is valid, and good for nothing. */
  tenant_suspended: boolean
  now: Date
  /** Of a SCIM key: the identity provider for which it speaks, and whether that is switched on. */
  directory?: { id: string; enabled: boolean }
}

/** The sign-in behind a token or a cookie. */
export type AdmittedSession = SignInSession & {
  /** The user must have a second factor, and this sign-in had none: it may only set one up. */
  lacks_factor: boolean
  /** The rehearsal made the user. */
  rehearses: boolean
}

/** The credential as the caller sent it; at most one of the three is present. */
export type PresentedCredential = {
  authorization?: string | undefined
  api_key?: string | undefined
  /** The value of the session's cookie. */
  session?: string | undefined
}

/**
 * Undefined when the credential is missing, malformed, unknown, expired or revoked; the caller does not learn which.
 * @throws Problem 429 when `address` sent too many invalid credentials
 */
export type Authenticate = (presented: PresentedCredential, address: string) => Promise<Admission | undefined>

/** The same for the text of a SCIM key, which is no credential anywhere else. */
export type AuthenticateDirectory = (key: string, address: string) => Promise<Admission | undefined>
/** The same as `Prove`, for a SCIM key that was admitted. */
export type ProveDirectory = (key: string) => Promise<Admission | undefined>

/** The same from the database at this moment, never from a cache, and not counted: for a credential that was admitted. */
export type Prove = (presented: PresentedCredential) => Promise<Admission | undefined>

/** The credential of a request. A credential in a header counts, whatever cookies come with it. @throws Problem 400 for two */
export function presentedCredential(request: FastifyRequest, cookie: SessionCookie): PresentedCredential {
  const { authorization } = request.headers
  const api_key = request.headers['x-api-key'] as string | undefined
  if (authorization !== undefined && api_key !== undefined) {
    throw new Problem(
      'ambiguous_credentials',
      'the request carries both `Authorization` and `X-API-Key`; send only one of them',
    )
  }
  if (authorization !== undefined) return { authorization }
  return api_key === undefined ? { session: cookie.read(request) } : { api_key }
}

/** Whether a caller of the operation proves who they are. */
export function takesCredential(credential: CredentialKind): boolean {
  return credential !== 'none' && credential !== 'tenant'
}

/** What a caller must show for an operation. */
type Demand = {
  method: string
  path: string
  credential: CredentialKind
  scope: string | null
  freshSignIn: boolean
  allowsOneFactor: boolean
  refusesRehearsal: boolean
  setsCookie: boolean
}

/** The checks of credentials, as the pipeline has them. */
type Checks = { authenticate: Authenticate; sessionCookie: SessionCookie }

/**
 * What the caller's credential proves; undefined when the operation takes no credential. `onEndedSession` is called for a cookie that
 * proves nothing, or nothing any more.
 * @throws Problem 401 without a valid credential, 400 for two
 */
export async function findAdmission(
  { authenticate, sessionCookie }: Checks,
  operation: Demand,
  request: FastifyRequest,
  onEndedSession: () => void = () => undefined,
): Promise<Admission | undefined> {
  const { method, credential, setsCookie } = operation
  if (!takesCredential(credential)) return undefined
  const presented = presentedCredential(request, sessionCookie)
  const { session } = presented
  if (session !== undefined || (credential === 'token' && setsCookie)) {
    sessionCookie.requireHost(request)
    if (method !== 'GET') sessionCookie.requireOwnOrigin(request)
    else sessionCookie.requireOwnReader(request)
  }
  const admission = await authenticate(presented, callerAddress(request))
  if (admission === undefined) {
    if (session !== undefined) onEndedSession()
    throw new Problem(
      'unauthenticated',
      'the credential is missing or not valid; sign in again, or send a valid API key',
    )
  }
  return admission
}

/** Why the operation takes no valid credential of this kind. The specified operations below `/v1/users/me` answer 401. */
function findWrongKind({ actor, via }: Admission, { path, credential }: Pick<Demand, 'path' | 'credential'>) {
  const isOwn = path === '/v1/users/me' || path.startsWith('/v1/users/me/')
  const refused = (message: string) => new Problem(isOwn ? 'unauthenticated' : 'forbidden', message)
  if (credential !== 'any' && actor.kind !== 'user') {
    return refused('this operation belongs to a person and takes no API key; send a token')
  }
  const isOther = credential === 'token' && via === 'session'
  return isOther ? refused('this operation takes only a token; sign in again') : undefined
}

/** Why the admission does not allow this operation in this tenant; undefined when it does. */
export function findRefusal(
  admission: Admission,
  tenant_id: string,
  demand: Omit<Demand, 'method'>,
): Problem | undefined {
  const { scope, freshSignIn, allowsOneFactor, refusesRehearsal } = demand
  if (admission.tenant_suspended) return tenantSuspended()
  const wrongKind = findWrongKind(admission, demand)
  if (wrongKind !== undefined) return wrongKind
  if (admission.tenant_id !== tenant_id) {
    return new Problem('tenant_mismatch', '`X-Tenant-ID` is not the tenant of the credential')
  }
  if (admission.session?.lacks_factor === true && !allowsOneFactor) return oneFactorOnly()
  if (admission.session?.rehearses === true && refusesRehearsal) return noWayIn()
  if (scope !== null && !admission.actor.scopes.has(scope)) {
    return new Problem('forbidden', `this needs the scope \`${scope}\``, {
      details: { scope },
    })
  }
  return freshSignIn ? findStaleness(admission) : undefined
}

function noWayIn(): Problem {
  const message =
    'a person of the rehearsal has no way to sign in, and cannot set one up; an owner gets tokens for them'
  return new Problem('forbidden', message)
}

function oneFactorOnly(): Problem {
  const means = 'set one up at `/v1/users/me/second-factors` if you have none, then sign in again'
  return signInAgain(`your roles need a sign-in with a second factor; ${means}`, multiFactor)
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

/** The tenant that the caller names; undefined for a caller who names none. @throws Problem 400 for a malformed one */
export function findTenantHeader(request: FastifyRequest): string | undefined {
  return request.headers['x-tenant-id'] === undefined ? undefined : requireTenantHeader(request)
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
