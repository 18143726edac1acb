import { newId } from '../../src/kernel/id.ts'
import type { House, TestTenant } from './house.ts'

const policyCase = {
  case: 'anybody may ask',
  asks: 'ReadOnly',
  resource: { type: 'cloud_account', id: '123456789012' },
  expect: 'permit',
}

/** A valid body for each operation that takes one, so that a test changes only what it is about. */
export const sampleBodies: Record<string, unknown> = {
  addGroupMember: { user_id: '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11' },
  approveRequest: {},
  beginSecondFactor: { kind: 'totp' },
  cancelRequest: {},
  changeOwnPassword: { current_password: 'a long enough password', new_password: 'a longer one than that' },
  checkInvariants: {
    draft: { changes: [] },
    checks: [
      {
        no_auto_approval: {
          resources: [{ scope_type: 'eq', entity_type: 'cloud_account', entity_id: '123456789012' }],
        },
      },
      { permits_nothing_new: true },
    ],
  },
  confirmSecondFactor: { totp: '123456' },
  createApiKey: { name: 'a key', scopes: ['requests:create'] },
  createEmailChannel: { name: 'a channel', to_addresses: ['somebody@example.com', 'somebody-else@example.com'] },
  createIdentityProvider: { name: 'a provider', provider_type: 'custom_scim', config: { token: 'a secret' } },
  createGroup: { name: 'a group' },
  createPolicy: { name: 'a policy' },
  createProvisioner: { name: 'a provisioner', provisioner_type: 'sandbox' },
  createRequest: { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly' },
  createRole: { name: 'a role', scopes: ['requests:create'] },
  createRule: { effect: 'permit' },
  createWebhookChannel: { name: 'a receiver', url: 'https://hooks.example.com/events', enabled: false },
  createUser: {
    email: 'somebody@example.com',
    name: 'Somebody',
    roles: ['user'],
    password: 'correct horse battery',
  },
  denyRequest: {},
  exchangeAuthorizationCode: { code: 'a code', redirect_uri: 'https://app.example.com/back' },
  finishSecondFactor: { challenge: 'a challenge', totp: '123456' },
  checkSetupLink: { key: 'a key' },
  useSetupLink: { key: 'a key', name: 'Anna', email: 'anna@example.com', password: 'four random words here' },
  importPolicy: { cedar: 'permit (principal, action, resource);' },
  login: { email: 'owner@example.com', password: 'a long enough password' },
  markAllNotificationsRead: {},
  markNotificationRead: {},
  previewRequest: { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly' },
  // No token: a provider would have to sign one.
  receiveLogoutToken: { logout_token: 'a token' },
  reorderPolicies: { ids: ['018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11'] },
  reorderRules: { ids: ['018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11'] },
  replacePolicyCases: { cases: [policyCase] },
  replayPolicies: { draft: { changes: [] } },
  reportAccessResult: {
    type: 'access.result',
    data: { id: '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11', status: 'done' },
  },
  retryGrant: {},
  revokeGrant: {},
  rotateChannelSecret: {},
  rotateProvisionerSecret: {},
  setGroupRoleMappings: { role_ids: [] },
  setUserRoles: { roles: ['user'] },
  setAiProviderConfig: { config: { model: 'a model', api_key: 'a secret' } },
  setAiProviderDefault: { type: 'provider_a' },
  testPolicies: { cases: [policyCase] },
  updateIdentityProvider: { name: 'another name' },
  updateNotificationChannel: { name: 'another name' },
  updateGroup: { name: 'another name' },
  updateOwnPreferences: { time_format: '24h' },
  updateOwnProfile: { display_name: 'Me' },
  updatePolicy: { name: 'another name' },
  updateProvisioner: { name: 'another name' },
  updateRole: { name: 'another name' },
  updateRule: { notice: 'another notice' },
  updateSignInSettings: {
    enabled: false,
    issuer: 'https://id.example.com',
    client_id: 'sallyport',
    client_secret: 'a secret',
    redirect_uris: ['https://app.example.com/back'],
  },
  updateUser: { name: 'another name' },
  upsertCloudAccounts: { resources: [] },
  upsertSetting: { value: 'true' },
}

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

/** One record of each kind that a path can address, in one tenant. */
export type Records = Record<string, Record<string, string>>

/** Creates them as the tenant's own users would: a policy with a rule, a request, its grant, a key, a notification. */
export async function makeRecords(house: House, tenant: TestTenant): Promise<Records> {
  const { tenant_id, owner, people } = tenant
  const as = async (api_key: string, method: string, url: string, body: unknown) => {
    const reply = await house.call({ method, url, api_key, tenant_id, body })
    if (reply.status >= 300) throw new Error(`${method} ${url}: ${reply.status} ${reply.text}`)
    return String(reply.body.id)
  }
  const policy = await as(owner.api_key, 'POST', '/v1/policies', { name: 'everybody may ask' })
  const rule = await as(owner.api_key, 'POST', `/v1/policies/${policy}/rules`, { effect: 'permit' })
  const request = await as(people.user.api_key, 'POST', '/v1/requests', sampleBodies.createRequest)
  const approved = await as(people.user.api_key, 'POST', '/v1/requests', sampleBodies.createRequest)
  await as(people.approver.api_key, 'POST', `/v1/requests/${approved}/approve`, {})
  const status = await house.call({
    method: 'GET',
    url: `/v1/access/requests/${approved}`,
    api_key: people.user.api_key,
    tenant_id,
  })
  const [grant] = status.body.grants as { id: string }[]
  if (grant === undefined) throw new Error('the approved request has no grant')
  const channel = await as(owner.api_key, 'POST', '/v1/notification-channels/email', sampleBodies.createEmailChannel)
  const tested = await house.call({
    method: 'POST',
    url: `/v1/notification-channels/${channel}/test`,
    api_key: owner.api_key,
    tenant_id,
  })
  const [delivery] = tested.body.deliveries as { id: string }[]
  if (delivery === undefined) throw new Error('the channel that was tested has no delivery')
  const provider = await as(owner.api_key, 'POST', '/v1/identity-providers', sampleBodies.createIdentityProvider)
  const provisioner = await as(owner.api_key, 'POST', '/v1/provisioners', sampleBodies.createProvisioner)
  await as(owner.api_key, 'PUT', '/v1/settings/ai-provider-default', sampleBodies.setAiProviderDefault)
  const signIn = await as(owner.api_key, 'PUT', '/v1/settings/sign-in', sampleBodies.updateSignInSettings)
  const replay = await replayOf(house, tenant)
  const group = await as(owner.api_key, 'POST', '/v1/groups', sampleBodies.createGroup)
  await as(owner.api_key, 'POST', `/v1/groups/${group}/members`, { user_id: people.user.user_id })
  return {
    '/v1/notification-channels/{id}': { id: channel },
    '/v1/notification-channels/{id}/deliveries/{delivery_id}': { id: channel, delivery_id: delivery.id },
    '/v1/identity-providers/{id}': { id: provider },
    '/v1/provisioners/{id}': { id: provisioner },
    '/v1/settings/ai-providers/{type}': { type: 'provider_a' },
    '/v1/requests/{id}': { id: request },
    '/v1/access/requests/{id}': { id: request },
    '/v1/grants/{id}': { id: grant.id },
    '/v1/policies/{id}/rules/{rule_id}': { id: policy, rule_id: rule },
    '/v1/policies/{id}': { id: policy },
    '/v1/policies/replay/{id}': { id: replay },
    '/v1/roles/{role_id}': { role_id: await as(owner.api_key, 'POST', '/v1/roles', sampleBodies.createRole) },
    '/v1/groups/{id}': { id: group },
    '/v1/groups/{id}/members/{user_id}': { id: group, user_id: people.user.user_id },
    '/v1/users/{id}': { id: await as(owner.api_key, 'POST', '/v1/users', passingUser()) },
    '/v1/api-keys/{id}': { id: await as(owner.api_key, 'POST', '/v1/api-keys', sampleBodies.createApiKey) },
    '/v1/users/me/notifications/{id}': { id: await house.notification(tenant_id, people.user.user_id) },
    '/v1/users/me/second-factors/{id}': { id: await beginFactor(house, tenant) },
    '/v1/users/me/sessions/{id}': { id: await house.session(tenant_id, owner.user_id) },
    '/v1/auth/back-channel-logout/{provider}': { provider: signIn },
    '/v1/settings/{setting_key}': { setting_key: 'requests.require_reason' },
  }
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
