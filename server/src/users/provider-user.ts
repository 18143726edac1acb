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

/** What the first sign-in of an account may do in a tenant. */
export type FirstSignIn = {
  /** Link the account to the user who was made for a provider with its address. */
  mayLink: boolean
  mayCreate: boolean
}

/** A user who is or was the account, or who has its address. */
export type Candidate = {
  id: string
  is_account: boolean
  auth_provider: string
  linked: boolean
  active: boolean
  deleted: boolean
}

/** Whom an account signs in as: a user it is known as, one to link or to create; or why nobody, for the audit log. */
export type AccountDecision = { user_id: string } | { link: string } | { create: { email: string } } | { cause: string }

/** Decides by the account's subject; at its first sign-in by its address, as far as that sign-in may. */
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
  // A deleted user comes back when somebody creates them again, not by signing in once more.
  const mayCreate = first.mayCreate && candidates.length === 0
  return mayCreate ? { create: { email } } : { cause: 'unknown_user' }
}

/** Why the account may not be linked to the user who has its address; undefined where it may. */
function linkFault(
  holder: Candidate,
  account: Pick<ProviderAccount, 'email_verified'>,
  first: FirstSignIn,
): string | undefined {
  // INVARIANT: a local user, or one who has an account already, is never handed over for the sake of an address.
  if (holder.auth_provider !== 'oidc' || holder.linked) return 'address_taken'
  if (!account.email_verified) return 'address_not_verified'
  if (!first.mayLink) return 'other_provider'
  return holder.active ? undefined : 'inactive'
}
