import { createHash } from 'node:crypto'
import * as client from 'openid-client'
import type { Egress } from '../kernel/context.ts'
import { readEmail } from '../kernel/email-address.ts'
import { Problem } from '../kernel/errors.ts'
import type { ProviderAccount } from '../users/provider-user.ts'
import { fetchOver } from './oidc-fetch.ts'

/** The service as a provider knows it. */
export type OidcClient = {
  issuer: string
  client_id: string
  /** Undefined: a public client. */
  client_secret: string | undefined
  /** Whose word it is: a tenant's issuer lies only where `egress` lets it, the operator's (null) anywhere. */
  tenant_id: string | null
}

/** What is redeemed: `bound` is what the sign-in was begun with; undefined where it was begun elsewhere. */
export type Redemption = {
  code: string
  redirect_uri: string
  bound: { nonce: string; code_verifier: string } | undefined
  /** The database's clock. */
  now: Date
}

export type AuthorizationRequest = {
  redirect_uri: string
  scopes: readonly string[]
  state: string
  nonce: string
  code_verifier: string
}

/** An account with what else its provider said of it. */
export type RedeemedAccount = ProviderAccount & { claims: Readonly<Record<string, unknown>> }

/** Why a code was not taken, for the audit log: on one line, since a provider may have written what is quoted. */
export class RefusedByProvider extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(lineOf(why, 300), options)
  }
}

/** By how much a provider's clock may differ, in seconds. */
const leeway = 60
/** Each call to a provider, in seconds. */
const longestCall = 5
/** All of one exchange, in seconds. */
const longestExchange = 10
const keptForMs = 600_000
const mostKept = 1_000
/** A provider that hangs holds up so many exchanges and no more. */
const mostAtOnce = 32

type Kept = { client: string; at: number; configuration: Promise<client.Configuration> }

/**
 * What sign-in asks of providers: their metadata and keys are kept for a while, and each has its own bulkhead. One client
 * is kept for each tenant, so that one that turns through providers with long metadata fills no memory but its own.
 */
export function openProviders(egress: Egress) {
  const kept = new Map<string | null, Kept>()
  const underWay = new Map<string, number>()

  function configurationOf(known: OidcClient): Promise<client.Configuration> {
    const { tenant_id } = known
    const fingerprint = fingerprintOf(known)
    const found = kept.get(tenant_id)
    if (found?.client === fingerprint && performance.now() - found.at < keptForMs) return found.configuration
    const configuration = discover(known, egress)
    const entry = { client: fingerprint, at: performance.now(), configuration }
    kept.delete(tenant_id)
    kept.set(tenant_id, entry)
    configuration.catch(() => {
      if (kept.get(tenant_id) === entry) kept.delete(tenant_id)
    })
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    return configuration
  }

  async function guarded<Result>(known: OidcClient, work: () => Promise<Result>): Promise<Result> {
    const busy = underWay.get(known.issuer) ?? 0
    if (busy >= mostAtOnce) throw unavailable(new Error('too many exchanges with the provider are under way'))
    underWay.set(known.issuer, busy + 1)
    const done = work().finally(() => {
      const left = (underWay.get(known.issuer) ?? 1) - 1
      if (left > 0) underWay.set(known.issuer, left)
      else underWay.delete(known.issuer)
    })
    return await within(done).catch((error: unknown) => {
      throw problemOrRefusal(error)
    })
  }

  return {
    /**
     * Where to send somebody to sign in.
     * @throws Problem 503 where the provider does not answer as it should
     */
    authorizationUrl: (known: OidcClient, request: AuthorizationRequest): Promise<string> =>
      guarded(known, async () => {
        const { redirect_uri, scopes, state, nonce, code_verifier } = request
        const url = client.buildAuthorizationUrl(await configurationOf(known), {
          redirect_uri,
          scope: scopes.join(' '),
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
          code_challenge_method: 'S256',
        })
        return url.href
      }),
    /**
     * Redeems a code for the account that it stands for.
     * @throws RefusedByProvider where the code, or what came for it, is not right; Problem 503 where the provider does
     * not answer
     */
    redeem: (known: OidcClient, redemption: Redemption, wanted?: string): Promise<RedeemedAccount> =>
      guarded(known, async () => redeem(await configurationOf(known), known, redemption, wanted)),
  }
}

export type Providers = ReturnType<typeof openProviders>

/** A changed secret is another client. */
function fingerprintOf({ issuer, client_id, client_secret = '' }: OidcClient): string {
  return JSON.stringify([issuer, client_id, createHash('sha256').update(client_secret).digest('base64')])
}

async function discover(known: OidcClient, egress: Egress): Promise<client.Configuration> {
  const fetch = fetchOver(egress, known.tenant_id === null ? 'operator' : 'tenant')
  // Where an issuer may be http at all is decided by whoever may name it: the operator, and EGRESS_ALLOW.
  const execute = known.issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  const found = await client.discovery(new URL(known.issuer), known.client_id, undefined, client.None(), {
    [client.customFetch]: fetch,
    timeout: longestCall,
    execute,
  })
  const metadata = found.serverMetadata()
  if (metadata.issuer !== known.issuer) {
    throw new RefusedByProvider(`the provider calls itself \`${String(metadata.issuer).slice(0, 200)}\``)
  }
  const configuration = new client.Configuration(
    usedOf(metadata),
    known.client_id,
    { [client.clockTolerance]: leeway },
    authenticationOf(known, metadata.token_endpoint_auth_methods_supported),
  )
  configuration[client.customFetch] = fetch
  configuration.timeout = longestCall
  for (const extend of execute) extend(configuration)
  // The signature is checked although the token comes over TLS from the provider itself.
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

/** What is used of the metadata; the rest, however long, is not kept. */
function usedOf(metadata: client.ServerMetadata): client.ServerMetadata {
  const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri } = metadata
  const { id_token_signing_alg_values_supported, userinfo_signing_alg_values_supported } = metadata
  const used = {
    ...{ issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri },
    ...{ id_token_signing_alg_values_supported, userinfo_signing_alg_values_supported },
  }
  return Object.fromEntries(Object.entries(used).filter(([, value]) => value !== undefined)) as client.ServerMetadata
}

function authenticationOf({ client_secret }: OidcClient, methods: string[] | undefined): client.ClientAuth {
  if (client_secret === undefined) return client.None()
  // Basic is what a provider takes that names no methods.
  const basic = methods === undefined || methods.includes('client_secret_basic')
  return basic ? client.ClientSecretBasic(client_secret) : client.ClientSecretPost(client_secret)
}

async function redeem(
  configuration: client.Configuration,
  known: OidcClient,
  redemption: Redemption,
  wanted: string | undefined,
): Promise<RedeemedAccount> {
  const began = performance.now()
  const tokens = await askForTokens(configuration, redemption)
  const claims = tokens.claims()
  if (claims === undefined) throw new RefusedByProvider('no identity token came')
  const now = (redemption.now.getTime() + performance.now() - began) / 1000
  if (claims.iat > now + leeway) throw new RefusedByProvider('the identity token is from the future')
  if (claims.azp !== undefined && claims.azp !== known.client_id) {
    throw new RefusedByProvider('the identity token is for another client')
  }
  const missing = claims.email === undefined || (wanted !== undefined && claims[wanted] === undefined)
  const more = missing && configuration.serverMetadata().userinfo_endpoint !== undefined
  const info = more ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {}
  return { ...readAccount(known.issuer, claims.sub, claims.email === undefined ? info : claims, claims, info) }
}

function askForTokens(configuration: client.Configuration, { code, redirect_uri, bound }: Redemption) {
  if (bound === undefined) {
    // Begun elsewhere: whether there was a nonce, and which, its beginner alone can know.
    return client.genericGrantRequest(configuration, 'authorization_code', { code, redirect_uri })
  }
  const answer = new URL(redirect_uri)
  answer.searchParams.set('code', code)
  answer.searchParams.set('iss', configuration.serverMetadata().issuer)
  return client.authorizationCodeGrant(configuration, answer, {
    expectedNonce: bound.nonce,
    pkceCodeVerifier: bound.code_verifier,
    idTokenExpected: true,
  })
}

type Claims = Readonly<Record<string, unknown>>

/** @param addressed the claims that the address is read from: it and its verification come from one place */
function readAccount(
  issuer: string,
  subject: string,
  addressed: Claims,
  claims: Claims,
  info: Claims,
): RedeemedAccount {
  if (subject.length === 0 || subject.length > 255 || subject.includes('\0') || !subject.isWellFormed()) {
    throw new RefusedByProvider('the subject is not of the form of one')
  }
  const email = typeof addressed.email === 'string' ? readEmail(addressed.email) : undefined
  const name = readName(claims.name) ?? readName(info.name)
  return {
    issuer,
    subject,
    email,
    email_verified: addressed.email_verified === true,
    name,
    claims: { ...info, ...claims },
  }
}

/** A name on one line, of 200 characters at most; undefined for anything else. */
function readName(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined
  const name = lineOf(claim, 200)
  return name === '' ? undefined : name
}

/** As much of a foreign text as fits on a line of `most` characters, and into the database. */
function lineOf(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return [...line].slice(0, most).join('')
}

async function within<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error('the provider takes too long'))), longestExchange * 1000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function unavailable(cause: unknown): Problem {
  const problem = new Problem(
    'unavailable',
    'the identity provider does not answer just now; sign in again in a moment',
  )
  problem.cause = cause
  return problem
}

/** A provider that does not answer is nobody's fault here; whatever else the library throws is a refusal. */
function problemOrRefusal(error: unknown): Error {
  if (error instanceof Problem || error instanceof RefusedByProvider) return error
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if (cause.name === 'ProviderUnreachable' || cause.name === 'TimeoutError') return unavailable(error)
  }
  return new RefusedByProvider(reasonOf(error), { cause: error })
}

/** In the library's words. What came from the provider is not quoted: it may hold tokens. */
function reasonOf(error: unknown): string {
  if (error instanceof client.ResponseBodyError) return error.error.slice(0, 100)
  if (error instanceof client.WWWAuthenticateChallengeError) return error.message
  if (!(error instanceof client.ClientError)) return 'the answer cannot be understood'
  const { cause, message } = error
  if (cause instanceof Response) return `${message}: ${cause.status}`
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('OAUTH_') ? cause.message : message
}
