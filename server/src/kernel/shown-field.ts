import { findCertificatesFault } from './certificates.ts'
import { isPlainLine } from './one-line-name.ts'

/** A field of a config that may be shown. A value that is not in the field's form counts as a secret. */
export type ShownField = {
  shows(value: unknown): boolean
  /** It determines where or how safely secrets are sent, so a caller that changes it must know them. */
  leads: boolean
}

/** The fields that may be shown; every other is a secret. INVARIANT: every field that determines where secrets are sent is here. */
export type ShownFields = Readonly<Record<string, ShownField>>

const maxTextLength = 500

function ifText(shows: (text: string) => boolean) {
  return (value: unknown) => typeof value === 'string' && value.length <= maxTextLength && shows(value)
}

/** Text of one line: a name, a filter, a schedule. */
export const textField: ShownField = { shows: ifText(isPlainLine), leads: false }

export const numberField: ShownField = { shows: (value) => typeof value === 'number', leads: false }

export const flagField: ShownField = { shows: (value) => typeof value === 'boolean', leads: false }

/** What a service calls an account, a customer or a program: a number, or letters, digits, dots, hyphens, underscores. */
export const idField: ShownField = {
  shows: (value) => Number.isSafeInteger(value) || (typeof value === 'string' && /^[A-Za-z0-9._-]{1,200}$/.test(value)),
  leads: false,
}

/** A host or a region: letters, digits, dots, hyphens, and the colons and brackets of IPv6. */
export const hostField: ShownField = { shows: ifText((text) => /^[A-Za-z0-9.:[\]-]+$/.test(text)), leads: true }

export const portField: ShownField = {
  shows: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535,
  leads: true,
}

/** An address without a user, a password, a query or a fragment: those carry secrets. */
export const urlField: ShownField = { shows: ifText(isBareUrl), leads: true }

/** The certificates of the authorities to trust, and nothing else: what stands beside a certificate in such a file may be its key. */
export const certificatesField: ShownField = {
  shows: (value) => findCertificatesFault(value) === undefined,
  leads: true,
}

const maxListed = 100

/** A list of such values. If one may not be shown, none is. */
export function listField(field: ShownField): ShownField {
  return { ...field, shows: (value) => Array.isArray(value) && value.length <= maxListed && value.every(field.shows) }
}

/** The same field, marked as one that determines where or how safely secrets are sent. */
export function leading(field: ShownField): ShownField {
  return { ...field, leads: true }
}

function isBareUrl(text: string): boolean {
  if (!isPlainLine(text) || /[@?#\\]/.test(text)) return false
  const url = URL.parse(text)
  return url !== null && ['http:', 'https:', 'ldap:', 'ldaps:'].includes(url.protocol)
}
