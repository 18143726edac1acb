import { type Static, Type } from 'typebox'
import { DateTime, Documented } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { readEmail } from '../kernel/email-address.ts'
import { Problem } from '../kernel/errors.ts'
import { requireFreshSignIn } from '../kernel/fresh-sign-in.ts'
import { readZone } from '../kernel/time-zone.ts'
import { requireEveryScope } from '../permissions/permission.ts'

/** Reads a setting's text; undefined when it is invalid. `allowed` describes the form to the caller. */
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

/** Zero, which means never, or a whole number. */
function wholeNumberOrNever(smallest: number, largest: number): Form<number> {
  const number = wholeNumber(smallest, largest)
  return { allowed: `0 for never, or ${number.allowed}`, read: (text) => (text === '0' ? 0 : number.read(text)) }
}

const yesOrNo: Form<boolean> = {
  allowed: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** One bare address: no display name, no list, nothing that could split a mail header. */
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

/** The one table of all settings that a tenant may change: form, default as text, and meaning. */
export const settingTable = {
  'auth.allow_unverified_email': setting(
    yesOrNo,
    'false',
    'whether an account of a provider whose address is not verified becomes a user, without roles, at its first sign-in',
  ),
  'auth.claimed_groups_seconds': setting(
    wholeNumber(300, 604_800),
    '86400',
    'how long groups that a claim gave count after the last sign-in, for tokens and API keys',
  ),
  'auth.password_min_length': setting(
    wholeNumber(8, 128),
    '15',
    'the minimum length of a local user’s password; by default 8 is enough for a user with a second factor',
  ),
  'auth.refresh_idle_seconds': setting(
    wholeNumber(300, 604_800),
    '259200',
    'how long a program may leave its session unused; for sessions that begin after a change',
  ),
  'auth.refresh_max_seconds': setting(
    wholeNumber(300, 604_800),
    '604800',
    'how long a program stays signed in at most, with refresh tokens; for sessions that begin after a change',
  ),
  'auth.second_factor_required': setting(
    yesOrNo,
    'true',
    'whether local users with the role `admin` or `approver` need a second factor, once the tenant is live',
  ),
  'auth.session_idle_seconds': setting(
    wholeNumber(300, 604_800),
    '14400',
    'how long a browser may leave its session unused; for sessions that begin after a change',
  ),
  'auth.session_max_seconds': setting(
    wholeNumber(300, 604_800),
    '43200',
    'how long a browser stays signed in at most; for sessions that begin after a change',
  ),
  'locale.default': setting(languageTag, 'en', 'the language of users who have chosen none'),
  'notifications.expiring_seconds': setting(
    wholeNumber(60, 86_400),
    '900',
    'how long before access ends its holder is first notified; they are once more five minutes before',
  ),
  'notifications.from_address': setting(addressOrNone, '', 'the sender of mail when a channel names none'),
  'notifications.reminder_seconds': setting(
    wholeNumberOrNever(60, 604_800),
    '600',
    'how long a request waits before its approvers are first reminded; the second reminder comes after twice as long, at least ' +
      'an hour, the third and last after twice as long again',
  ),
  'policies.trust_named_accounts': setting(
    yesOrNo,
    'false',
    'whether rules believe the account that a request names for a bucket or an instance also where nothing confirms it',
  ),
  'orphans.second_look_seconds': setting(
    wholeNumber(0, 86_400),
    '300',
    'how long after a sweep first saw access that a restore or a failover lost, a sweep that sees it again ends it',
  ),
  'requests.default_duration_seconds': setting(
    wholeNumber(60, 1_209_600),
    '3600',
    'how long access lasts when a request names no duration; at most `requests.max_duration_seconds`',
  ),
  'requests.max_duration_seconds': setting(
    wholeNumber(60, 1_209_600),
    '28800',
    'the maximum duration of requested access',
  ),
  'requests.pending_ttl_seconds': setting(
    wholeNumber(60, 2_592_000),
    '28800',
    'how long a request waits for a decision before it expires',
  ),
  'requests.require_reason': setting(yesOrNo, 'true', 'whether every request must give a reason'),
  'timezone.default': setting(
    zoneName,
    'UTC',
    'the time zone of the tenant, by which policies count days; set to that of the first owner’s browser by the setup link',
  ),
} as const

export type SettingKey = keyof typeof settingTable

/** A tenant's effective settings: the set value, else the default. Durations are in seconds. */
export type Settings = {
  readonly [Key in SettingKey]: (typeof settingTable)[Key]['form'] extends Form<infer Value> ? Value : never
}

/** A setting as returned by the API: its text. `updated_at` is omitted for a default. */
export const Setting = Type.Object(
  {
    key: Type.String(),
    value: Type.String(),
    updated_at: Type.Optional(DateTime),
  },
  { title: 'Setting' },
)
export type Setting = Static<typeof Setting>

/** The effective setting: the tenant's, or the default. */
export function inForce(key: SettingKey, stored: Setting | undefined): Setting {
  return stored ?? { key, value: settingTable[key].default }
}

/** Every key, in alphabetical order. */
export const settingKeys = (Object.keys(settingTable) as SettingKey[]).sort()

/** Longer than any valid value. A longer text is refused unread. */
export const maxValueLength = 500

/** `{setting_key}` of a path. */
export const SettingParams = Type.Object({
  setting_key: Documented(Type.String({ description: 'a key from the list of settings' }), { enum: settingKeys }),
})

/**
 * Reads the settings from the stored texts, with the default for a key that was never set and for a stored text that this
 * version no longer accepts.
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
 * Returns the text as a setting's key.
 * @throws Problem 400 for any other text, including `ai-provider-default`, which is not a setting of this kind.
 */
export function requireSettingKey(text: string): SettingKey {
  if (Object.hasOwn(settingTable, text)) return text as SettingKey
  throw refused('setting_key', `is \`${shortened(text)}\`, which is not a setting`, settingKeys)
}

/** @throws Problem 400 when the text is invalid for the key; `details.allowed` describes the form. */
export function requireSettingValue(key: SettingKey, text: string): void {
  const { form } = settingTable[key]
  if (text.length <= maxValueLength && form.read(text) !== undefined) return
  throw refused('/value', `is \`${shortened(text)}\`; \`${key}\` takes ${form.allowed}`, form.allowed)
}

/** Whether rules decide by this setting: it is part of the version of the rules. They read weekday and minute in the tenant's zone. */
export function isOfRules(key: SettingKey): boolean {
  return key.startsWith('policies.') || key === 'timezone.default'
}

/**
 * INVARIANT: a setting of how users sign in (`auth.…`) is not for a caller who may only write settings: a caller who weakens it could
 * become another user. In a live tenant it needs a fresh sign-in. Nor is a setting by which rules decide (`policies.…`, the time zone): that
 * needs the right to change rules.
 * @throws Problem 403
 */
export function requireMaySet(key: SettingKey, caller: Pick<Ctx, 'actor' | 'session' | 'now'>): void {
  if (isOfRules(key) && !caller.actor.scopes.has('policies:write')) {
    throw new Problem('forbidden', `rules decide by \`${key}\`, so setting it needs the scope \`policies:write\` too`)
  }
  if (!key.startsWith('auth.')) return
  requireEveryScope(caller.actor.scopes, `\`${key}\` decides how users sign in`)
  requireFreshSignIn(caller)
}

function refused(pointer: string, why: string, allowed: string | readonly string[]): Problem {
  return new Problem('invalid_input', `\`${pointer}\` ${why}`, { details: { fields: [{ pointer, why }], allowed } })
}

function shortened(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}…`
}

/** The minimum length of a password beside a second factor, where the tenant has set none. */
const lengthWithFactor = 8

/** The minimum length of a user's password: what the tenant has set, else 15 alone and 8 beside a second factor. */
export function passwordMinLength(
  stored: Readonly<Record<string, string>>,
  { hasFactor }: { hasFactor: boolean },
): number {
  const isSet = stored['auth.password_min_length'] !== undefined
  return !isSet && hasFactor ? lengthWithFactor : readSettingValues(stored)['auth.password_min_length']
}
