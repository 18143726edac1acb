import { isIP, isIPv6 } from 'node:net'
import { FilterParser } from 'ldapts'
import { findCertificatesFault } from '../../../kernel/certificates.ts'
import type { Egress } from '../../../kernel/context.ts'
import type { FaultyField } from '../../../kernel/errors.ts'
import { flagField, hostField, portField, textField } from '../../../kernel/shown-field.ts'
import type { Config } from '../../../provisioners/driver.ts'
import { dnKey } from './distinguished-name.ts'

/** A valid config, as the source uses it. */
export type Settings = {
  host: string
  port: number
  /** How the connection gets its TLS. `off`: not at all, which only a loopback address may have. */
  tls: 'at_once' | 'start_tls' | 'off'
  bindDn: string
  bindPassword: string
  /** PEM certificates to trust in place of the system's. */
  ca: string | undefined
  people: Part
  groups: Part
  pageSize: number
  /** For each fact, the attributes that may have it: the first that an entry has counts. */
  attributes: Readonly<Record<FactName, readonly string[]>>
}

/** A part of the directory. `field`: the field of the config that has its base. */
type Part = { base: string; field: string; filter: string }

type FactName = 'id' | 'userName' | 'email' | 'department' | 'title' | 'manager'

/** The attributes of OpenLDAP, 389 Directory Server and Active Directory. */
const usualAttributes: Settings['attributes'] = {
  id: ['entryUUID', 'objectGUID'],
  userName: ['userPrincipalName', 'uid', 'sAMAccountName'],
  email: ['mail'],
  department: ['department', 'departmentNumber'],
  title: ['title'],
  manager: ['manager'],
}

/** In Active Directory, computers are users too, but not of the category `person`. */
const usualPeople = '(|(objectClass=inetOrgPerson)(&(objectCategory=person)(objectClass=user)))'
const usualGroups = `(|${['groupOfNames', 'groupOfUniqueNames', 'groupOfMembers', 'posixGroup', 'group']
  .map((name) => `(objectClass=${name})`)
  .join('')})`
const usualPageSize = 500
const maxPageSize = 1_000
const maxPasswordLength = 1_000

/** What is wrong with a value; undefined: nothing. */
type FindFault = (value: unknown) => string | undefined

const rules: Readonly<Record<string, { needed: boolean; findFault: FindFault }>> = {
  host: needed(findHostFault),
  port: optional((value) => unless(portField.shows(value), 'must be a port: 1 to 65535')),
  start_tls: optional((value) => unless(flagField.shows(value), 'must be true or false')),
  tls: optional((value) => unless(value === 'verify' || value === 'off', 'must be `verify` or `off`')),
  bind_dn: needed((value) => unless(isText(value), 'must be the DN of the account that reads the directory')),
  // With an empty password, a server lets anybody in, and shows them less than all.
  bind_password: needed((value) =>
    unless(
      typeof value === 'string' && value !== '' && value.length <= maxPasswordLength && !value.includes('\0'),
      `must be the password of \`bind_dn\`: 1 to ${maxPasswordLength} characters`,
    ),
  ),
  ca_certificate: optional(findCertificatesFault),
  base_dn: needed(findDnFault),
  user_base_dn: optional(findDnFault),
  group_base_dn: optional(findDnFault),
  user_filter: optional(findFilterFault),
  group_filter: optional(findFilterFault),
  page_size: optional((value) =>
    unless(
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxPageSize,
      `must be 1 to ${maxPageSize}`,
    ),
  ),
  id_attribute: optional(findAttributeFault),
  user_name_attribute: optional(findAttributeFault),
  email_attribute: optional(findAttributeFault),
  department_attribute: optional(findAttributeFault),
  title_attribute: optional(findAttributeFault),
  manager_attribute: optional(findAttributeFault),
}

/** Every fault of a config, including a forbidden address. Fields of other protocols, and those of each sync, are not looked at. */
export async function findConfigFaults(config: Config, egress: Egress): Promise<FaultyField[]> {
  const faults = Object.entries(rules).flatMap(([name, { needed, findFault }]) => {
    const value = config[name]
    if (value === undefined || value === null) return needed ? [fault(name, 'is required')] : []
    const why = findFault(value)
    return why === undefined ? [] : [fault(name, why)]
  })
  const isPlaceFaulty = faults.some(({ pointer }) => ['host', 'port', 'tls'].some((name) => pointer.endsWith(name)))
  return isPlaceFaulty ? faults : [...faults, ...(await findPlaceFaults(config, egress))]
}

async function findPlaceFaults(config: Config, egress: Egress): Promise<FaultyField[]> {
  const settings = readSettings(config)
  if (config.tls === 'off' && config.start_tls === true) {
    return [fault('start_tls', 'has no meaning with `tls` set to `off`: leave one of them out')]
  }
  if (settings.tls === 'off' && settings.host !== 'localhost' && !isLoopback(settings.host)) {
    return [fault('tls', 'may be `off` only for a loopback address: the password would be sent in the clear')]
  }
  const inside = await egress.findFault(`https://${nameOfServer(settings)}/`)
  return inside === undefined ? [] : [fault('host', inside)]
}

/** Reads a valid config. */
export function readSettings(config: Config): Settings {
  const text = (name: string) => (typeof config[name] === 'string' ? config[name] : undefined)
  const tls = config.tls === 'off' ? 'off' : config.start_tls === true ? 'start_tls' : 'at_once'
  const part = (own: string, filter: string): Part => {
    const field = text(own) === undefined ? 'base_dn' : own
    return { base: text(field) ?? '', field, filter }
  }
  const attributesOf = (fact: FactName, field: string) => {
    const own = text(field)
    return own === undefined ? usualAttributes[fact] : [own]
  }
  return {
    host: bareHost(text('host') ?? ''),
    port: typeof config.port === 'number' ? config.port : tls === 'at_once' ? 636 : 389,
    tls,
    bindDn: text('bind_dn') ?? '',
    bindPassword: text('bind_password') ?? '',
    ca: text('ca_certificate'),
    people: part('user_base_dn', text('user_filter') ?? usualPeople),
    groups: part('group_base_dn', text('group_filter') ?? usualGroups),
    pageSize: typeof config.page_size === 'number' ? config.page_size : usualPageSize,
    attributes: {
      id: attributesOf('id', 'id_attribute'),
      userName: attributesOf('userName', 'user_name_attribute'),
      email: attributesOf('email', 'email_attribute'),
      department: attributesOf('department', 'department_attribute'),
      title: attributesOf('title', 'title_attribute'),
      manager: attributesOf('manager', 'manager_attribute'),
    },
  }
}

/** The server's name in messages. */
export function nameOfServer({ host, port }: Settings): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

export function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

/** The port has a field of its own. */
function findHostFault(value: unknown): string | undefined {
  const isHost = hostField.shows(value) && (isIP(bareHost(value)) !== 0 || /^[^:[\]]+$/.test(String(value)))
  return unless(isHost, 'must be the name or the address of the server, without a port')
}

/** The host as it is resolved and as a certificate has it. */
function bareHost(value: unknown): string {
  return String(value)
    .toLowerCase()
    .replace(/^\[|\]$|\.$/g, '')
}

function findDnFault(value: unknown): string | undefined {
  const isDn = isText(value) && value !== '' && dnKey(value) !== undefined
  return unless(isDn, 'must be a DN, such as `ou=people,dc=example,dc=com`')
}

function findFilterFault(value: unknown): string | undefined {
  if (!isText(value)) return 'must be an LDAP filter of at most 500 characters'
  // Written as the character that the two digits number, which beyond ASCII is another text.
  if (/\\[89a-f]/i.test(value)) return 'must have characters beyond ASCII as they are, without `\\`'
  try {
    FilterParser.parseString(value)
    return undefined
  } catch {
    return 'must be an LDAP filter, such as `(objectClass=inetOrgPerson)`'
  }
}

function findAttributeFault(value: unknown): string | undefined {
  const form = /^[A-Za-z][A-Za-z0-9-]{0,99}(?:;[A-Za-z0-9-]{1,30})?$/
  return unless(typeof value === 'string' && form.test(value), 'must be the name of an attribute')
}

/** Of one line, short enough to be shown. */
function isText(value: unknown): value is string {
  return textField.shows(value) && value !== ''
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

function fault(name: string, why: string): FaultyField {
  return { pointer: `/config/${name}`, why }
}
