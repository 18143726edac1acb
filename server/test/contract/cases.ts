import { newId } from '../../src/kernel/id.ts'
import type { House, Person, TestTenant } from '../support/house.ts'
import type { Finish } from '../support/sign-in-stage.ts'
import type { Endpoint, rows } from './rows.ts'

/** One call: the endpoint with these ids in its path, this body, as this user (the owner if none is named). */
export type Try = {
  ids?: Record<string, string>
  body?: unknown
  as?: Person
  /** Sends no credential. */
  noCredential?: true
  tenant_id?: string
}

/** The fixtures of calls: a tenant with its users, and functions that create what an endpoint addresses. */
export type World = {
  house: House
  tenant: TestTenant
  /** Configures a certified provider as the tenant's, and signs in there; returns the redirect's parameters. */
  signedInAtProvider(account: string): Promise<Finish>
  /** Creates a record by its own endpoint, as the owner; returns its id. */
  make(method: string, url: string, body: unknown, as?: Person): Promise<string>
}

type Labels<Number extends Endpoint> = 'success' | keyof (typeof rows)[Number]['errors']
/** For each endpoint a call for each of its outcomes: a missing one is a type error, and fails a test. */
export type Cases = {
  [Number in Endpoint]: Record<Labels<Number>, (world: World) => Promise<Try> | Try>
}

const withoutCredential = (): Try => ({ noCredential: true })
/** The user with the fewest rights, whom every endpoint that needs a scope refuses. */
const lacking =
  (more: Try = {}) =>
  ({ tenant }: World): Try => ({ ids: { id: newId() }, ...more, as: tenant.people.user })
const nowhere = (body?: unknown) => (): Try => ({ ids: { id: newId(), role_id: newId() }, body })

const asking = { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly', reason: 'a look' }

async function makeRequest({ make, tenant }: World): Promise<string> {
  const policy = await make('POST', '/v1/policies', { name: 'everybody may ask' })
  await make('POST', `/v1/policies/${policy}/rules`, { effect: 'permit' })
  return make('POST', '/v1/requests', asking, tenant.people.user)
}

async function decided(world: World): Promise<string> {
  const id = await makeRequest(world)
  return world.make('POST', `/v1/requests/${id}/deny`, {}, world.tenant.people.approver)
}

let counter = 0
const person = () => ({
  email: `person-${++counter}@example.com`,
  name: 'Somebody',
  password: 'correct horse battery',
  roles: ['user'],
})
const email = { name: 'on call', to_addresses: ['oncall@example.com'] }
const largeAvatar = `data:image/png;base64,${'A'.repeat(300_000)}`

/** A tenant's own user that looks like one managed by an identity provider, with a token. */
async function managedPerson({ house, tenant, make }: World): Promise<Person> {
  const { password: _none, ...local } = person()
  const id = await make('POST', '/v1/users', { ...local, auth_provider: 'oidc' })
  return house.person(tenant.tenant_id, id)
}

export const cases: Cases = {
  1: {
    success: async ({ signedInAtProvider }) => ({ body: await signedInAtProvider('anna') }),
    'Invalid or expired authorization code': async ({ signedInAtProvider }) => ({
      body: { ...(await signedInAtProvider('anna')), code: 'expired' },
    }),
  },
  2: {
    success: async (world) => ({ ids: { id: await makeRequest(world) }, body: { reasoning: 'go ahead' } }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
    'Not found': nowhere({}),
    'Request not in pending state': async (world) => ({ ids: { id: await decided(world) } }),
  },
  3: {
    success: async ({ make }) => ({
      ids: { role_id: await make('POST', '/v1/roles', { name: 'readers', scopes: ['users:read'] }) },
      body: { name: 'people readers', description: 'who is there', scopes: ['users:read', 'groups:read'] },
    }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking({ ids: { role_id: newId() }, body: { name: 'mine' } }),
    'Forbidden (system role)': () => ({ ids: { role_id: 'admin' }, body: { name: 'mine' } }),
    'Not found': nowhere({ name: 'nothing' }),
    Unprocessable: async ({ make }) => ({
      ids: { role_id: await make('POST', '/v1/roles', { name: 'readers', scopes: ['users:read'] }) },
      body: { scopes: ['users:fly'] },
    }),
  },
  4: {
    success: async ({ make }) => ({
      ids: { id: await make('POST', '/v1/policies', { name: 'a policy' }) },
      body: { policy_text: 'permit (principal, action, resource);' },
    }),
    'Invalid policy': async ({ make }) => ({
      ids: { id: await make('POST', '/v1/policies', { name: 'a policy' }) },
      body: { policy_text: 'permit everything' },
    }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
    'Not found': nowhere({ effect: 'permit' }),
  },
  5: {
    success: () => ({ ids: { setting_key: 'requests.require_reason' }, body: { value: 'false' } }),
    'Invalid input': () => ({ ids: { setting_key: 'no.such.setting' }, body: { value: 'false' } }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking({ ids: { setting_key: 'requests.require_reason' } }),
  },
  6: {
    success: () => ({ body: { ...email, event_filters: ['request.created'] } }),
    'Invalid input': () => ({ body: { ...email, to_addresses: ['two@example.com, three@example.com'] } }),
    Unauthenticated: withoutCredential,
    Unauthorized: withoutCredential,
  },
  7: {
    success: () => ({
      body: { resources: [{ id: 'a', name: 'A', account_id: '123456789012', metadata: {}, rank: 1 }] },
    }),
    'Bad Request': () => ({ body: { resources: [{ name: 'without an id' }] } }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
  },
  8: { success: () => ({}), Unauthenticated: withoutCredential, Forbidden: lacking() },
  9: {
    success: () => ({ body: { type: 'provider_b' } }),
    'Invalid input': () => ({ body: { type: 'provider_z' } }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
  },
  10: {
    success: async ({ make }) => ({ body: { ids: [await make('POST', '/v1/policies', { name: 'a policy' })] } }),
    'Invalid input': () => ({ body: { ids: [newId()] } }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
  },
  11: {
    success: () => ({ body: person() }),
    'Invalid input': () => ({ body: { ...person(), email: 'nobody' } }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
    'User already exists': async ({ make }) => {
      const body = person()
      await make('POST', '/v1/users', body)
      return { body }
    },
    'Unprocessable entity': () => ({ body: { ...person(), roles: ['emperor'] } }),
  },
  12: {
    success: async (world) => ({ ids: { id: await makeRequest(world) } }),
    Unauthenticated: withoutCredential,
    Forbidden: async (world) => ({ ids: { id: await makeRequest(world) }, as: world.tenant.people.approver }),
    'Not found': nowhere(),
    'Request not in a cancellable state': async (world) => ({ ids: { id: await decided(world) } }),
  },
  13: {
    success: async ({ make, tenant }) => ({
      ids: { id: await make('POST', '/v1/groups', { name: 'on call' }) },
      body: { user_id: tenant.people.user.user_id },
    }),
    'Invalid input': async ({ make }) => ({
      ids: { id: await make('POST', '/v1/groups', { name: 'on call' }) },
      body: { user_id: 'somebody' },
    }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
    'Group or user not found': async ({ make }) => ({
      ids: { id: await make('POST', '/v1/groups', { name: 'on call' }) },
      body: { user_id: newId() },
    }),
    'User is already a member': async ({ make, tenant }) => {
      const id = await make('POST', '/v1/groups', { name: 'on call' })
      const body = { user_id: tenant.people.user.user_id }
      await make('POST', `/v1/groups/${id}/members`, body)
      return { ids: { id }, body }
    },
  },
  14: {
    success: () => ({
      body: { locale: 'de', timezone: 'Europe/Berlin', date_format: 'YYYY-MM-DD', time_format: '24h' },
    }),
    'Validation error': () => ({ body: { timezone: '../../etc/passwd' } }),
    Unauthenticated: withoutCredential,
    Forbidden: () => ({ tenant_id: newId(), body: {} }),
  },
  15: {
    success: async (world) => ({ ids: { id: await makeRequest(world) }, as: world.tenant.people.user }),
    Unauthenticated: withoutCredential,
    'Request not found': nowhere(),
  },
  16: {
    success: async ({ make }) => ({
      ids: {
        id: await make('POST', '/v1/identity-providers', { name: 'people', provider_type: 'custom_scim', config: {} }),
      },
    }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
    'Not found': nowhere(),
  },
  17: {
    success: async ({ make }) => ({
      ids: { id: await make('POST', '/v1/api-keys', { name: 'a key', scopes: ['requests:create'] }) },
    }),
    Unauthenticated: withoutCredential,
    Forbidden: lacking(),
    'Not found': nowhere(),
  },
  18: { success: () => ({}), Unauthenticated: withoutCredential },
  19: {
    success: () => ({ body: { first_name: 'Ada', last_name: 'Lovelace', display_name: 'Ada', avatar_base64: null } }),
    'Invalid input (avatar too large)': () => ({ body: { avatar_base64: largeAvatar } }),
    'Invalid input (fields managed by the identity provider)': async (world) => ({
      as: await managedPerson(world),
      body: { first_name: 'Ada' },
    }),
    Unauthenticated: withoutCredential,
  },
  20: { success: () => ({}), Unauthenticated: withoutCredential, Forbidden: lacking() },
  21: {
    success: async ({ house, tenant }) => ({
      ids: { id: await house.notification(tenant.tenant_id, tenant.owner.user_id) },
    }),
    Unauthorized: withoutCredential,
    'Not Found': nowhere(),
  },
}
