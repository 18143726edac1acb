import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** The maximum number of domains of a tenant. */
export const maxMailDomains = 100

const maxDomainLength = 253
const dnsForm = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/**
 * A domain in DNS form: lower case, other scripts encoded. Undefined for anything else, such as an address, a single label
 * or a wildcard. A domain does not include its subdomains.
 */
export function readMailDomain(text: string): string | undefined {
  // Refuse characters that URL parsing would decode or drop.
  if (!/^[\p{L}\p{M}\p{Nd}.-]+$/u.test(text)) return undefined
  const domain = domainToASCII(text)
  return domain.length <= maxDomainLength && dnsForm.test(domain) && isIP(domain) === 0 ? domain : undefined
}

/** The domain of an address, in the same form. */
export function mailDomainOf(address: string): string | undefined {
  return readMailDomain(address.slice(address.lastIndexOf('@') + 1))
}
