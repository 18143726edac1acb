import { domainToASCII, domainToUnicode } from 'node:url'

// A dot-atom and a host of at least two labels, in the letters, marks and digits of any script. No quoted parts, comments,
// display names or lists, nothing that a mail header could be split by; no `=?` before the host either, since some readers
// of mail decode an encoded word even inside an address and then see another one.
const atom = String.raw`[\p{L}\p{M}\p{Nd}!#$%&'*+/=?^_\x60{|}~-]+`
const label = String.raw`[\p{L}\p{M}\p{Nd}](?:[\p{L}\p{M}\p{Nd}-]{0,61}[\p{L}\p{M}\p{Nd}])?`
const emailForm = new RegExp(
  String.raw`^(?=[^@]{1,64}@)(?![^@]*=\?)${atom}(?:\.${atom})*@(?:${label}\.)+${label}$`,
  'u',
)
/** Letters and marks that nobody sees: an address with one would look like another address. */
const invisible = /\p{Default_Ignorable_Code_Point}/u
const maxEmailLength = 254

/** The fault of a text that `readEmail` refuses, as a half-sentence. */
export const emailFault = 'must be one e-mail address and nothing else'

/** The address as it is stored (NFC), or undefined if the text is not exactly one e-mail address. */
export function readEmail(text: string): string | undefined {
  if (text.length > maxEmailLength || invisible.test(text)) return undefined
  const email = text.normalize('NFC')
  return emailForm.test(email) && emailForm.test(emailKey(email)) && spellsItsDomain(email) ? email : undefined
}

/**
 * Whether the domain is written as DNS has it, or as people read that. Other spellings of a domain (characters that DNS drops, half
 * of it encoded) would be further addresses of the same mailbox.
 */
function spellsItsDomain(email: string): boolean {
  const written = email.slice(email.lastIndexOf('@') + 1)
  const domain = readMailDomain(written)
  return domain !== undefined && [domain, domainToUnicode(domain)].includes(written.toLowerCase())
}

/**
 * The address as it is compared: NFKC, and folded by way of upper case, so that `ß` equals `ss`, and a dotless or a dotted `i`
 * equals `i`. A tenant has at most one user for each key. A key proves nothing about the person: see `sameAddress`.
 */
export function emailKey(email: string): string {
  // Twice: `ẞ` becomes `ß` first, and that `ss`.
  const folded = email.normalize('NFKC').toUpperCase().toLowerCase().toUpperCase().toLowerCase()
  return folded.replaceAll('i\u0307', 'i').normalize('NFKC')
}

const maxDomainLength = 253
const dnsForm = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/**
 * A domain in DNS form: lower case, other scripts encoded (A-labels). Undefined for anything else, such as an IP address, a
 * single label or a wildcard. A domain does not include its subdomains.
 */
export function readMailDomain(text: string): string | undefined {
  // Refuse characters that URL parsing would decode or drop.
  if (!/^[\p{L}\p{M}\p{Nd}.-]+$/u.test(text)) return undefined
  const domain = domainToASCII(text)
  return domain.length <= maxDomainLength && dnsForm.test(domain) ? domain : undefined
}

/** An address that no mail reaches: RFC 2606 reserves the domain `.invalid`. */
export function unreachableEmail(local_part: string, host: string): string {
  return `${local_part}@${host}.invalid`
}

/** Whether no mail reaches an address: a mail server could only bounce the mail, or give it to a server that answers for unknown domains. */
export function isUnreachable(address: string): boolean {
  return /[@.]invalid\.?$/i.test(address)
}

/** The domain of an address, in DNS form. */
export function mailDomainOf(address: string): string | undefined {
  return readMailDomain(address.slice(address.lastIndexOf('@') + 1))
}

/**
 * Whether both addresses lead to one mailbox for certain: the same text before the `@` (NFC, ASCII letters in lower case) and the
 * same domain in DNS. Unlike `emailKey` it never takes `ß` for `ss` or a dotless `i` for `i`: those are other people’s addresses.
 */
export function sameAddress(one: string, other: string): boolean {
  const exact = exactAddress(one)
  return exact !== undefined && exact === exactAddress(other)
}

function exactAddress(email: string): string | undefined {
  const domain = mailDomainOf(email)
  return domain && `${localPart(email).replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}@${domain}`
}

function localPart(email: string): string {
  return email.slice(0, email.lastIndexOf('@')).normalize('NFC')
}

/** The keys under which the same address may be stored: its domain may be written in its own script or in A-labels. */
export function addressKeys(email: string): string[] {
  const domain = mailDomainOf(email)
  const spellings = domain === undefined ? [] : [domain, domainToUnicode(domain)]
  return [...new Set([email, ...spellings.map((spelling) => `${localPart(email)}@${spelling}`)].map(emailKey))]
}
