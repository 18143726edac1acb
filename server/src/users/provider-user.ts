/** An account at a provider, as the provider vouches for it. */
export type ProviderAccount = {
  issuer: string
  subject: string
  /** Undefined when the provider sends no valid address. */
  email: string | undefined
  /** Whether the provider states explicitly that the address is verified. */
  email_verified: boolean
  name: string | undefined
}

/** What is allowed at the first sign-in of an account in a tenant. */
export type FirstSignIn = {
  /** Whether the account may be linked to the `oidc` user who has its address. */
  mayLink: boolean
  mayCreate: boolean
}

/** A user who is or was linked to the account, or who has its address. */
export type Candidate = {
  id: string
  is_account: boolean
  auth_provider: string
  linked: boolean
  active: boolean
  deleted: boolean
}

/** The user that an account signs in as: a known one, one to link or one to create; or the cause of refusal, for the audit log. */
export type AccountDecision = { user_id: string } | { link: string } | { create: { email: string } } | { cause: string }

/** Decides by the account's subject. At the first sign-in it decides by the address, as far as `first` allows. */
export function decideAccount(
  candidates: readonly Candidate[],
  account: Pick<ProviderAccount, 'email' | 'email_verified'>,
  first: FirstSignIn,
): AccountDecision {
  const living = candidates.filter((user) => !user.deleted)
  const known = living.find((user) => user.is_account)
  if (known !== undefined) return known.active ? { user_id: known.id } : { cause: 'inactive' }
  const { email } = account
  if (email === undefined) return { cause: 'no_address' }
  const [holder] = living
  if (holder !== undefined) {
    const cause = linkFault(holder, account, first)
    return cause === undefined ? { link: holder.id } : { cause }
  }
  // A deleted user returns only when an administrator creates them again, not by signing in again.
  const mayCreate = first.mayCreate && candidates.length === 0
  return mayCreate ? { create: { email } } : { cause: 'unknown_user' }
}

/** Why the account may not be linked to the user who has its address; undefined when it may. */
function linkFault(
  holder: Candidate,
  account: Pick<ProviderAccount, 'email_verified'>,
  first: FirstSignIn,
): string | undefined {
  // INVARIANT: a matching address never links a local user, or a user who already has an account.
  if (holder.auth_provider !== 'oidc' || holder.linked) return 'address_taken'
  if (!account.email_verified) return 'address_not_verified'
  if (!first.mayLink) return 'other_provider'
  return holder.active ? undefined : 'inactive'
}
