import type { Egress } from '../../kernel/context.ts'
import type { FaultyField } from '../../kernel/errors.ts'
import { isObject } from '../../kernel/is-object.ts'
import {
  flagField,
  hostField,
  numberField,
  portField,
  type ShownField,
  type ShownFields,
  textField,
  urlField,
} from '../../kernel/shown-field.ts'
import type { Config } from '../driver.ts'
import { ownPrefix } from './own-set.ts'

/** The database user of each action. `{user}`: the database user with the person's own name. `host`, `port`: for people only. */
export type DatabaseUsers = { resource_id: string; users: Record<string, string>; host?: string; port?: number }

/** The config of one Identity Center instance. `instance_arn`, `identity_store_id`: empty before the test found them. */
export type CenterConfig = {
  region: string
  instance_arn: string
  identity_store_id: string
  role_arn: string
  external_id: string
  endpoint?: string
  /** The start URL of the access portal; for people only. */
  portal_url?: string
  user_name?: 'email' | 'local_part'
  /** The domain whose local parts are user names: the same local part at another domain is another person. */
  email_domain?: string
  external_id_issuer?: string
  permission_sets?: Record<string, string>
  bucket_actions?: Record<string, 'read' | 'write' | 'delete'>
  databases?: Record<string, DatabaseUsers>
  session_hours?: number
  session_role?: string
  session_regions?: string[]
  /** The name of a role in each account that may list its databases. */
  inventory_role?: string
  inventory_regions?: string[]
  /** At the end of a grant, deny the person the sessions of the organization's own set that were issued before. */
  cut_sessions?: boolean
}

const namesField: ShownField = {
  shows: (value) => isNames(value) || (isObject(value) && Object.values(value).every(isDatabase)),
  leads: false,
}
const listField: ShownField = { shows: (value) => Array.isArray(value) && value.every(isText), leads: false }

export const shownFields = {
  region: hostField,
  account_id: textField,
  instance_arn: textField,
  identity_store_id: textField,
  role_arn: textField,
  endpoint: urlField,
  // Nothing is sent there: it is a link for people.
  portal_url: textField,
  user_name: textField,
  email_domain: textField,
  external_id_issuer: textField,
  permission_sets: namesField,
  bucket_actions: namesField,
  databases: namesField,
  session_hours: numberField,
  session_role: textField,
  session_regions: listField,
  inventory_role: textField,
  inventory_regions: listField,
  cut_sessions: flagField,
} as const satisfies ShownFields

const partition = 'aws(?:-[a-z]+){0,2}'
const regionForm = /^[a-z]{2,3}(?:-[a-z]+){1,3}-\d{1,2}$/
const setArnForm = new RegExp(
  `^arn:${partition}:sso:::permissionSet/((?:sso)?ins-[a-zA-Z0-9-.]{16})/ps-[a-zA-Z0-9-./]{16}$`,
)
const setNameForm = /^[\w+=,.@-]{1,32}$/
const databaseArnForm = new RegExp(`^arn:${partition}:rds:[a-z0-9-]+:\\d{12}:(?:db|cluster):[A-Za-z0-9-]{1,63}$`)

/** The hosts of access portals. A portal elsewhere could be anybody's, and people sign in there. */
const portalForm =
  /^https:\/\/(?:[a-z0-9-]{1,63}\.){1,4}(?:awsapps\.(?:com|cn)|portal\.amazonaws\.com(?:\.cn)?|portal\.[a-z0-9-]{1,30}\.app\.aws)(?:\/[A-Za-z0-9._-]{1,100}){0,3}\/?$/

type Form = { form: RegExp; description: string }

const forms: Record<string, Form> = {
  region: { form: regionForm, description: 'a region such as `eu-west-1`' },
  instance_arn: {
    form: new RegExp(`^arn:${partition}:sso:::instance/(?:sso)?ins-[a-zA-Z0-9-.]{16}$`),
    description: 'the ARN of an Identity Center instance, `arn:aws:sso:::instance/ssoins-…`',
  },
  identity_store_id: {
    form: /^(?:d-[0-9a-f]{10}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/,
    description: 'the id of an identity store, `d-` and 10 digits, or a UUID',
  },
  account_id: { form: /^\d{12}$/, description: 'the number of an account, of 12 digits' },
  role_arn: {
    form: new RegExp(`^arn:${partition}:iam::\\d{12}:role/[\\w+=,.@/-]{0,511}[\\w+=,.@-]$`),
    description: 'the ARN of a role, `arn:aws:iam::<account>:role/<name>`',
  },
  user_name: { form: /^(?:email|local_part)$/, description: '`email` or `local_part`' },
  email_domain: { form: /^[A-Za-z0-9.-]{1,253}$/, description: 'the domain of e-mail addresses' },
  external_id_issuer: { form: /^\S{1,100}$/, description: 'the issuer of external ids as the identity store holds it' },
  external_id: { form: /^[\w+=,.@:/-]{2,1224}$/, description: 'the one that Sallyport generated' },
  session_role: { form: /^[\w+=,.@-]{1,64}$/, description: 'the name of a role in each account' },
  inventory_role: {
    form: /^sallyport-[\w+=,.@-]{1,54}$/,
    description: 'the name of a role in each account, `sallyport-…`',
  },
  portal_url: {
    form: portalForm,
    description: 'the start URL of an AWS access portal, such as `https://d-0123456789.awsapps.com/start`',
  },
}

/** The fields that a test of the provisioner finds at AWS. */
export const foundFields = ['instance_arn', 'identity_store_id'] as const

/** Whether both have the form that a config must have. */
export function isInstance(found: Record<(typeof foundFields)[number], string>): boolean {
  return foundFields.every((name) => forms[name]?.form.test(found[name]))
}

/** The name of the role that an administrator sets up for Sallyport, unless `role_arn` names another. */
const roleName = 'sallyport-provisioner'

/** The config as the driver uses it. INVARIANT: `findFaults` found nothing in it. */
export function centerConfigOf(config: Config): CenterConfig {
  const { region, account_id, ...rest } = config as { region: string; account_id?: string }
  const role_arn = `arn:${partitionOf(region)}:iam::${account_id}:role/${roleName}`
  return { instance_arn: '', identity_store_id: '', role_arn, ...rest, region } as CenterConfig
}

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}

/** Every syntactic fault; a test of the provisioner shows whether AWS agrees. */
export async function findFaults(config: Config, egress: Egress): Promise<FaultyField[]> {
  const known = new Set([...Object.keys(shownFields), 'external_id'])
  const faults = [
    ...Object.keys(config).flatMap((name) => (known.has(name) ? [] : [fault(name, 'is not a known field')])),
    ...findMissing(config),
    ...Object.entries(forms).flatMap(([name, { form, description }]) => {
      const value = config[name]
      const sound = value === undefined || (typeof value === 'string' && form.test(value))
      return sound ? [] : [fault(name, `must be ${description}`)]
    }),
    ...findDomainFaults(config),
    ...findSessionFaults(config),
    ...findNameFaults(config),
    ...findDatabaseFaults(config.databases),
  ]
  return [...faults, ...(await findEndpointFaults(config.endpoint, egress))]
}

function findMissing({ region, role_arn, account_id, instance_arn, identity_store_id }: Config): FaultyField[] {
  const faults: FaultyField[] = []
  if (region === undefined) faults.push(fault('region', 'is required'))
  if ((role_arn === undefined) === (account_id === undefined))
    faults.push(fault('account_id', `must name the account of the role \`${roleName}\`, or \`role_arn\` another role`))
  if ((instance_arn === undefined) !== (identity_store_id === undefined)) {
    const absent = instance_arn === undefined ? 'instance_arn' : 'identity_store_id'
    faults.push(fault(absent, 'must be present with the other: leave out both, and the test finds them'))
  }
  return faults
}

function findDomainFaults({ user_name, email_domain }: Config): FaultyField[] {
  if ((user_name === 'local_part') === (email_domain !== undefined)) return []
  return [fault('email_domain', 'must be present exactly when user_name is `local_part`')]
}

function findSessionFaults({ session_hours, cut_sessions = false, ...config }: Config): FaultyField[] {
  const faults: FaultyField[] = []
  if (typeof cut_sessions !== 'boolean') faults.push(fault('cut_sessions', 'must be `true` or `false`'))
  const hours = session_hours ?? 1
  if (!Number.isInteger(hours) || Number(hours) < 1 || Number(hours) > 12) {
    faults.push(fault('session_hours', 'must be a whole number from 1 to 12'))
  }
  for (const name of ['session_regions', 'inventory_regions']) {
    const regions = config[name] ?? []
    if (!Array.isArray(regions) || regions.length > 40 || !regions.every((one) => regionForm.test(String(one))))
      faults.push(fault(name, 'must list regions such as `eu-west-1`'))
  }
  return faults
}

function findNameFaults({ permission_sets = {}, bucket_actions = {}, instance_arn }: Config): FaultyField[] {
  if (!isNames(permission_sets)) return [fault('permission_sets', 'must be an object of actions and permission sets')]
  if (!isNames(bucket_actions)) return [fault('bucket_actions', 'must be an object of actions')]
  return [
    ...Object.entries(permission_sets).flatMap(([action, set]) => {
      const why = findSetFault(set, typeof instance_arn === 'string' ? instance_arn : undefined)
      return why === undefined ? [] : [fault(`permission_sets/${escaped(action)}`, why)]
    }),
    ...Object.entries(bucket_actions).flatMap(([action, may]) =>
      ['read', 'write', 'delete'].includes(may)
        ? []
        : [fault(`bucket_actions/${escaped(action)}`, 'must be `read`, `write` or `delete`')],
    ),
  ]
}

/**
 * Why this may not be given as a permission set of the instance, as a half-sentence; undefined when it may. `instance_arn`: undefined
 * while it is not known.
 */
export function findSetFault(set: string, instance_arn: string | undefined): string | undefined {
  if (set.startsWith(ownPrefix)) return `must not be a set that Sallyport made, \`${ownPrefix}…\``
  if (setNameForm.test(set)) return undefined
  const [, instance] = setArnForm.exec(set) ?? []
  if (instance === undefined) return 'must be the name of a permission set, of at most 32 characters, or its ARN'
  return instance_arn === undefined || instance_arn.endsWith(`/${instance}`)
    ? undefined
    : 'must be a permission set of this instance'
}

function findDatabaseFaults(databases: unknown): FaultyField[] {
  if (databases === undefined) return []
  if (!isObject(databases)) return [fault('databases', 'must be an object of databases by their ARN')]
  return Object.entries(databases).flatMap(([arn, database]) => {
    const at = `databases/${escaped(arn)}`
    if (!databaseArnForm.test(arn)) return [fault(at, 'must be named by the ARN of an RDS instance or cluster')]
    if (isDatabase(database)) return []
    const why =
      'must contain `resource_id`, such as `db-ABC…`, and `users`: a database user for each action; and may contain `host` and `port`, together'
    return [fault(at, why)]
  })
}

/**
 * The service's own identity signs the calls to the endpoint, and sends its session token. So only hosts that the operator lists
 * are allowed. A name below amazonaws.com proves nothing, since every AWS customer can create an API with such a name.
 */
async function findEndpointFaults(endpoint: unknown, egress: Egress): Promise<FaultyField[]> {
  if (endpoint === undefined) return []
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (url === null || typeof endpoint !== 'string') return [fault('endpoint', 'must be an address')]
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return [fault('endpoint', 'must have no path and no query')]
  }
  const why = await egress.findFault(endpoint)
  if (why !== undefined) return [fault('endpoint', why)]
  // Only listed hosts may be called without TLS, so this shows whether the host is listed.
  const isListed = (await egress.findFault(`http://${url.host}/`)) === undefined
  return isListed ? [] : [fault('endpoint', 'must be a host that the operator lists in EGRESS_ALLOW')]
}

const databaseHostForm = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/
const databaseUserForm = /^(?:\{user\}|[A-Za-z0-9_.@+-]{1,63})$/

function isDatabase(value: unknown): value is DatabaseUsers {
  if (!isObject(value)) return false
  const { resource_id, users, host, port, ...more } = value
  if (Object.keys(more).length > 0 || !isPlace(host, port)) return false
  return (
    /^(?:db|cluster|prx)-[A-Za-z0-9]{1,100}$/.test(String(resource_id)) &&
    isNames(users) &&
    Object.values(users).every((user) => databaseUserForm.test(user))
  )
}

/** A host and a port, or neither. */
function isPlace(host: unknown, port: unknown): boolean {
  if (host === undefined && port === undefined) return true
  return typeof host === 'string' && databaseHostForm.test(host) && portField.shows(port)
}

function isNames(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every(isText)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 500
}

function fault(name: string, why: string): FaultyField {
  return { pointer: `/config/${name}`, why }
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
