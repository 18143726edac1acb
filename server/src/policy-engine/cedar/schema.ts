/**
 * The Cedar schema of the questions: the requester, the resource and the circumstances. Validation, evaluation and the console's
 * completion use it.
 *
 * Tenants choose their own action names, so a schema is built for given action ids: a rule is validated with the actions that it
 * names, a question is evaluated with its own. All actions that no rule names behave alike and are represented by `unnamedAction`.
 */
import type { SchemaJson } from './engine.ts'

/** The resource types of the API, in its order. */
export const askedTypes = [
  'cloud_account',
  'cloud_permission_set',
  'cloud_storage_bucket',
  'cloud_db_instance',
  'cloud_compute_instance',
  'cloud_organizational_unit',
] as const
export type AskedType = (typeof askedTypes)[number]

/** Entity types that the principal scope of a rule may name. */
export const principalTypes = ['User', 'Group', 'Role'] as const

/** Entity types that the resource scope of a rule may name. */
export const resourceTypes = [...askedTypes, 'access_request'] as const

/** The action of deciding a request; reserved: it cannot be requested. */
export const approveAction = 'approve'

/** Stands for every action that no rule names. INVARIANT: no rule can name it, because ids that begin with `__` are refused. */
export const unnamedAction = '__unnamed'

const string = { type: 'String' } as const
const long = { type: 'Long' } as const
const boolean = { type: 'Boolean' } as const
const extension = (name: 'datetime' | 'ipaddr') => ({ type: 'Extension', name }) as const
const record = (attributes: Record<string, object>) => ({ type: 'Record', attributes })
const described = (type: object, doc: string) => ({ ...type, annotations: { doc } })

/** An attribute that a rule tests with `has` first: it is absent where it is not known. */
const fact = (type: object, doc: string) => ({ ...described(type, doc), required: false })

const context = described(
  record({
    duration_seconds: described(long, 'how long the access would last'),
    has_reason: described(boolean, 'the requester gave a reason'),
    break_glass: described(boolean, 'an emergency request'),
    now: described(extension('datetime'), 'the instant of the question'),
    weekday: described(long, '1 is Monday, 7 is Sunday, in the time zone of the tenant'),
    minute: described(long, 'minutes since midnight in the time zone of the tenant, 0 to 1439'),
    via: described(string, '`token` or `api_key`'),
    source_ip: described(extension('ipaddr'), 'the source address of the call'),
  }),
  'the circumstances of a question',
)

const user = {
  memberOfTypes: ['Group', 'Role'],
  shape: record({
    email: string,
    email_verified: described(
      boolean,
      'the identity provider of the person vouches for `email`; false for a local user',
    ),
    name: string,
    active: boolean,
    auth_provider: string,
    is_owner: boolean,
    scopes: { type: 'Set', element: string },
    department: fact(string, 'the department, where it is known'),
    title: fact(string, 'the job title, where it is known'),
    manager: fact(
      { type: 'Entity', name: 'User' },
      'the manager, where one is known: only to be compared, as in `resource.requester.manager == principal`',
    ),
  }),
  annotations: { doc: 'a person; a member of their groups, and of their roles, own and by group' },
}

/** The direct parents of each requestable type; ancestors follow from them. A permission set has no parent. */
const parentTypes: Record<AskedType, AskedType[]> = {
  cloud_account: ['cloud_organizational_unit'],
  cloud_permission_set: [],
  cloud_storage_bucket: ['cloud_account'],
  cloud_db_instance: ['cloud_account'],
  cloud_compute_instance: ['cloud_account'],
  cloud_organizational_unit: ['cloud_organizational_unit'],
}

/** All ancestors that a type may have. */
export function ancestorTypes(type: AskedType): AskedType[] {
  const found = new Set<AskedType>()
  const pending = [...parentTypes[type]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (found.has(next)) continue
    found.add(next)
    pending.push(...parentTypes[next])
  }
  return [...found]
}

function askedEntity(type: AskedType) {
  return { memberOfTypes: parentTypes[type], shape: record({ name: string }), tags: string }
}

const accessRequest = {
  memberOfTypes: [...askedTypes],
  shape: record({
    requester: { type: 'Entity', name: 'User' },
    action: described(string, 'the requested action'),
    duration_seconds: long,
    break_glass: boolean,
  }),
  annotations: { doc: 'a request to be decided; its parent is the requested resource' },
}

function actionOn(types: readonly string[], doc: string) {
  return {
    appliesTo: { principalTypes: ['User'], resourceTypes: [...types], context: { type: 'Context' } },
    annotations: { doc },
  }
}

/**
 * The schema with these actions; `approve` among them is the action of deciding, every other is an action to request.
 * `namedOnly` are actions that a statement may name but that no question is evaluated with.
 */
export function schemaWith(actionIds: Iterable<string>, namedOnly: Iterable<string> = []): SchemaJson<string> {
  const asked = [...new Set(actionIds)].map((id) => [
    id,
    id === approveAction
      ? actionOn(['access_request'], 'decide a request')
      : actionOn(askedTypes, id === unnamedAction ? 'every action that no rule names' : 'an action to request'),
  ])
  const actions = Object.fromEntries([...[...namedOnly].map((id) => [id, {}]), ...asked])
  const entityTypes = {
    User: user,
    Group: {},
    Role: {},
    ...Object.fromEntries(askedTypes.map((type) => [type, askedEntity(type)])),
    access_request: accessRequest,
  }
  // The engine's type requires literal names of entity types; here they come from a list.
  return { '': { commonTypes: { Context: context }, entityTypes, actions } } as unknown as SchemaJson<string>
}
