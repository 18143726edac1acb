import { type Static, Type } from 'typebox'
import { DateTime } from '../http/schema.ts'
import { readEmail } from '../kernel/email-address.ts'
import { Problem } from '../kernel/errors.ts'
import { readZone } from '../kernel/time-zone.ts'

/** Reads a setting's text; undefined when it is not of the form. `allowed` says the form in words, for the caller. */
type Form<Value> = { allowed: string; read(text: string): Value | undefined }

function wholeNumber(smallest: number, largest: number): Form<number> {
  return {
    allowed: `a whole number from ${smallest} to ${largest}`,
    read(text) {
      const number = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN
      return number >= smallest && number <= largest ? number : undefined
    },
  }
}

/** Zero for never, or a whole number. */
function wholeNumberOrNever(smallest: number, largest: number): Form<number> {
  const number = wholeNumber(smallest, largest)
  return { allowed: `0 for never, or ${number.allowed}`, read: (text) => (text === '0' ? 0 : number.read(text)) }
}

const yesOrNo: Form<boolean> = {
  allowed: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** One address and nothing else: no display name, no list, nothing a mail header could be split by. */
const addressOrNone: Form<string> = {
  allowed: 'a single e-mail address, or empty for the address of the service',
  read: (text) => (text === '' ? text : readEmail(text)),
}

const languageTag: Form<string> = {
  allowed: 'a language tag as in BCP 47, such as `en` or `pt-BR`',
  read: (text) => (succeeds(() => Intl.getCanonicalLocales(text)) ? text : undefined),
}

const zoneName: Form<string> = {
  allowed: 'the name of a time zone as IANA has it, such as `UTC` or `Europe/Berlin`',
  read: readZone,
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

function setting<Value>(form: Form<Value>, byDefault: string, means: string) {
  return { form, default: byDefault, means }
}

/** Every setting that a tenant may change: its form, its default as text, and what it means. The one table. */
export const settingTable = {
  'auth.password_min_length': setting(wholeNumber(8, 128), '8', 'the shortest password a local user may choose'),
  'locale.default': setting(languageTag, 'en', 'the language of whoever has chosen none'),
  'notifications.expiring_seconds': setting(
    wholeNumber(60, 86_400),
    '900',
    'how long before the end of access its holder is told',
  ),
  'notifications.from_address': setting(addressOrNone, '', 'the sender of mail, where a channel names none'),
  'notifications.reminder_seconds': setting(
    wholeNumberOrNever(60, 604_800),
    '3600',
    'how long a request waits before those who may decide it are reminded; then after twice as long, and so on',
  ),
  'requests.default_duration_seconds': setting(
    wholeNumber(60, 1_209_600),
    '3600',
    'how long access lasts when a request does not say; never more than the longest',
  ),
  'requests.max_duration_seconds': setting(wholeNumber(60, 1_209_600), '43200', 'the longest access one may ask for'),
  'requests.pending_ttl_seconds': setting(
    wholeNumber(60, 2_592_000),
    '86400',
    'how long a request waits for a decision before it expires',
  ),
  'requests.require_reason': setting(yesOrNo, 'false', 'whether every request must give a reason'),
  'timezone.default': setting(zoneName, 'UTC', 'the time zone of the tenant: what policy calls its day'),
} as const

export type SettingKey = keyof typeof settingTable

/** A tenant's settings as they are in force: what was set, else the default. Durations are seconds. */
export type Settings = {
  readonly [Key in SettingKey]: (typeof settingTable)[Key]['form'] extends Form<infer Value> ? Value : never
}

/** A setting as it is answered: its text. `updated_at` is left out where the default stands. */
export const Setting = Type.Object(
  {
    key: Type.String(),
    value: Type.String(),
    updated_at: Type.Optional(DateTime),
  },
  { title: 'Setting' },
)
export type Setting = Static<typeof Setting>

/** Every key, in alphabetical order. */
export const settingKeys = (Object.keys(settingTable) as SettingKey[]).sort()

/** The longest value any form takes, with room to spare: no more is kept or looked at. */
const maxValueLength = 500

/**
 * The settings of the stored texts: the default for a key that was never set, and for a stored text that this version no
 * longer takes.
 */
export function readSettingValues(stored: Readonly<Record<string, string>>): Settings {
  return Object.fromEntries(settingKeys.map((key) => [key, readValue(key, stored)])) as Settings
}

function readValue(key: SettingKey, stored: Readonly<Record<string, string>>): unknown {
  const { form, default: byDefault } = settingTable[key]
  const text = Object.hasOwn(stored, key) ? stored[key] : undefined
  return (text === undefined ? undefined : form.read(text)) ?? form.read(byDefault)
}

/**
 * The key, if it is one.
 * @throws Problem 400 for any other text, `ai-provider-default` too: it is no setting of this kind.
 */
export function requireSettingKey(text: string): SettingKey {
  if (Object.hasOwn(settingTable, text)) return text as SettingKey
  throw refused('setting_key', `is \`${shortened(text)}\`, which is no setting`, settingKeys)
}

/** @throws Problem 400 where the text is not of the key's form; `details.allowed` says it. */
export function requireSettingValue(key: SettingKey, text: string): void {
  const { form } = settingTable[key]
  if (text.length <= maxValueLength && form.read(text) !== undefined) return
  throw refused('/value', `is \`${shortened(text)}\`; \`${key}\` takes ${form.allowed}`, form.allowed)
}

function refused(pointer: string, why: string, allowed: string | readonly string[]): Problem {
  return new Problem('invalid_input', `\`${pointer}\` ${why}`, { details: { fields: [{ pointer, why }], allowed } })
}

function shortened(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}…`
}
