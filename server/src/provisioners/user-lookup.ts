import { emailKey } from '../kernel/email-address.ts'

/**
 * By what a target finds a user of ours in its directory: first by the id that the user's provider gave, then by the user name.
 * `external_id_issuer`: the issuer of these ids as the directory has it; null: it is not asked for them. `email_domain`: user names are
 * the local parts of addresses of this domain; null: they are whole addresses.
 */
export type UserLookup = { external_id_issuer: string | null; email_domain: string | null }

/**
 * The user name of an address. The same local part at another domain is another person, and has none here. Case does not matter to
 * directories.
 */
export function loginOf(email: string, { email_domain }: Pick<UserLookup, 'email_domain'>): string | undefined {
  if (email_domain === null) return email
  const at = email.lastIndexOf('@')
  return emailKey(email.slice(at)) === domainKey(email_domain) ? email.slice(0, at) : undefined
}

/** How the key of an address of the domain ends. */
export function domainKey(email_domain: string): string {
  return emailKey(`@${email_domain}`)
}
