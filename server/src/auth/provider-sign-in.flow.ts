import type { GlobalOidc } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import type { Egress, ProviderSignIn, Sealer } from '../kernel/context.ts'
import { derivedKeys, type RootKeys } from '../secrets/root-key.ts'
import { finishGlobalSignIn } from './global-provider-sign-in.flow.ts'
import { openProviders } from './oidc-provider.ts'
import { stateCodec } from './oidc-state.ts'
import { beginOwnSignIn, finishOwnSignIn } from './own-provider-sign-in.flow.ts'
import { findLogoutUrl, obeyLogoutToken } from './provider-logout.flow.ts'
import { invalidAuthorizationCode } from './sign-in-refusal.flow.ts'

export type ProviderSignInOptions = {
  database: Database
  rootKeys: RootKeys
  sealer: Sealer
  egress: Egress
  /** The provider of sign-ins that begin elsewhere. */
  global: GlobalOidc | undefined
  /** Called with the cause of a refusal when no tenant is known, so that no tenant's audit log can hold it. */
  onRefusal(cause: string): void
  /** Drops what this process keeps of a tenant's credentials. */
  dropAdmissions(tenant_id: string): void
}

/** Opens sign-in through providers. A sign-in with a state began here, by a tenant's own provider; the global one has no state. */
export function openProviderSignIn(options: ProviderSignInOptions): ProviderSignIn {
  const { database, rootKeys, sealer, egress, global, onRefusal, dropAdmissions } = options
  const states = stateCodec(derivedKeys(rootKeys, 'oidc-state'))
  const providers = openProviders(egress)
  const refuseUnknown = (cause: string): never => {
    onRefusal(cause)
    throw invalidAuthorizationCode()
  }
  const own = { database, sealer, states, providers, refuseUnknown, dropAdmissions }
  const logout = { database, sealer, global, providers, onRefusal, dropAdmissions }
  return {
    findIssuerFault: async (tenant_id, issuer) =>
      (await egress.findFault(issuer)) ??
      // No client takes part: what a provider says of itself is for everybody.
      (await providers.findFault({ tenant_id, issuer, client_id: 'trial', client_secret: undefined })),
    begin: (request) => beginOwnSignIn(own, request),
    obeyLogoutToken: (sent, from) => obeyLogoutToken(logout, sent, from),
    findLogoutUrl: (tenant_id, provider) => findLogoutUrl(logout, tenant_id, provider),
    finish: ({ state, ...answer }, from) =>
      state === undefined
        ? finishGlobalSignIn({ database, global, providers, refuseUnknown }, answer, from)
        : finishOwnSignIn(own, { ...answer, state }, from),
  }
}
