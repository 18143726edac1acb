import { notUnique, type ScimProblem } from '../../http/scim-problem.ts'
import { addressKeys, mailDomainOf, sameAddress } from '../../kernel/email-address.ts'
import { searchedName } from '../filter.ts'
import type { Person } from '../person.ts'

/** By what a person of a directory is compared with the users here. */
export type ComparedKeys = { name_key: string; email_keys: readonly string[]; mail_domain: string | null }

export function comparedKeys({ user_name, email }: Pick<Person, 'user_name' | 'email'>): ComparedKeys {
  return { name_key: searchedName(user_name), email_keys: addressKeys(email), mail_domain: mailDomainOf(email) ?? null }
}

/** A user here who has the address of a person of a directory, or one like it, or who is a user of the directory and has the user name. */
export type Holder = {
  id: string
  email: string
  /** Some directory manages the user. */
  in_directory: boolean
  /** This directory does, and has stopped them. */
  is_former: boolean
  is_named: boolean
  /**
   * The operator gave the tenant the mail domain, and the account was made for the provider by which the directory's users sign in.
   */
  is_meant: boolean
}

/**
 * Who a person is here whom the directory does not have as a user yet. `add`: nobody. `adopt`: the one user who was made for the directory.
 * `settle`: a person has to say, since an address alone proves nothing: the one user may be somebody else, or one who came back under
 * another id. `taken`: the address or the name is another user's for certain.
 */
export type Stranger = 'add' | 'adopt' | 'settle' | 'taken'

export function strangerOf(holders: readonly Holder[], email: string): Stranger {
  const [holder, ...others] = holders
  if (holder === undefined) return 'add'
  if (others.length > 0) return 'taken'
  if (holder.in_directory) return holder.is_former ? 'settle' : 'taken'
  return holder.is_meant && sameAddress(holder.email, email) ? 'adopt' : 'settle'
}

/** 409: who has what the user of a directory is to get. */
export function takenBy(holders: readonly Holder[]): ScimProblem {
  if (holders.every(({ is_former }) => is_former)) {
    return notUnique(
      'a user whom this directory has stopped has the e-mail address or the `userName`: an administrator can delete them',
    )
  }
  return notUnique(
    holders.some(({ is_named }) => is_named)
      ? 'another user of this directory has the `userName`'
      : 'another user has the e-mail address, or one like it',
  )
}
