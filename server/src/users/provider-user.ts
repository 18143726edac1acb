import { sameAddress } from '../kernel/email-address.ts'
import { inactiveCause } from './user.ts'

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
  /** Whether the account may become a user at all, by a link or as a new one: not while the tenant has another provider. */
  mayBegin: boolean
  /** Whether a user is created for the account: never, or of which addresses. */
  create: 'never' | 'verified' | 'any'
}

/** A user who is or was linked to the account, or who has its address or one like it. */
export type Candidate = {
  id: string
  is_account: boolean
  auth_provider: string
  email: string
  linked: boolean
  active: boolean
  suspended: boolean
  deleted: boolean
}

/** The user that an account signs in as: a known one, one to link or one to create; or the cause of refusal, for the audit log. */
export type AccountDecision =
  /** `verifies`: the provider vouches for the address that the user has. */
  { user_id: string; verifies: boolean } | { link: string } | { create: { email: string } } | { cause: string }

/** Decides by the account's subject. At the first sign-in it decides by the address, as far as `first` allows. */
export function decideAccount(
  candidates: readonly Candidate[],
  account: Pick<ProviderAccount, 'email' | 'email_verified'>,
  first: FirstSignIn,
): AccountDecision {
  const living = candidates.filter((user) => !user.deleted)
  const known = living.find((user) => user.is_account)
  const { email, email_verified } = account
  if (known !== undefined) {
    const cause = inactiveCause(known)
    const verifies = email_verified && email !== undefined && sameAddress(known.email, email)
    return cause === undefined ? { user_id: known.id, verifies } : { cause }
  }
  if (email === undefined) return { cause: 'no_address' }
  const exact = living.filter((user) => sameAddress(user.email, email))
  const [holder] = exact.length > 0 ? exact : living
  if (holder !== undefined) {
    const cause = exact.length > 1 ? 'address_taken' : linkFault(holder, email_verified, first)
    if (cause !== undefined) return { cause }
    return exact.length === 1 ? { link: holder.id } : { cause: 'address_similar' }
  }
  if (!first.mayBegin) return { cause: 'other_provider' }
  // A deleted user returns only when an administrator creates them again, not by signing in again.
  if (first.create === 'never' || candidates.length > 0) return { cause: 'unknown_user' }
  return first.create === 'any' || email_verified ? { create: { email } } : { cause: 'address_not_verified' }
}

/** Why no account may be linked to the user who has its address or one like it; undefined when an exact one may. */
function linkFault(holder: Candidate, email_verified: boolean, first: FirstSignIn): string | undefined {
  // INVARIANT: an address never links a local user, or a user who already has an account.
  if (holder.auth_provider !== 'oidc' || holder.linked) return 'address_taken'
  if (!email_verified) return 'address_not_verified'
  if (!first.mayBegin) return 'other_provider'
  return inactiveCause(holder)
}
