import { mailDomainOf } from '../kernel/email-address.ts'

/** The sender's name in every mail. A tenant cannot choose it, since the tenant could pose as anyone. */
export const senderName = 'Sallyport'

/** The domain of the installation's own sender, for the SMTP greeting and the mail's headers. */
export function ownDomain(mailFrom: string): string {
  return mailDomainOf(mailFrom) ?? 'localhost'
}

/** The sender of a mail, and the address for replies when it differs. */
export type Sender = { from: string; reply_to: string | undefined }

/**
 * The address that the tenant wants, when the operator has allowed its domain; otherwise the installation's own. One mail
 * server sends for all tenants, so without this check a tenant could write in the name of another.
 */
export function senderOf(wanted: string | undefined, allowed: readonly string[], ours: string): Sender {
  if (wanted === undefined || wanted === ours) return { from: ours, reply_to: undefined }
  return maySendFrom(wanted, allowed) ? { from: wanted, reply_to: undefined } : { from: ours, reply_to: wanted }
}

/** Whether the operator has allowed the domain of this address. */
export function maySendFrom(address: string, allowed: readonly string[]): boolean {
  const domain = mailDomainOf(address)
  return domain !== undefined && allowed.includes(domain)
}
