/** Sign-out between this service and a provider: the provider's word that a person signed out there, and the other way round. */
import type { GlobalOidc } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import { type CallerOrigin, type ProviderSignIn, type Sealer, systemActor } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { isUuid } from '../kernel/id.ts'
import { endProviderSessions, listTenantsOfSessions } from '../sessions/provider-session-store.ts'
import { globalProvider } from '../sessions/session.ts'
import { findSignInSetting, findTenantOfProvider } from '../settings/sign-in-setting-store.ts'
import { logoutTokenId, readLogoutToken } from './logout-token.ts'
import { keepReceived, noteObeyed } from './logout-token-store.ts'
import type { OidcClient } from './oidc-configuration.ts'
import type { Providers } from './oidc-provider.ts'
import { readClock } from './oidc-state-store.ts'
import { clientOf } from './own-provider-sign-in.flow.ts'
import { RefusedByProvider } from './redeemed-account.ts'
import { refuseSignIn } from './sign-in-refusal.flow.ts'

export type ProviderLogout = {
  database: Pick<Database, 'tenant' | 'work' | 'service'>
  sealer: Sealer
  global: GlobalOidc | undefined
  providers: Providers
  /** Called when no tenant's audit log can hold the cause of a refusal. */
  onRefusal(cause: string): void
  /** Drops what this process keeps of a tenant's credentials. */
  dropAdmissions(tenant_id: string): void
}

function invalidLogoutToken(): Problem {
  return new Problem('invalid_input', 'the logout token is not valid, or not for this address')
}

/** The client that signs in by a provider, and its tenant; undefined for the operator's. */
type KnownProvider = { client: OidcClient; tenant_id: string | undefined }

/**
 * Ends the sessions that the provider's logout token names.
 * @throws Problem 400 for a token that is not valid, or was obeyed before; 503 when the provider's keys cannot be fetched
 */
export async function obeyLogoutToken(
  deps: ProviderLogout,
  { provider, logout_token }: { provider: string; logout_token: string },
  from: CallerOrigin,
): Promise<void> {
  const known = await findProvider(deps, provider)
  const refused = (reason: string): Promise<never> => refuseToken(deps, known?.tenant_id, from, reason)
  if (known === undefined) return refused('unknown_provider')
  const { database } = deps
  const now = (await readClock(database.work)).getTime() / 1000
  const token = await verified(deps.providers, known.client, logout_token, now).catch((error: unknown) => {
    if (error instanceof RefusedByProvider) return refused(error.message)
    throw error
  })
  const id = logoutTokenId(provider, token)
  const names = { ...token, issuer: known.client.issuer }
  // INVARIANT: kept before any session ends, for the sign-ins that are under way.
  if (!(await keepReceived(database.service, id, provider, names))) return refused('the logout token was used before')
  const tenants =
    known.tenant_id === undefined ? await listTenantsOfSessions(database.work, provider, names) : [known.tenant_id]
  for (const tenant_id of tenants) {
    const ctx = { tx: database.tenant(tenant_id), actor: systemActor, request_id: from.request_id }
    // Dropped even when the work fails: it may have committed first.
    await endProviderSessions(ctx, provider, names).finally(() => deps.dropAdmissions(tenant_id))
  }
  // Last, so that a token whose work failed can be sent again.
  await noteObeyed(database.service, id)
}

/**
 * The address at which a user signs out of a provider; undefined where the provider has none, or does not answer, or the search
 * fails: the user has signed out of this service already.
 */
export async function findLogoutUrl(
  deps: ProviderLogout,
  ...[tenant_id, provider]: Parameters<ProviderSignIn['findLogoutUrl']>
): Promise<string | undefined> {
  const known = await findProvider(deps, provider).catch(() => undefined)
  if (known === undefined || (known.tenant_id ?? tenant_id) !== tenant_id) return undefined
  return deps.providers.findLogoutUrl(known.client)
}

async function findProvider(
  { database, sealer, global }: ProviderLogout,
  provider: string,
): Promise<KnownProvider | undefined> {
  if (provider === globalProvider) {
    if (global === undefined) return undefined
    const { issuer, client_id, client_secret } = global
    return { client: { tenant_id: null, issuer, client_id, client_secret }, tenant_id: undefined }
  }
  const tenant_id = isUuid(provider) ? await findTenantOfProvider(database.work, provider) : undefined
  if (tenant_id === undefined) return undefined
  const tx = database.tenant(tenant_id)
  const setting = await findSignInSetting(tx)
  return setting && { client: await clientOf(sealer, tx, setting), tenant_id }
}

async function verified(providers: Providers, client: OidcClient, text: string, now: number) {
  // First what costs no call: anybody can send anything.
  const token = readLogoutToken(text, client, now)
  await providers.verify(client, text).catch(askAgain)
  return token
}

/** The provider reads the answer: one that asks a person to sign in again is of no use to it. */
function askAgain(error: unknown): never {
  if (!(error instanceof Problem)) throw error
  const problem = new Problem('unavailable', 'the identity provider’s keys cannot be fetched; send the token again')
  problem.cause = error
  throw problem
}

async function refuseToken(
  { database, onRefusal }: ProviderLogout,
  tenant_id: string | undefined,
  { source_ip, request_id }: CallerOrigin,
  reason: string,
): Promise<never> {
  const problem = invalidLogoutToken()
  if (tenant_id === undefined) {
    onRefusal(reason)
    throw problem
  }
  const ctx = { tx: database.tenant(tenant_id), actor: systemActor, request_id }
  return refuseSignIn(ctx, { cause: 'logout_token', by: 'stranger', source_ip, reason, problem })
}
