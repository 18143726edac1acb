import { isIPv6 } from 'node:net'
import { findCertificatesFault } from '../../kernel/certificates.ts'
import type { Egress } from '../../kernel/context.ts'
import { emailKey, readEmail } from '../../kernel/email-address.ts'
import type { FaultyField } from '../../kernel/errors.ts'
import {
  certificatesField,
  flagField,
  hostField,
  leading,
  portField,
  type ShownField,
  type ShownFields,
  textField,
} from '../../kernel/shown-field.ts'
import type { Config } from '../driver.ts'

/** The sources of a person's login. */
const loginSources = ['email', 'local_part', 'list'] as const

/** A valid config, as the driver uses it. */
export type Settings = {
  host: string
  port: number
  database: string
  user: string
  password: string
  tls: 'verify' | 'off'
  /** PEM certificates to trust in place of the system's. */
  ca: string | undefined
  /** The ids of the resources that stand for this server. */
  resourceIds: ReadonlySet<string>
  /** The role of each action. */
  roles: ReadonlyMap<string, string>
  loginFrom: (typeof loginSources)[number]
  emailDomain: string
  /** By the key of the e-mail address. */
  logins: ReadonlyMap<string, string>
  /** Whether Sallyport enables and disables the logins. */
  managesLogins: boolean
  /** Whether each grant gets a login of its own, which Sallyport makes and drops. */
  makesLogins: boolean
}

const defaultPort = 5432
const maxNameLength = 63
const maxEntries = 500
const maxTextLength = 500

/** Whether PostgreSQL accepts the name unchanged: it truncates longer names without an error. */
export function fitsName(text: string): boolean {
  return text !== '' && !text.includes('\0') && Buffer.byteLength(text) <= maxNameLength
}

export const shownFields: ShownFields = {
  host: hostField,
  port: portField,
  database: textField,
  user: textField,
  tls: leading(textField),
  ca: certificatesField,
  resource_ids: shownIf((value) => Array.isArray(value) && value.every(textField.shows)),
  roles: shownIf(isShownTable),
  login_from: textField,
  email_domain: textField,
  logins: shownIf(isShownTable),
  manages_logins: flagField,
  makes_logins: flagField,
}

/** The fields that identify an entitlement and its removal: one role cannot revoke the grants of another. */
export const targetFields = ['host', 'port', 'user', 'manages_logins', 'makes_logins'] as const

function shownIf(shows: ShownField['shows']): ShownField {
  return { shows, leads: false }
}

function isShownTable(value: unknown): boolean {
  return isTable(value) && Object.entries(value).every((entry) => entry.every(textField.shows))
}

/** What is wrong with a value; undefined: nothing. */
type FindFault = (value: unknown) => string | undefined

const rules: Readonly<Record<string, { needed: boolean; findFault: FindFault }>> = {
  host: needed((value) => unless(hostField.shows(value), 'must be the name or the address of the server')),
  port: optional((value) => unless(portField.shows(value), 'must be a port: 1 to 65535')),
  database: needed(findNameFault),
  user: needed(findNameFault),
  password: needed((value) => unless(isText(value) && !value.includes('\0'), 'must be a non-empty text')),
  tls: optional((value) => unless(value === 'verify' || value === 'off', 'must be `verify` or `off`')),
  ca: optional(findCertificatesFault),
  resource_ids: needed((value) =>
    unless(
      Array.isArray(value) && value.length > 0 && value.length <= maxEntries && value.every(isText),
      `must list the ids of the resources that stand for this server: 1 to ${maxEntries}`,
    ),
  ),
  roles: needed((value) => unless(isFilledTable(value), tableFault('actions', 'roles'))),
  login_from: optional((value) =>
    unless(
      loginSources.some((source) => source === value),
      `must be one of ${loginSources.join(', ')}`,
    ),
  ),
  email_domain: optional((value) =>
    unless(isText(value) && readEmail(`x@${value}`) !== undefined, 'must be the domain of e-mail addresses'),
  ),
  logins: optional((value) => unless(isFilledTable(value), tableFault('e-mail addresses', 'logins'))),
  manages_logins: optional(findFlagFault),
  makes_logins: optional(findFlagFault),
}

/** Every fault of a config, including a forbidden address. */
export async function findConfigFaults(config: Config, egress: Egress): Promise<FaultyField[]> {
  const unknown = Object.keys(config).filter((name) => !Object.hasOwn(rules, name))
  const faults = [
    ...unknown.map((name) => fault([name], 'is not a known field: the guide lists the fields')),
    ...Object.entries(rules).flatMap(([name, rule]) => {
      if (config[name] === undefined) return rule.needed ? [fault([name], 'is required')] : []
      const why = rule.findFault(config[name])
      return why === undefined ? [] : [fault([name], why)]
    }),
    ...findEntryFaults(config),
    ...findMissing(config),
    ...findUnused(config),
  ]
  const isPlaceFaulty = faults.some(({ pointer }) => ['/config/host', '/config/port', '/config/tls'].includes(pointer))
  return isPlaceFaulty ? faults : [...faults, ...(await findPlaceFaults(readSettings(config), egress))]
}

/** Faults of the entries in the tables. */
function findEntryFaults({ roles, logins }: Config): FaultyField[] {
  const names = (field: string, table: unknown) =>
    Object.entries(isTable(table) ? table : {}).flatMap(([key, name]) => {
      const why = findNameFault(name)
      return why === undefined ? [] : [fault([field, key], why)]
    })
  const emails = Object.keys(isTable(logins) ? logins : {})
  const keys = emails.map((email) => emailKey(email))
  return [
    ...names('roles', roles),
    ...names('logins', logins),
    ...emails.flatMap((email, index) => {
      if (readEmail(email) === undefined) return [fault(['logins', email], 'is not an e-mail address')]
      const isTwice = keys.indexOf(keys[index] ?? '') !== index
      return isTwice
        ? [fault(['logins', email], 'is the address of a person who is listed already; list each person once')]
        : []
    }),
  ]
}

/** Fields that exactly one `login_from` needs. */
function findMissing({ login_from, email_domain, logins }: Config): FaultyField[] {
  const needs = [
    { name: 'email_domain', given: email_domain !== undefined, source: 'local_part' },
    { name: 'logins', given: logins !== undefined, source: 'list' },
  ]
  return needs.flatMap(({ name, given, source }) => {
    if (given === (login_from === source)) return []
    return [
      fault(
        [name],
        given ? `is only valid with login_from \`${source}\`` : `is required with login_from \`${source}\``,
      ),
    ]
  })
}

/** Fields about logins that exist already, beside `makes_logins`. */
function findUnused(config: Config): FaultyField[] {
  if (config.makes_logins !== true) return []
  return ['manages_logins', 'login_from', 'logins'].flatMap((name) =>
    config[name] === undefined || config[name] === false
      ? []
      : [fault([name], 'has no meaning with `makes_logins`: each grant gets a login of its own')],
  )
}

async function findPlaceFaults(settings: Settings, egress: Egress): Promise<FaultyField[]> {
  const inside = await egress.findFault(placeOf(settings, 'https'))
  if (inside !== undefined) return [fault(['host'], inside)]
  const plain = await findPlainFault(settings, egress)
  return plain === undefined ? [] : [fault(['tls'], plain)]
}

/** Why the server may not be used without TLS, when the config says so. */
export async function findPlainFault(settings: Settings, egress: Egress): Promise<string | undefined> {
  if (settings.tls === 'verify' || (await egress.findFault(placeOf(settings, 'http'))) === undefined) return undefined
  return 'may be `off` only where the operator lists the host in EGRESS_ALLOW'
}

/** The server's name in messages and keys. */
export function nameOfServer({ host, port }: Settings): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

function placeOf(settings: Settings, scheme: 'http' | 'https'): string {
  return `${scheme}://${nameOfServer(settings)}/`
}

/** Reads a valid config. */
export function readSettings(config: Config): Settings {
  const { port, tls, ca, resource_ids, roles, login_from, email_domain, logins } = config
  return {
    host: String(config.host)
      .toLowerCase()
      .replace(/^\[|\]$|\.$/g, ''),
    port: typeof port === 'number' ? port : defaultPort,
    database: String(config.database),
    user: String(config.user),
    password: String(config.password),
    tls: tls === 'off' ? 'off' : 'verify',
    ca: typeof ca === 'string' ? ca : undefined,
    resourceIds: new Set(Array.isArray(resource_ids) ? resource_ids.map(String) : []),
    roles: new Map(entriesOf(roles)),
    loginFrom: loginSources.find((source) => source === login_from) ?? 'email',
    emailDomain: String(email_domain ?? ''),
    logins: new Map(entriesOf(logins).map(([email, login]) => [emailKey(email), login])),
    managesLogins: config.manages_logins === true,
    makesLogins: config.makes_logins === true,
  }
}

/**
 * The login for an e-mail address; undefined when the config has none. Two spellings of one person's address give the same
 * login.
 */
export function loginOf({ loginFrom, emailDomain, logins }: Settings, email: string): string | undefined {
  const key = emailKey(email)
  if (loginFrom === 'email') return key
  if (loginFrom === 'list') return logins.get(key)
  const at = key.lastIndexOf('@')
  // Only for one domain: the same local part at another domain is another person.
  return key.slice(at) === emailKey(`@${emailDomain}`) ? key.slice(0, at) : undefined
}

function entriesOf(table: unknown): [string, string][] {
  return isTable(table) ? Object.entries(table).map(([key, value]) => [key, String(value)]) : []
}

function findNameFault(value: unknown): string | undefined {
  return unless(isText(value) && fitsName(value), `must be a PostgreSQL name: 1 to ${maxNameLength} bytes`)
}

function findFlagFault(value: unknown): string | undefined {
  return unless(typeof value === 'boolean', 'must be true or false')
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxTextLength
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFilledTable(value: unknown): boolean {
  const size = isTable(value) ? Object.keys(value).length : 0
  return size > 0 && size <= maxEntries
}

function tableFault(from: string, to: string): string {
  return `must be an object that maps ${from} to ${to}: 1 to ${maxEntries} entries`
}

function unless(holds: boolean, why: string): string | undefined {
  return holds ? undefined : why
}

function needed(findFault: FindFault) {
  return { needed: true, findFault }
}

function optional(findFault: FindFault) {
  return { needed: false, findFault }
}

function fault(path: string[], why: string): FaultyField {
  return { pointer: `/config/${path.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`, why }
}
