import * as client from 'openid-client'
import { readGroupsClaim } from '../groups/group-mapping.ts'
import type { Egress } from '../kernel/context.ts'
import { withinDeadline } from '../kernel/deadline.ts'
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'
import type { ClaimTrust } from '../settings/sign-in-setting.ts'
import { discover, type OidcClient, type OidcConfiguration, openConfigurations } from './oidc-configuration.ts'
import { type RedeemedAccount, RefusedByProvider, readAccount, requireForClient } from './redeemed-account.ts'

export type Redemption = {
  code: string
  redirect_uri: string
  /** The values that the sign-in began with here; undefined for a sign-in begun elsewhere. */
  bound: { nonce: string; code_verifier: string; max_age: number | null } | undefined
  /** The database's clock. */
  now: Date
  trust: ClaimTrust
}

export type AuthorizationRequest = {
  redirect_uri: string
  scopes: readonly string[]
  state: string
  nonce: string
  code_verifier: string
  max_age: number | null
}

const maxExchangeMs = 10_000
/** A user who signs out does not wait longer for the provider. */
const maxLogoutUrlMs = 2_000
/** The maximum number of exchanges in flight with one provider, so that a hanging provider holds no more. */
const maxAtOnce = 32
/** The maximum number of logout tokens of one provider that wait to be checked: it may sign out many people at once. */
const maxWaitingLogouts = 1_000

/** Trials take no places of sign-ins, and the trials of one tenant no places of another. */
const maxTrials = 8

function triesOthers(): Problem {
  return new Problem('unavailable', 'other issuers are being tried; retry in a moment')
}

/** The calls that sign-in makes to providers. Each provider has its own concurrency limit. */
export function openProviders(egress: Egress) {
  const configurationOf = openConfigurations(egress)
  const tooMany = () => unavailable(new Error('too many exchanges with the provider are in flight'))
  const exchanges = createSemaphore({ limit: maxAtOnce, maxWaiting: 0, refusal: tooMany })
  // Apart from sign-ins: neither takes the places of the other.
  const logouts = createSemaphore({ limit: maxAtOnce, maxWaiting: maxWaitingLogouts, refusal: tooMany })
  const trials = createSemaphore({ limit: maxTrials, maxWaiting: 0, refusal: triesOthers })
  const trialsOfTenant = createSemaphore({ limit: 1, maxWaiting: 0, refusal: triesOthers })
  const tooLong = (): never => {
    throw unavailable(new Error('the provider takes too long'))
  }

  /** An exchange that exceeds its deadline counts as in flight until it ends. */
  async function guarded<Result>(
    { issuer }: OidcClient,
    work: () => Promise<Result>,
    places = exchanges,
  ): Promise<Result> {
    try {
      return await withinDeadline(maxExchangeMs, (signal) => places.run(work, { key: issuer, signal }), tooLong)
    } catch (error) {
      throw problemOrRefusal(error)
    }
  }

  return {
    /**
     * Returns the URL at which the user signs in.
     * @throws Problem 503 when the provider does not answer as it should
     */
    authorizationUrl: (known: OidcClient, request: AuthorizationRequest): Promise<string> =>
      guarded(known, async () => {
        const { redirect_uri, scopes, state, nonce, code_verifier, max_age } = request
        const { configuration } = await configurationOf(known)
        const url = client.buildAuthorizationUrl(configuration, {
          redirect_uri,
          scope: scopes.join(' '),
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
          code_challenge_method: 'S256',
          ...(max_age !== null && { max_age: String(max_age) }),
        })
        return url.href
      }),
    /**
     * Returns why this issuer cannot be used, as a half-sentence; undefined if it can. It fetches what the provider says of
     * itself, and its keys.
     * @throws Problem 503 while other issuers are tried
     */
    async findFault(known: OidcClient): Promise<string | undefined> {
      const limited = () => trials.run(() => tryIssuer(known, egress))
      const ofTenant = () => trialsOfTenant.run(limited, { key: String(known.tenant_id) })
      try {
        return await withinDeadline(maxExchangeMs, ofTenant, () => 'cannot be used now: it takes too long')
      } catch (error) {
        if (error instanceof Problem) throw error
        const unreachable = unreachableIn(error)
        if (unreachable !== undefined) return `cannot be used now: ${unreachable.message}`
        return `cannot be used: ${refusalOf(error).message}`
      }
    },
    /**
     * Redeems a code for the account that it stands for.
     * @param wanted a claim to read from the user info when the identity token lacks it
     * @throws RefusedByProvider when the code, or the provider's answer to it, is invalid; Problem 503 when the provider
     * does not answer
     */
    redeem: (known: OidcClient, redemption: Redemption, wanted?: string): Promise<RedeemedAccount> =>
      guarded(known, async () => redeem(await configurationOf(known), known, redemption, wanted)),
    /**
     * Checks that the provider signed this token.
     * @throws RefusedByProvider if it did not; Problem 503 when the provider does not answer
     */
    verify: (known: OidcClient, token: string): Promise<void> =>
      guarded(known, async () => (await configurationOf(known)).keys.verify(token), logouts),
    /** The address at which a user signs out of the provider; undefined if it has none, or does not answer at once. */
    async findLogoutUrl(known: OidcClient): Promise<string | undefined> {
      const find = async () => logoutUrlIn((await configurationOf(known)).configuration)
      return withinDeadline(maxLogoutUrlMs, find, () => undefined).catch(() => undefined)
    },
  }
}

export type Providers = ReturnType<typeof openProviders>

async function redeem(
  { configuration, keys, forUserInfo }: OidcConfiguration,
  known: OidcClient,
  redemption: Redemption,
  wanted: string | undefined,
): Promise<RedeemedAccount> {
  const began = performance.now()
  const tokens = await requestTokens(configuration, redemption)
  const claims = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) {
    throw new RefusedByProvider('the provider returned no identity token')
  }
  // Checked even though the token comes over TLS from the provider itself.
  await keys.verify(tokens.id_token)
  const now = (redemption.now.getTime() + performance.now() - began) / 1000
  requireForClient(claims, known.client_id, now)
  const missing = claims.email === undefined || (wanted !== undefined && !isSaid(claims, wanted))
  const more = missing && configuration.serverMetadata().userinfo_endpoint !== undefined
  const info = more ? await client.fetchUserInfo(forUserInfo(), tokens.access_token, claims.sub) : {}
  return readAccount(known.issuer, claims, info, redemption.trust)
}

/** Whether the identity token has the claim, or says that the provider keeps it elsewhere: the user info would not have it then. */
function isSaid(claims: Readonly<Record<string, unknown>>, wanted: string): boolean {
  return claims[wanted] !== undefined || readGroupsClaim(claims, wanted).is === 'overflow'
}

/** Only a web address: a browser is sent there. */
function logoutUrlIn(configuration: client.Configuration): string | undefined {
  const address = URL.parse(configuration.serverMetadata().end_session_endpoint ?? '')
  if (address === null || !/^https?:$/.test(address.protocol)) return undefined
  return client.buildEndSessionUrl(configuration).href
}

function requestTokens(configuration: client.Configuration, { code, redirect_uri, bound }: Redemption) {
  if (bound === undefined) {
    // The sign-in began elsewhere: only its initiator knows whether it had a nonce, and which.
    return client.genericGrantRequest(configuration, 'authorization_code', { code, redirect_uri })
  }
  const answer = new URL(redirect_uri)
  answer.searchParams.set('code', code)
  answer.searchParams.set('iss', configuration.serverMetadata().issuer)
  return client.authorizationCodeGrant(configuration, answer, {
    expectedNonce: bound.nonce,
    pkceCodeVerifier: bound.code_verifier,
    idTokenExpected: true,
    ...(bound.max_age !== null && { maxAge: bound.max_age }),
  })
}

/** @throws RefusedByProvider or an error of the library if nobody could sign in by this issuer */
async function tryIssuer(known: OidcClient, egress: Egress): Promise<undefined> {
  const { configuration, keys } = await discover(known, egress)
  const metadata = configuration.serverMetadata()
  for (const endpoint of ['authorization_endpoint', 'token_endpoint'] as const) {
    const address = URL.parse(metadata[endpoint] ?? '')
    if (address === null || !/^https?:$/.test(address.protocol)) {
      throw new RefusedByProvider(`the provider names no \`${endpoint}\``)
    }
  }
  await keys.load()
}

function unavailable(cause: unknown): Problem {
  const problem = new Problem('unavailable', 'the identity provider does not answer; sign in again in a moment')
  problem.cause = cause
  return problem
}

/** A provider that does not answer is unavailable. Every other error of the library is a refusal. */
function problemOrRefusal(error: unknown): Error {
  if (error instanceof Problem || error instanceof RefusedByProvider) return error
  return unreachableIn(error) === undefined ? refusalOf(error) : unavailable(error)
}

function refusalOf(error: unknown): RefusedByProvider {
  return error instanceof RefusedByProvider ? error : new RefusedByProvider(reasonOf(error), { cause: error })
}

/** Whether the provider knows no such code: anybody can invent one. */
export function isCodeUnknown({ cause }: RefusedByProvider): boolean {
  return cause instanceof client.ResponseBodyError && cause.error === 'invalid_grant'
}

/** The error that says why the provider could not be reached, if that is the cause. */
function unreachableIn(error: unknown): Error | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if (cause.name === 'ProviderUnreachable' || cause.name === 'TimeoutError') return cause
  }
  return undefined
}

/** The library's message. Text from the provider is not quoted, because it may hold tokens. */
function reasonOf(error: unknown): string {
  if (error instanceof client.ResponseBodyError) return error.error.slice(0, 100)
  if (error instanceof client.WWWAuthenticateChallengeError) return error.message
  if (!(error instanceof client.ClientError)) return 'the provider’s answer cannot be read'
  const { cause, message } = error
  if (cause instanceof Response) return `${message}: ${cause.status}`
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('OAUTH_') ? cause.message : message
}
