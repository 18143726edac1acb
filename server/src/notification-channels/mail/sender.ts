import { mailDomainOf } from '../../tenants/mail-domain.ts'

/** Whoever reads a mail sees who sent it; a name of the tenant's choosing could be anybody's. */
export const senderName = 'Sallyport'

/** The domain of the installation's own sender, for what a mail server and a reader's program are told of it. */
export function ownDomain(mailFrom: string): string {
  return mailDomainOf(mailFrom) ?? 'localhost'
}

/** From whom a mail comes, and to whom an answer to it goes where that is another. */
export type Sender = { from: string; reply_to: string | undefined }

/**
 * The address that the tenant wants, where its mail may come from there: one mail server speaks for all tenants, so that
 * without the operator's word any of them could write in the name of any other. Otherwise the installation's own.
 */
export function senderOf(wanted: string | undefined, allowed: readonly string[], ours: string): Sender {
  if (wanted === undefined || wanted === ours) return { from: ours, reply_to: undefined }
  const domain = mailDomainOf(wanted)
  const may = domain !== undefined && allowed.includes(domain)
  return may ? { from: wanted, reply_to: undefined } : { from: ours, reply_to: wanted }
}
