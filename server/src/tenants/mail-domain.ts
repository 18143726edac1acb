import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** How many domains a tenant may have. */
export const maxMailDomains = 100

const maxDomainLength = 253
const dnsForm = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/**
 * A domain as DNS has it: lower case, other scripts encoded. Undefined for what is none: an address, a single label, a
 * wildcard. It stands for itself alone, for no domain below it.
 */
export function readMailDomain(text: string): string | undefined {
  // What a URL would decode or drop is no part of a name.
  if (!/^[\p{L}\p{M}\p{Nd}.-]+$/u.test(text)) return undefined
  const domain = domainToASCII(text)
  return domain.length <= maxDomainLength && dnsForm.test(domain) && isIP(domain) === 0 ? domain : undefined
}

/** The domain of an address, in the same form. */
export function mailDomainOf(address: string): string | undefined {
  return readMailDomain(address.slice(address.lastIndexOf('@') + 1))
}
