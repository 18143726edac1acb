/** Sign-in through a tenant's own provider. It begins here with a signed state, and the caller that returns the state finishes it. */
import { randomNonce, randomPKCECodeVerifier } from 'openid-client'
import type { Database } from '../db/transaction.ts'
import { type AuthorizationAnswer, type ProviderSignIn, type Sealer, systemActor, type Tx } from '../kernel/context.ts'
import { invalidInput, notFound, Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import type { StoredSignIn } from '../settings/sign-in-setting.ts'
import { findSignInSetting, openClientSecret } from '../settings/sign-in-setting-store.ts'
import { admitAccount } from './admit-account.flow.ts'
import type { OidcClient } from './oidc-configuration.ts'
import { isCodeUnknown, type Providers } from './oidc-provider.ts'
import { browserHash, type StateCodec, stateFault } from './oidc-state.ts'
import { insertSignInState, takeSignInState } from './oidc-state-store.ts'
import { RefusedByProvider } from './redeemed-account.ts'
import { refuseSignIn } from './sign-in-refusal.flow.ts'

export type OwnProviderSignIn = {
  database: Pick<Database, 'tenant'>
  sealer: Sealer
  states: StateCodec
  providers: Providers
  /** Refuses a sign-in whose tenant is unknown. */
  refuseUnknown(cause: string): never
  /** Drops what this process keeps of a tenant's credentials. */
  dropAdmissions(tenant_id: string): void
}

/** Returns the URL at which the user signs in. */
export async function beginOwnSignIn(
  { database, sealer, states, providers }: OwnProviderSignIn,
  { tenant_id, redirect_uri, max_age, browser }: Parameters<ProviderSignIn['begin']>[0],
): Promise<string> {
  const tx = database.tenant(tenant_id)
  const setting = await findSignInSetting(tx)
  if (setting === undefined || !setting.enabled) throw notFound('sign-in by a provider')
  if (!setting.redirect_uris.includes(redirect_uri)) {
    throw invalidInput([{ pointer: 'redirect_uri', why: 'is not listed in the sign-in settings: use one of theirs' }])
  }
  const { issuer, client_id, scopes } = setting
  const id = newId()
  const bound = { redirect_uri, max_age, nonce: randomNonce(), code_verifier: randomPKCECodeVerifier() }
  const request = { ...bound, scopes, state: states.sign({ tenant_id, id }) }
  const client = await clientOf(sealer, tx, setting)
  const location = await providers.authorizationUrl(client, request).catch(hideRefusal)
  const browser_hash = browser === null ? null : browserHash(browser)
  await insertSignInState(tx, id, { ...bound, issuer, client_id, browser_hash })
  return location
}

/** Returns the user who signed in. */
export async function finishOwnSignIn(
  { database, sealer, states, providers, refuseUnknown, dropAdmissions }: OwnProviderSignIn,
  answer: AuthorizationAnswer & { state: string },
  from: Parameters<ProviderSignIn['finish']>[1],
) {
  const { browsers, source_ip, request_id } = from
  const claim = states.read(answer.state)
  if (claim === undefined) return refuseUnknown('state_unknown')
  const ctx = { tx: database.tenant(claim.tenant_id), actor: systemActor, request_id }
  // INVARIANT: the state is used up before the provider is called, whether the sign-in succeeds or not.
  const taken = await takeSignInState(ctx.tx, claim.id)
  if (taken === undefined) return refuseSignIn(ctx, { cause: 'state_used', by: 'stranger', source_ip })
  const setting = await findSignInSetting(ctx.tx)
  const cause = stateFault(taken, setting, answer, browsers)
  if (cause !== undefined || setting === undefined) {
    return refuseSignIn(ctx, { cause: cause ?? 'provider_disabled', by: 'stranger', source_ip })
  }
  const client = await clientOf(sealer, ctx.tx, setting)
  const { code, redirect_uri } = answer
  const redemption = { code, redirect_uri, bound: taken, now: new Date(taken.now), trust: setting }
  const account = await providers
    .redeem(client, redemption, setting.groups_claim ?? undefined)
    .catch((error: unknown) => {
      const refusal = refusalFor(error)
      if (refusal === undefined) throw error
      return refuseSignIn(ctx, { ...refusal, source_ip })
    })
  return admitAccount(ctx, from, account, { own: setting, mayCreate: true, begunAt: redemption.now, dropAdmissions })
}

export async function clientOf(sealer: Sealer, tx: Tx, setting: StoredSignIn): Promise<OidcClient> {
  const { issuer, client_id } = setting
  return { tenant_id: tx.tenant_id, issuer, client_id, client_secret: await openClientSecret(sealer, tx, setting) }
}

/** At the beginning of a sign-in, a provider that misbehaves counts as unavailable. */
function hideRefusal(error: unknown): never {
  if (!(error instanceof RefusedByProvider)) throw error
  const problem = new Problem('unavailable', 'the identity provider does not answer correctly; try again in a moment')
  problem.cause = error
  throw problem
}

/** The refusal for a failed redemption; undefined for a failure of the service itself. */
function refusalFor(error: unknown) {
  if (error instanceof RefusedByProvider) {
    return { cause: 'provider', by: isCodeUnknown(error) ? 'stranger' : 'provider', reason: error.message } as const
  }
  return error instanceof Problem
    ? ({ cause: 'provider_unavailable', by: 'outage', problem: error } as const)
    : undefined
}
