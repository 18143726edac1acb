import { type Static, Type } from 'typebox'
import { Body, Documented, Nullable, OneOf } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'

const dateFormats = ['YYYY-MM-DD', 'MM/DD/YYYY', 'DD/MM/YYYY'] as const
const timeFormats = ['12h', '24h'] as const

const fields = {
  locale: Nullable(Type.String({ description: 'a language tag as in BCP 47; null: the tenant’s' })),
  timezone: Nullable(Type.String({ description: 'an IANA name; null: what the client itself detects' })),
  date_format: Nullable(OneOf(dateFormats, { description: 'null: the locale’s format' })),
  time_format: Nullable(OneOf(timeFormats, { description: 'null: the locale’s format' })),
}

/** A user's display preferences; null for an unset one. */
export const Preferences = Type.Object(fields, { title: 'Preferences' })
export type Preferences = Static<typeof Preferences>

const maxTagLength = 100

/** Zone names are words separated by slashes. The platform also accepts `+01:00`, which is an offset and not a zone. */
const zoneForm = /^[A-Za-z][A-Za-z0-9_+-]{0,31}(?:\/[A-Za-z0-9_+-]{1,32}){0,2}$/

/** The body of endpoint 14: null clears a field, an omitted field stays as it is. */
export const PreferencesInput = Body({
  locale: Type.Optional(Documented(fields.locale, { maxLength: maxTagLength })),
  timezone: Type.Optional(Documented(fields.timezone, { pattern: zoneForm.source })),
  date_format: Type.Optional(fields.date_format),
  time_format: Type.Optional(fields.time_format),
})
export type PreferencesInput = Static<typeof PreferencesInput>

/** The time zone of a person who joins, in a body. */
export const OwnTimeZone = Type.Optional(
  Type.String({ maxLength: 100, description: 'an IANA name; what the client detects when absent' }),
)

/** Null when absent. @throws Problem 400 */
export function readOwnTimeZone(timezone: string | undefined): string | null {
  return readPreferencesChange(timezone === undefined ? {} : { timezone }).timezone ?? null
}

/**
 * Reads a change of preferences. A language tag is stored in its canonical spelling.
 * @throws Problem 400 naming each field that is not a language or not a time zone
 */
export function readPreferencesChange({ locale, timezone, ...formats }: PreferencesInput): Partial<Preferences> {
  const read = {
    ...(locale !== undefined && { locale: locale === null ? null : readLocale(locale) }),
    ...(timezone !== undefined && { timezone: timezone === null ? null : readTimeZone(timezone) }),
  }
  const faults: FaultyField[] = []
  if ('locale' in read && read.locale === undefined) {
    faults.push({ pointer: '/locale', why: 'must be a language tag as in BCP 47, such as `en` or `pt-BR`' })
  }
  if ('timezone' in read && read.timezone === undefined) {
    faults.push({ pointer: '/timezone', why: 'must be a time zone as IANA names it, such as `UTC` or `Europe/Berlin`' })
  }
  if (faults.length > 0) throw invalidInput(faults)
  return { ...formats, ...read } as Partial<Preferences>
}

/** The canonical spelling; undefined for a text that is not a tag of a language that the platform knows. */
export function readLocale(text: string): string | undefined {
  if (text.length > maxTagLength) return undefined
  // The form alone would let `english` and `not-a-locale` pass.
  return attempt(() => Intl.DateTimeFormat.supportedLocalesOf(text)[0])
}

/**
 * The zone's name, checked against the platform's list. Old names and `UTC` are valid and stay as given, since the platform
 * would turn `Asia/Kolkata` into `Asia/Calcutta`. Only the case of letters is corrected. Undefined for an unknown zone.
 */
export function readTimeZone(text: string): string | undefined {
  if (!zoneForm.test(text)) return undefined
  const known = attempt(() => new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone)
  return known?.toLowerCase() === text.toLowerCase() ? known : known && text
}

/** Undefined when Intl throws a RangeError, as it does for an unknown value. */
function attempt(read: () => string | undefined): string | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
