/**
 * The Cedar schema of the questions: who asks, for what, in which circumstances. It drives validation and evaluation, and
 * is what the console completes from.
 *
 * Actions are the tenant's own words, so the schema is made for the action ids at hand: a rule is validated against those it
 * names, a question is asked under its own. Every action that no rule names behaves like any other, and goes by
 * `unnamedAction`.
 */
import type { SchemaJson } from './engine.ts'

/** Types of the interface's resources, in its order. */
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

/** The action of deciding a request; reserved: nobody can ask for it. */
export const approveAction = 'approve'

/** Stands for every action that no rule names. INVARIANT: no rule can name it, ids beginning `__` are refused. */
export const unnamedAction = '__unnamed'

const string = { type: 'String' } as const
const long = { type: 'Long' } as const
const boolean = { type: 'Boolean' } as const
const extension = (name: 'datetime' | 'ipaddr') => ({ type: 'Extension', name }) as const
const record = (attributes: Record<string, object>) => ({ type: 'Record', attributes })
const described = (type: object, doc: string) => ({ ...type, annotations: { doc } })

const context = described(
  record({
    duration_seconds: described(long, 'how long the access would last'),
    has_reason: described(boolean, 'the requester gave a reason'),
    break_glass: described(boolean, 'an emergency request'),
    now: described(extension('datetime'), 'the instant of the question'),
    weekday: described(long, '1 is Monday, 7 is Sunday, in the time zone of the tenant'),
    minute: described(long, 'minutes since midnight in the time zone of the tenant, 0 to 1439'),
    via: described(string, '`token` or `api_key`'),
    source_ip: described(extension('ipaddr'), 'the address the call came from'),
  }),
  'the circumstances of a question',
)

const user = {
  memberOfTypes: ['Group', 'Role'],
  shape: record({
    email: string,
    name: string,
    active: boolean,
    auth_provider: string,
    is_owner: boolean,
    scopes: { type: 'Set', element: string },
  }),
  annotations: { doc: 'a person; in their groups, and in their roles, own and by group' },
}

/** What each asked type is directly within; ancestors follow from it. A permission set has no parent. */
const parentTypes: Record<AskedType, AskedType[]> = {
  cloud_account: ['cloud_organizational_unit'],
  cloud_permission_set: [],
  cloud_storage_bucket: ['cloud_account'],
  cloud_db_instance: ['cloud_account'],
  cloud_compute_instance: ['cloud_account'],
  cloud_organizational_unit: ['cloud_organizational_unit'],
}

/** What a type may be in, near or far. */
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
    action: described(string, 'the action that is asked for'),
    duration_seconds: long,
    break_glass: boolean,
  }),
  annotations: { doc: 'a request to be decided; in the resource that it asks for' },
}

function actionOn(types: readonly string[], doc: string) {
  return {
    appliesTo: { principalTypes: ['User'], resourceTypes: [...types], context: { type: 'Context' } },
    annotations: { doc },
  }
}

/**
 * The schema with these actions; `approve` among them is the action of deciding, whatever else is an action to ask for.
 * `namedOnly` are actions that a statement may name but that no question is put with.
 */
export function schemaWith(actionIds: Iterable<string>, namedOnly: Iterable<string> = []): SchemaJson<string> {
  const asked = [...new Set(actionIds)].map((id) => [
    id,
    id === approveAction
      ? actionOn(['access_request'], 'decide a request')
      : actionOn(askedTypes, id === unnamedAction ? 'every action that no rule names' : 'an action to ask for'),
  ])
  const actions = Object.fromEntries([...[...namedOnly].map((id) => [id, {}]), ...asked])
  const entityTypes = {
    User: user,
    Group: {},
    Role: {},
    ...Object.fromEntries(askedTypes.map((type) => [type, askedEntity(type)])),
    access_request: accessRequest,
  }
  // The engine's type wants the names of entity types as they stand; here they come from a list.
  return { '': { commonTypes: { Context: context }, entityTypes, actions } } as unknown as SchemaJson<string>
}
