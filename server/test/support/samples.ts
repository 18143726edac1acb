import { newId } from '../../src/kernel/id.ts'
import type { House, TestTenant } from './house.ts'
import { sampleBodies } from './sample-bodies.ts'
import { conflictPaths, makeConflicts } from './sample-conflicts.ts'
import { makeInventory } from './sample-inventory.ts'
import { makeOrphans, orphanPaths } from './sample-orphans.ts'
import { makeSyncRuns, syncPaths } from './sample-sync.ts'

/** A replay of the tenant: a new one, or the one that is running. */
async function replayOf(house: House, { tenant_id, owner }: TestTenant): Promise<string> {
  const [url, body] = ['/v1/policies/replay', sampleBodies.replayPolicies]
  const reply = await house.call({ method: 'POST', url, api_key: owner.api_key, tenant_id, body })
  return reply.status === 202 ? String(reply.body.id) : (reply.body.details as { replay_id: string }).replay_id
}

/** A second factor of the owner that waits to be confirmed: with a confirmed one, the password alone would not sign in. */
async function beginFactor(house: House, { tenant_id, owner }: TestTenant): Promise<string> {
  const [url, body] = ['/v1/users/me/second-factors', sampleBodies.beginSecondFactor]
  // Those of earlier records: a user has ten at most.
  await house.asSuperuser('delete from second_factor where user_id = $1 and confirmed_at is null', [owner.user_id])
  const reply = await house.call({ method: 'POST', url, token: owner.token, tenant_id, body })
  if (reply.status !== 201) throw new Error(`a second factor was not begun: ${reply.text}`)
  return String(reply.body.id)
}

/** A user whom no other test uses: a test may delete them. */
const passingUser = () => ({
  email: `passing-${newId()}@example.com`,
  name: 'Passing',
  roles: ['user'],
  auth_provider: 'oidc',
})

/** Whether a path names a record of a tenant by its id, rather than one of the keys that all tenants have. */
export function namesRecord(path: string): boolean {
  return /\{(?!setting_key|type)/.test(path)
}

/** Operations that make a record of any text in their path: the text of another tenant's record too, which stays as it is. */
export const makeOfAnyText: readonly string[] = ['describeAction']

/** One record of each kind that a path can address, in one tenant. */
export type Records = Record<string, Record<string, string>>

type Making = {
  house: House
  tenant: TestTenant
  /** Calls with this key; returns the answer's body. @throws Error where it is refused */
  send(api_key: string, method: string, url: string, body?: unknown): Promise<Record<string, unknown>>
  /** Creates by a call of the owner; returns the id. */
  create(url: string, body: unknown): Promise<string>
}

/** Makes records of one kind, as the tenant's own users would, and returns them by the paths that address them. */
type Maker = { paths: readonly string[]; make(making: Making): Promise<Records> }

/** In this order: without a policy, nobody may ask. */
const makers: readonly Maker[] = [
  maker(['/v1/policies/{id}', '/v1/policies/{id}/rules/{rule_id}'], async ({ create }) => {
    const id = await create('/v1/policies', { name: 'everybody may ask' })
    const rule_id = await create(`/v1/policies/${id}/rules`, { effect: 'permit' })
    return [{ id }, { id, rule_id }]
  }),
  maker(['/v1/requests/{id}', '/v1/access/requests/{id}'], async (making) => {
    const id = await ask(making)
    return [{ id }, { id }]
  }),
  maker(['/v1/grants/{id}'], async (making) => {
    const { send, tenant } = making
    const { user, approver } = tenant.people
    const id = await ask(making)
    await send(approver.api_key, 'POST', `/v1/requests/${id}/approve`, {})
    const { grants } = await send(user.api_key, 'GET', `/v1/access/requests/${id}`)
    const [grant] = grants as { id: string }[]
    if (grant === undefined) throw new Error('the approved request has no grant')
    return [{ id: grant.id }]
  }),
  maker(
    ['/v1/notification-channels/{id}', '/v1/notification-channels/{id}/deliveries/{delivery_id}'],
    async ({ send, create, tenant }) => {
      const id = await create('/v1/notification-channels/email', sampleBodies.createEmailChannel)
      const tested = await send(tenant.owner.api_key, 'POST', `/v1/notification-channels/${id}/test`)
      const [delivery] = tested.deliveries as { id: string }[]
      if (delivery === undefined) throw new Error('the channel that was tested has no delivery')
      return [{ id }, { id, delivery_id: delivery.id }]
    },
  ),
  maker(['/v1/identity-providers/{id}'], async ({ create }) => [
    { id: await create('/v1/identity-providers', sampleBodies.createIdentityProvider) },
  ]),
  maker(conflictPaths, ({ house, tenant }) => makeConflicts(house, tenant)),
  maker(syncPaths, ({ house, tenant }) => makeSyncRuns(house, tenant)),
  maker(['/v1/provisioners/{id}'], async ({ create }) => [
    { id: await create('/v1/provisioners', sampleBodies.createProvisioner) },
  ]),
  maker(
    ['/v1/provisioners/{id}/unmatched-users', '/v1/provisioners/{id}/standing-access'],
    async ({ house, tenant: { tenant_id } }) => {
      const id = await makeInventory(house, tenant_id)
      return [{ id }, { id }]
    },
  ),
  maker(orphanPaths, ({ house, tenant: { tenant_id } }) => makeOrphans(house, tenant_id)),
  maker(['/v1/settings/ai-providers/{type}'], async ({ send, tenant }) => {
    await send(tenant.owner.api_key, 'PUT', '/v1/settings/ai-provider-default', sampleBodies.setAiProviderDefault)
    return [{ type: 'provider_a' }]
  }),
  maker(['/v1/auth/back-channel-logout/{provider}'], async ({ send, tenant }) => {
    const body = sampleBodies.updateSignInSettings
    const { id } = await send(tenant.owner.api_key, 'PUT', '/v1/settings/sign-in', body)
    return [{ provider: String(id) }]
  }),
  maker(['/v1/policies/replay/{id}'], async ({ house, tenant }) => [{ id: await replayOf(house, tenant) }]),
  maker(['/v1/groups/{id}', '/v1/groups/{id}/members/{user_id}'], async ({ create, tenant }) => {
    const { user_id } = tenant.people.user
    const id = await create('/v1/groups', sampleBodies.createGroup)
    await create(`/v1/groups/${id}/members`, { user_id })
    return [{ id }, { id, user_id }]
  }),
  maker(['/v1/roles/{role_id}'], async ({ create }) => [
    { role_id: await create('/v1/roles', sampleBodies.createRole) },
  ]),
  maker(['/v1/actions/{action}'], async ({ send, tenant }) => {
    const action = newId()
    await send(tenant.owner.api_key, 'PUT', `/v1/actions/${action}`, { description: 'an act' })
    return [{ action }]
  }),
  maker(['/v1/users/{id}'], async ({ create }) => [{ id: await create('/v1/users', passingUser()) }]),
  maker(['/v1/users/{id}/invitations', '/v1/users/{id}/invitations/{invitation_id}'], async ({ send, tenant }) => {
    const body = { email: `invited-${newId()}@example.com`, name: 'Invited', roles: ['user'] }
    const { id, user_id } = await send(tenant.owner.api_key, 'POST', '/v1/invitations', body)
    return [{ id: String(user_id) }, { id: String(user_id), invitation_id: String(id) }]
  }),
  maker(['/v1/api-keys/{id}'], async ({ create }) => [{ id: await create('/v1/api-keys', sampleBodies.createApiKey) }]),
  maker(['/v1/users/me/notifications/{id}'], async ({ house, tenant }) => [
    { id: await house.notification(tenant.tenant_id, tenant.people.user.user_id) },
  ]),
  maker(['/v1/users/me/favourites/{id}'], async ({ house, tenant: { tenant_id, owner } }) => {
    const [url, body] = ['/v1/users/me/favourites', sampleBodies.addFavourite]
    const { body: made } = await house.call({ method: 'POST', url, token: owner.token, tenant_id, body })
    return [{ id: String(made.id) }]
  }),
  maker(['/v1/users/me/second-factors/{id}'], async ({ house, tenant }) => [{ id: await beginFactor(house, tenant) }]),
  maker(['/v1/users/me/sessions/{id}'], async ({ house, tenant }) => [
    { id: await house.session(tenant.tenant_id, tenant.owner.user_id) },
  ]),
  maker(['/v1/settings/{setting_key}'], async () => [{ setting_key: 'requests.require_reason' }]),
]

/** `make` returns what stands in the place of each path's placeholders. */
function maker(paths: readonly string[], make: (making: Making) => Promise<Record<string, string>[]>): Maker {
  return {
    paths,
    make: async (making) => {
      const made = await make(making)
      return Object.fromEntries(paths.map((path, index) => [path, made[index] ?? {}]))
    },
  }
}

async function ask({ send, tenant }: Making): Promise<string> {
  return String((await send(tenant.people.user.api_key, 'POST', '/v1/requests', sampleBodies.createRequest)).id)
}

/** Makes records of every kind, or only of those that this path addresses. */
export async function makeRecords(house: House, tenant: TestTenant, path?: string): Promise<Records> {
  const { tenant_id, owner } = tenant
  const send: Making['send'] = async (api_key, method, url, body) => {
    const reply = await house.call({ method, url, api_key, tenant_id, body })
    if (reply.status >= 300) throw new Error(`${method} ${url}: ${reply.status} ${reply.text}`)
    return reply.body
  }
  const create: Making['create'] = async (url, body) => String((await send(owner.api_key, 'POST', url, body)).id)
  const records: Records = {}
  for (const { paths, make } of makers) {
    if (path !== undefined && !paths.some((known) => path.startsWith(known))) continue
    Object.assign(records, await make({ house, tenant, send, create }))
  }
  return records
}

/** The path of an operation with a record's ids in it; throws for a kind of record that does not exist here. */
export function addressed(path: string, records: Records): string {
  if (!path.includes('{')) return path
  const prefix = Object.keys(records)
    .filter((known) => path.startsWith(known))
    .sort((a, b) => b.length - a.length)[0]
  if (prefix === undefined) throw new Error(`add a record for \`${path}\` to server/test/support/samples.ts`)
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => records[prefix]?.[name] ?? '')
}
