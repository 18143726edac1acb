import type { Directory, Way } from './directory.ts'

/** The ways by which Sallyport reads. */
export type ReadWay = Exclude<Way, 'push'>

/** A field of a config that a person fills in. `kind`: how it is entered; `isMore`: few need it. */
export type ConfigField = {
  name: FieldName
  kind: 'text' | 'number' | 'secret' | 'lines'
  isNeeded?: true
  isMore?: true
}

const more = (name: FieldName): ConfigField => ({ name, kind: 'text', isMore: true })
const interval: ConfigField = { name: 'sync_interval_minutes', kind: 'number', isMore: true }

const ofLdap = [
  { name: 'host', kind: 'text', isNeeded: true },
  { name: 'base_dn', kind: 'text', isNeeded: true },
  { name: 'bind_dn', kind: 'text', isNeeded: true },
  { name: 'bind_password', kind: 'secret', isNeeded: true },
  { name: 'ca_certificate', kind: 'lines' },
  { name: 'port', kind: 'number', isMore: true },
  ...(['user_base_dn', 'group_base_dn', 'user_filter', 'group_filter'] as const).map(more),
  ...(['id_attribute', 'user_name_attribute', 'email_attribute'] as const).map(more),
  ...(['department_attribute', 'title_attribute', 'manager_attribute'] as const).map(more),
  interval,
] satisfies ConfigField[]

const ofScim = [
  { name: 'base_url', kind: 'text', isNeeded: true },
  { name: 'token', kind: 'secret', isNeeded: true },
  interval,
] satisfies ConfigField[]

export type FieldName =
  | `${'user' | 'group'}_${'base_dn' | 'filter'}`
  | `${'id' | 'user_name' | 'email' | 'department' | 'title' | 'manager'}_attribute`
  | 'host'
  | 'port'
  | 'base_dn'
  | 'bind_dn'
  | 'bind_password'
  | 'ca_certificate'
  | 'base_url'
  | 'token'
  | 'sync_interval_minutes'

/** The fields of each way, in the order in which they are shown. What a connection to AWS says is chosen, and no field. */
export const fieldsOf: Readonly<Record<ReadWay, readonly ConfigField[]>> = {
  ldap: ofLdap,
  scim: ofScim,
  center: [interval],
}

/** What stands in the place of a stored secret. */
const redacted = '[redacted]'

type Config = Directory['config']

/** What a person entered: a text for each field. `start_tls`: for LDAP; `provisioner_id`, `identity_store_id`: for Identity Center. */
export type Entry = {
  texts: Partial<Record<FieldName, string>>
  start_tls: boolean
  store?: { provisioner_id: string; identity_store_id: string } | undefined
}

/** What the form shows of a config. A secret is not shown. */
export function entryOf(way: ReadWay, config: Config): Entry {
  const texts = fieldsOf[way].flatMap(({ name, kind }) => {
    const value = config[name]
    const isShown = kind !== 'secret' && (typeof value === 'string' || typeof value === 'number') && value !== redacted
    return isShown ? [[name, String(value)]] : []
  })
  const { provisioner_id, identity_store_id } = config
  const hasStore = typeof provisioner_id === 'string' && typeof identity_store_id === 'string'
  return {
    texts: Object.fromEntries(texts),
    start_tls: config.start_tls === true,
    ...(hasStore && { store: { provisioner_id, identity_store_id } }),
  }
}

/** The fields that are needed and empty. A stored secret counts as entered. */
export function missingIn(way: ReadWay, { texts }: Entry, before: Config = {}): FieldName[] {
  return fieldsOf[way].flatMap(({ name, kind, isNeeded }) => {
    const isKept = kind === 'secret' && before[name] === redacted
    return isNeeded && !isKept && (texts[name] ?? '').trim() === '' ? [name] : []
  })
}

/** The config of an entry. `before`: of the directory that is changed; what the form does not know of it stays. */
export function configOf(way: ReadWay, { texts, start_tls, store }: Entry, before: Config = {}): Config {
  const config: Config = { ...before, ...(way !== 'center' && { protocol: way }), ...store }
  if (way === 'ldap') {
    if (start_tls) config.start_tls = true
    else delete config.start_tls
  }
  for (const { name, kind } of fieldsOf[way]) {
    // A secret is sent as it was typed: it may begin or end with a space.
    const text = kind === 'secret' ? (texts[name] ?? '') : (texts[name] ?? '').trim()
    if (text !== '') config[name] = kind === 'number' ? numberOf(text) : text
    else if (kind !== 'secret') delete config[name]
  }
  return config
}

/** A number where the text is one; else the text, which the service refuses with the reason. */
const numberOf = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)
