/** An account at a provider, as the provider vouches for it. */
export type ProviderAccount = {
  issuer: string
  subject: string
  /** Undefined where the provider tells none, or one that is no address. */
  email: string | undefined
  /** Whether the provider says, in so many words, that the address is the account's. */
  email_verified: boolean
  name: string | undefined
}

/** What an account that is nobody's yet may do in a tenant. */
export type Welcome = {
  /** Become the user who was made for a provider with its address. */
  link: boolean
  /** Become a new user. */
  make: boolean
}

/** The user who has the account's address. */
export type AddressHolder = { auth_provider: string; active: boolean; linked: boolean }

/** Why the account may not become the user who has its address, for the audit log; undefined where it may. */
export function linkFault(
  holder: AddressHolder,
  account: Pick<ProviderAccount, 'email_verified'>,
  welcome: Welcome,
): string | undefined {
  // INVARIANT: a local user, or one who has an account already, is never handed over for the sake of an address.
  if (holder.auth_provider !== 'oidc' || holder.linked) return 'address_taken'
  if (!account.email_verified) return 'address_not_verified'
  if (!welcome.link) return 'other_provider'
  return holder.active ? undefined : 'inactive'
}
