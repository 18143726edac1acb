/**
 * Sign-in through the operator's global provider. It begins elsewhere and finishes here. An account may belong to several
 * tenants: the tenant is the one that the provider names, or else the only one that knows the account.
 */
import type { GlobalOidc } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import { type AuthorizationAnswer, type ProviderSignIn, systemActor } from '../kernel/context.ts'
import { newId, readUuid } from '../kernel/id.ts'
import { findSignInSetting } from '../settings/sign-in-setting-store.ts'
import { isTenant, listTenantsOfAccount } from '../users/provider-user-store.ts'
import { admitAccount } from './admit-account.flow.ts'
import type { Providers } from './oidc-provider.ts'
import { readClock } from './oidc-state-store.ts'
import { RefusedByProvider } from './redeemed-account.ts'

export type GlobalProviderSignIn = {
  database: Pick<Database, 'tenant' | 'work'>
  /** Undefined: the operator has set none. */
  global: GlobalOidc | undefined
  providers: Providers
  /** Refuses a sign-in whose tenant is unknown. */
  refuseUnknown(cause: string): never
}

/** Returns the user who signed in. */
export async function finishGlobalSignIn(
  { database, global, providers, refuseUnknown }: GlobalProviderSignIn,
  { code, redirect_uri, iss }: AuthorizationAnswer,
  { source_ip, request_id }: Parameters<ProviderSignIn['finish']>[1],
) {
  if (global === undefined) return refuseUnknown('no_global_provider')
  if (!global.redirect_uris.includes(redirect_uri)) return refuseUnknown('redirect_uri')
  if (iss !== undefined && iss !== global.issuer) return refuseUnknown('other_issuer')
  const { issuer, client_id, client_secret, tenant_claim } = global
  const client = { tenant_id: null, issuer, client_id, client_secret }
  const redemption = { code, redirect_uri, bound: undefined, now: await readClock(database.work) }
  const account = await providers.redeem(client, redemption, tenant_claim).catch((error: unknown) => {
    if (error instanceof RefusedByProvider) return refuseUnknown(error.message)
    throw error
  })
  const named = tenant_claim === undefined ? undefined : account.claims[tenant_claim]
  const tenants = named === undefined ? await listTenantsOfAccount(database.work, account) : [readTenantClaim(named)]
  const [tenant_id] = tenants
  if (tenant_id === undefined) return refuseUnknown('unknown_user')
  if (tenants.length > 1) return refuseUnknown('several_tenants')
  const ctx = { tx: database.tenant(tenant_id), actor: systemActor, request_id }
  if (!(await isTenant(ctx.tx))) return refuseUnknown('unknown_tenant')
  // A tenant with a provider of its own creates users for that provider alone: accounts of another provider are not linked.
  const mayLink = (await findSignInSetting(ctx.tx))?.enabled !== true
  return admitAccount(ctx, source_ip, account, { mayLink, mayCreate: named !== undefined })
}

/** A claim that is not a UUID becomes a new id, which is no tenant's. */
function readTenantClaim(claim: unknown): string {
  return (typeof claim === 'string' ? readUuid(claim) : undefined) ?? newId()
}
