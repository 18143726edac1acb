/**
 * Sign-in through the operator's global provider. It begins elsewhere and finishes here. The tenant is the one that the
 * provider's claim names, or the one that the operator gave the domain of the account's address, or else the only one there
 * is. What the admins of a tenant enter never leads to their tenant: they could draw in, or lock out, the users of another.
 */
import type { GlobalOidc } from '../config/config.ts'
import type { Database, UnrestrictedTx } from '../db/transaction.ts'
import { type AuthorizationAnswer, type ProviderSignIn, systemActor } from '../kernel/context.ts'
import { mailDomainOf } from '../kernel/email-address.ts'
import { readUuid } from '../kernel/id.ts'
import type { ClaimTrust } from '../settings/sign-in-setting.ts'
import { countTenantsByMailDomain, listTenantsOfMailDomain } from '../tenants/mail-domain-store.ts'
import { findOnlyTenant, hasTenant } from '../tenants/tenant-store.ts'
import { admitAccount } from './admit-account.flow.ts'
import type { Providers } from './oidc-provider.ts'
import { readClock } from './oidc-state-store.ts'
import { type RedeemedAccount, RefusedByProvider } from './redeemed-account.ts'

export type GlobalProviderSignIn = {
  database: Pick<Database, 'tenant' | 'work'>
  /** Undefined: the operator has set none. */
  global: GlobalOidc | undefined
  providers: Providers
  /** Refuses a sign-in whose tenant is unknown. */
  refuseUnknown(cause: string): never
}

const globalTrust: ClaimTrust = { subject_claim: 'sub', email_trust: 'claim' }

/** Returns the user who signed in. */
export async function finishGlobalSignIn(
  { database, global, providers, refuseUnknown }: GlobalProviderSignIn,
  { code, redirect_uri, iss }: AuthorizationAnswer,
  from: Parameters<ProviderSignIn['finish']>[1],
) {
  if (global === undefined) return refuseUnknown('no_global_provider')
  if (!global.redirect_uris.includes(redirect_uri)) return refuseUnknown('redirect_uri')
  if (iss !== undefined && iss !== global.issuer) return refuseUnknown('other_issuer')
  const { issuer, client_id, client_secret, tenant_claim } = global
  const client = { tenant_id: null, issuer, client_id, client_secret }
  const redemption = { code, redirect_uri, bound: undefined, now: await readClock(database.work), trust: globalTrust }
  const account = await providers.redeem(client, redemption, tenant_claim).catch((error: unknown) => {
    if (error instanceof RefusedByProvider) return refuseUnknown(error.message)
    throw error
  })
  const found = await findTenantOf(database.work, account, tenant_claim)
  if ('cause' in found) return refuseUnknown(found.cause)
  const { tenant_id, named } = found
  const ctx = { tx: database.tenant(tenant_id), actor: systemActor, request_id: from.request_id }
  return admitAccount(ctx, from, account, { own: undefined, mayCreate: named, begunAt: redemption.now })
}

/** The tenant of an account, and whether the provider or the operator named it; or why there is none, for the log. */
async function findTenantOf(
  work: UnrestrictedTx,
  account: RedeemedAccount,
  tenant_claim: string | undefined,
): Promise<{ tenant_id: string; named: boolean } | { cause: string }> {
  const claim = tenant_claim === undefined ? undefined : account.claims[tenant_claim]
  if (claim !== undefined) return findClaimedTenant(work, claim)
  const domain = account.email_verified && account.email !== undefined ? mailDomainOf(account.email) : undefined
  const [owner, ...others] = domain === undefined ? [] : await listTenantsOfMailDomain(work, domain)
  if (others.length > 0) return { cause: 'domain_of_several_tenants' }
  if (owner !== undefined) return { tenant_id: owner, named: true }
  const only = await findOnlyTenant(work)
  return only === undefined ? { cause: 'no_tenant_named' } : { tenant_id: only, named: false }
}

/** Says which tenants cannot be found by a sign-in through the global provider, for the operator; undefined when all can. */
export async function findUnreachableTenants(
  work: UnrestrictedTx,
  global: GlobalOidc | undefined,
): Promise<string | undefined> {
  if (global === undefined || global.tenant_claim !== undefined) return undefined
  const { tenants, without } = await countTenantsByMailDomain(work)
  if (tenants < 2 || without === 0) return undefined
  const means = 'set OIDC_TENANT_CLAIM, or run `npm run admin -- mail-domain add TENANT DOMAIN` for each'
  return `OIDC_ISSUER is set, but ${without} of ${tenants} tenants have no mail domain, so nobody signs in to them by it: ${means}`
}

async function findClaimedTenant(work: UnrestrictedTx, claim: unknown) {
  const tenant_id = typeof claim === 'string' ? readUuid(claim) : undefined
  const isKnown = tenant_id !== undefined && (await hasTenant(work, tenant_id))
  return isKnown ? { tenant_id, named: true } : { cause: 'unknown_tenant' }
}
