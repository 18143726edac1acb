import { createHash } from 'node:crypto'
import * as client from 'openid-client'
import type { Egress } from '../egress/egress.ts'
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
  /** By whose word: an operator's issuer may lie anywhere, a tenant's only where `egress` lets it. */
  by: 'operator' | 'tenant'
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

/** Why a code was not taken, for the audit log. */
export class RefusedByProvider extends Error {}

/** By how much a provider's clock may differ, in seconds. */
const leeway = 60
/** For each call to a provider, and for all of one exchange, in seconds. */
const longestCall = 10
const keptForMs = 600_000
const mostKept = 1_000
/** A provider that hangs holds up so many exchanges and no more. */
const mostAtOnce = 32

/** What sign-in asks of providers: their metadata and keys are kept for a while, and each has its own bulkhead. */
export function openProviders(egress: Egress) {
  const kept = new Map<string, { at: number; configuration: Promise<client.Configuration> }>()
  const underWay = new Map<string, number>()

  function configurationOf(known: OidcClient): Promise<client.Configuration> {
    const key = keyOf(known)
    const found = kept.get(key)
    if (found !== undefined && performance.now() - found.at < keptForMs) return found.configuration
    const configuration = discover(known, egress)
    kept.set(key, { at: performance.now(), configuration })
    configuration.catch(() => kept.delete(key))
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
function keyOf({ issuer, client_id, client_secret = '', by }: OidcClient): string {
  return JSON.stringify([issuer, client_id, createHash('sha256').update(client_secret).digest('base64'), by])
}

async function discover(known: OidcClient, egress: Egress): Promise<client.Configuration> {
  const fetch = fetchOver(egress, known.by)
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
    metadata,
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
  const name = claim
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return name === '' ? undefined : [...name].slice(0, 200).join('')
}

async function within<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error('the provider takes too long'))), longestCall * 1000)
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

function reasonOf(error: unknown): string {
  if (error instanceof client.ResponseBodyError) return error.error.slice(0, 100).toWellFormed()
  return error instanceof Error ? error.message.slice(0, 200).toWellFormed() : 'unknown'
}
