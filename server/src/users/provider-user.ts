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
  /** Whether the tenant's provider names the directory that has its people: then nobody else begins. */
  by_directory: boolean
}

/** A user who is or was linked to the account, or who has its address or one like it. */
export type Candidate = {
  id: string
  is_account: boolean
  auth_provider: string
  email: string
  linked: boolean
  /** A directory manages the user. */
  in_directory: boolean
  /** The directory of the tenant's provider knows them by the account's subject. */
  is_known_there: boolean
  active: boolean
  suspended: boolean
  deleted: boolean
}

/** The user that an account signs in as: a known one, one to link or one to create; or the cause of refusal, for the audit log. */
export type AccountDecision =
  /** `verifies`: the provider vouches for the address that the user has. */
  | { user_id: string; verifies: boolean }
  | { link: string; verifies: boolean; by_directory: boolean }
  | { create: { email: string } }
  | { cause: string }

/** Decides by the account's subject. At the first sign-in it decides by the address, as far as `first` allows. */
export function decideAccount(candidates: readonly Candidate[], account: Account, first: FirstSignIn): AccountDecision {
  const living = candidates.filter((user) => !user.deleted)
  const known = living.find((user) => user.is_account)
  if (known !== undefined) {
    const cause = inactiveCause(known)
    return cause === undefined ? { user_id: known.id, verifies: vouchesFor(account, known) } : { cause }
  }
  const entered = living.find((user) => user.is_known_there)
  if (entered !== undefined) {
    const cause = entryFault(entered) ?? inactiveCause(entered)
    return cause === undefined
      ? { link: entered.id, verifies: vouchesFor(account, entered), by_directory: true }
      : { cause }
  }
  if (first.by_directory) return { cause: 'not_in_directory' }
  return decideByAddress(candidates, living, account, first)
}

type Account = Pick<ProviderAccount, 'email' | 'email_verified'>

function vouchesFor({ email, email_verified }: Account, user: Candidate): boolean {
  return email_verified && email !== undefined && sameAddress(user.email, email)
}

function decideByAddress(
  candidates: readonly Candidate[],
  living: readonly Candidate[],
  { email, email_verified }: Account,
  first: FirstSignIn,
): AccountDecision {
  if (email === undefined) return { cause: 'no_address' }
  const exact = living.filter((user) => sameAddress(user.email, email))
  const [holder] = exact.length > 0 ? exact : living
  if (holder !== undefined) {
    const cause = exact.length > 1 ? 'address_taken' : linkFault(holder, email_verified, first)
    if (cause !== undefined) return { cause }
    return exact.length === 1 ? { link: holder.id, verifies: true, by_directory: false } : { cause: 'address_similar' }
  }
  if (!first.mayBegin) return { cause: 'other_provider' }
  // A deleted user returns only when an administrator creates them again, not by signing in again.
  if (first.create === 'never' || candidates.length > 0) return { cause: 'unknown_user' }
  return first.create === 'any' || email_verified ? { create: { email } } : { cause: 'address_not_verified' }
}

/** Why a user whom the directory knows by the account's subject cannot sign in by it; undefined if they can. */
function entryFault({ auth_provider, linked }: Candidate): string | undefined {
  return auth_provider !== 'oidc' || linked ? 'directory_user_linked' : undefined
}

/** Why no account may be linked to the user who has its address or one like it; undefined when an exact one may. */
function linkFault(holder: Candidate, email_verified: boolean, first: FirstSignIn): string | undefined {
  // INVARIANT: an address never links a local user, or a user who already has an account.
  if (holder.auth_provider !== 'oidc' || holder.linked) return 'address_taken'
  // INVARIANT: nor a user of a directory, which knows them by an id.
  if (holder.in_directory) return 'directory_user'
  if (!email_verified) return 'address_not_verified'
  if (!first.mayBegin) return 'other_provider'
  return inactiveCause(holder)
}
