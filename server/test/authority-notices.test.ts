import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { newId } from '../src/kernel/id.ts'
import { makeSetupLink } from '../src/tenants/setup-link.flow.ts'
import { firstOwnerEmail } from '../src/users/owner-store.ts'
import { listenToAuthority } from './support/authority-notices.ts'
import { openHouse, operations } from './support/house.ts'
import { browserOf, presentedTo } from './support/presented.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { makeConflicts } from './support/sample-conflicts.ts'
import { addressed, makeRecords } from './support/samples.ts'

/**
 * Which changes notify other processes that rights changed, and which do not. The database's triggers notify; operations that
 * declare that they change rights also clear their own process's cache before they answer.
 */
const house = await openHouse()
const tenant = await house.tenant('rights')
const { tenant_id, owner, people } = tenant
const other = await house.tenant('statements')
const otherRecords = await makeRecords(house, other)
const noticesOf = await listenToAuthority(house)

const call = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, tenant_id, token: owner.token, ...(body !== undefined && { body }) })

async function make(url: string, body: unknown): Promise<string> {
  const reply = await call('POST', url, body)
  assert.equal(reply.status, 201, reply.text)
  return String(reply.body.id)
}

const aUser = () => ({ email: `${newId()}@example.com`, name: 'X', roles: ['user'], auth_provider: 'oidc' })
const someUser = () => make('/v1/users', aUser())
const someGroup = () => make('/v1/groups', { name: 'a group' })

/** A provisioner that gives real access: with it the tenant goes live. */
const realProvisioner = {
  ...{ name: 'real', provisioner_type: 'webhook', config: { url: 'https://hooks.example.com/access' } },
  serves: [{ resource_type: 'cloud_account' }],
}

/** No tenant goes back by itself: the database refuses it. */
const backToRehearsal = () =>
  house.asSuperuser(`alter table tenant disable trigger tenant_mode;
    update tenant set mode = 'rehearsal', live_since = null where id = '${tenant_id}';
    alter table tenant enable trigger tenant_mode`)

/** Calls of another user about their own second factors, signed in with one. */
const aColleague = async (method: string, url: string, body?: unknown) => {
  const { token } = await house.signInAgain(tenant_id, people.approver)
  return house.call({ method, url, token, tenant_id, ...(body !== undefined && { body }) })
}
const codeFor = ({ body }: Awaited<ReturnType<typeof aColleague>>) =>
  new TOTP({ secret: Secret.fromBase32((body.totp as { secret: string }).secret) }).generate()

/** Each operation that declares that it changes rights, with a call that does so. */
const changing: Record<string, () => Promise<() => ReturnType<typeof call>>> = {
  createUser: async () => () => call('POST', '/v1/users', aUser()),
  createInvitation: async () => () => call('POST', '/v1/invitations', sampleBodies.createInvitation),
  updateUser: async () => {
    const id = await someUser()
    return () => call('PATCH', `/v1/users/${id}`, { active: false })
  },
  deleteUser: async () => {
    const id = await someUser()
    return () => call('DELETE', `/v1/users/${id}`)
  },
  suspendUser: async () => {
    const id = await someUser()
    return () => call('POST', `/v1/users/${id}/suspend`)
  },
  unsuspendUser: async () => {
    const id = await someUser()
    await call('POST', `/v1/users/${id}/suspend`)
    return () => call('POST', `/v1/users/${id}/unsuspend`)
  },
  setUserRoles: async () => {
    const id = await someUser()
    return () => call('PUT', `/v1/users/${id}/roles`, { roles: ['user', 'approver'] })
  },
  updateRole: async () => {
    const id = await make('/v1/roles', { name: 'a role', scopes: ['requests:create', 'grants:read'] })
    return () => call('PATCH', `/v1/roles/${id}`, { scopes: ['grants:read'] })
  },
  deleteGroup: async () => {
    const id = await someGroup()
    await call('POST', `/v1/groups/${id}/members`, { user_id: people.user.user_id })
    return () => call('DELETE', `/v1/groups/${id}`)
  },
  addGroupMember: async () => {
    const id = await someGroup()
    return () => call('POST', `/v1/groups/${id}/members`, { user_id: people.user.user_id })
  },
  removeGroupMember: async () => {
    const id = await someGroup()
    await call('POST', `/v1/groups/${id}/members`, { user_id: people.user.user_id })
    return () => call('DELETE', `/v1/groups/${id}/members/${people.user.user_id}`)
  },
  setGroupRoleMappings: async () => {
    const id = await someGroup()
    return () => call('PUT', `/v1/groups/${id}/role-mappings`, { role_ids: ['user'] })
  },
  revokeApiKey: async () => {
    const id = await make('/v1/api-keys', sampleBodies.createApiKey)
    return () => call('DELETE', `/v1/api-keys/${id}`)
  },
  updateIdentityProvider: async () => {
    const id = await make('/v1/identity-providers', sampleBodies.createIdentityProvider)
    return () => call('PATCH', `/v1/identity-providers/${id}`, { enabled: false })
  },
  deleteIdentityProvider: async () => {
    const id = await make('/v1/identity-providers', sampleBodies.createIdentityProvider)
    await make('/v1/api-keys', { name: 'a SCIM key', identity_provider_id: id })
    return () => call('DELETE', `/v1/identity-providers/${id}`)
  },
  createRehearsal: async () => () => call('POST', '/v1/rehearsal', {}),
  goLive: async () => () => call('POST', '/v1/tenant/go-live', { confirm: 'rights' }),
  createProvisioner: async () => {
    await backToRehearsal()
    return () => call('POST', '/v1/provisioners', realProvisioner)
  },
  updateProvisioner: async () => {
    const id = await make('/v1/provisioners', {
      ...realProvisioner,
      serves: [{ resource_type: 'cloud_db_instance' }],
      enabled: false,
    })
    await backToRehearsal()
    return () => call('PATCH', `/v1/provisioners/${id}`, { enabled: true })
  },
  confirmSecondFactor: async () => {
    const begun = await aColleague('POST', '/v1/users/me/second-factors', sampleBodies.beginSecondFactor)
    return () => aColleague('POST', `/v1/users/me/second-factors/${begun.body.id}/confirm`, { totp: codeFor(begun) })
  },
  deleteSecondFactor: async () => {
    const { body } = await aColleague('GET', '/v1/users/me/second-factors')
    const [factor] = body.data as { id: string }[]
    return () => aColleague('DELETE', `/v1/users/me/second-factors/${factor?.id}`)
  },
  resetSecondFactors: async () => {
    const begun = await aColleague('POST', '/v1/users/me/second-factors', sampleBodies.beginSecondFactor)
    await aColleague('POST', `/v1/users/me/second-factors/${begun.body.id}/confirm`, { totp: codeFor(begun) })
    return () => call('DELETE', `/v1/users/${people.approver.user_id}/second-factors`)
  },
  settleConflict: async () => {
    const [, , { id, conflict_id } = {}] = await makeConflicts(house, tenant)
    const user_id = await someUser()
    // Whom the directory says to be stopped.
    await house.asSuperuser(
      `update directory_conflict set resource = '{"userName": "gone@example.com", "active": false}' where id = $1`,
      [conflict_id],
    )
    const url = `/v1/identity-providers/${id}/conflicts/${conflict_id}/settle`
    return () => call('POST', url, { user_id })
  },
  upsertSetting: async () => () => call('PUT', '/v1/settings/auth.second_factor_required', { value: 'false' }),
  updateSignInSettings: async () => {
    // Disabled, so that no issuer is tried.
    const setting = { enabled: false, client_id: 'ours', redirect_uris: ['https://app.example.com/back'] }
    const set = (issuer: string) => call('PUT', '/v1/settings/sign-in', { ...setting, issuer })
    const { body } = await set('https://former.example.com')
    const sid = await house.session(tenant_id, people.user.user_id)
    await house.asSuperuser('update user_session set provider = $1 where id = $2', [body.id, sid])
    return () => set('https://next.example.com')
  },
  changeOwnPassword: async () => {
    await house.session(tenant_id, owner.user_id)
    return () => call('POST', '/v1/users/me/password', sampleBodies.changeOwnPassword)
  },
  startSession: async () => {
    // The session that the browser had before ends.
    const headers = await browserOf(house, tenant_id, owner.user_id)
    const { token } = await house.signInAgain(tenant_id, owner)
    return () => house.call({ method: 'POST', url: '/v1/auth/session', tenant_id, token, headers })
  },
  logout: async () => {
    const { token } = await house.signInAgain(tenant_id, owner)
    return () => house.call({ method: 'POST', url: '/v1/auth/logout', tenant_id, token })
  },
  endOwnSession: async () => {
    const id = await house.session(tenant_id, owner.user_id)
    return () => call('DELETE', `/v1/users/me/sessions/${id}`)
  },
  endOwnOtherSessions: async () => {
    await house.session(tenant_id, owner.user_id)
    return () => call('DELETE', '/v1/users/me/sessions')
  },
  useSetupLink: async () => {
    const become = 'update tenant_user set is_owner = true, email_key = $2 where id = $1'
    await house.asSuperuser(become, [people.auditor.user_id, firstOwnerEmail])
    const { url } = await makeSetupLink(house.database, { public_url: '', tenant_id })
    const body = { ...(sampleBodies.useSetupLink as object), key: url.split('#k=')[1] }
    return () => house.call({ method: 'POST', url: '/v1/auth/setup-link', body })
  },
}

test('every operation that declares that it changes rights is tested here, and only these', () => {
  const declared = Object.keys(operations).filter((operationId) => operations[operationId]?.changes === 'authority')
  assert.deepEqual(declared.sort(), Object.keys(changing).sort())
})

for (const [operationId, prepare] of Object.entries(changing)) {
  test(`${operationId} changes rights, and the database notifies of it`, async () => {
    const act = await prepare()
    const notified = await noticesOf(async () => {
      const reply = await act()
      assert.ok(reply.status < 300, reply.text)
    })
    assert.deepEqual([...new Set(notified)], [tenant_id])
  })
}

test('no operation changes rights without declaring it', async () => {
  const records = await makeRecords(house, tenant)
  const silent: string[] = []
  for (const [operationId, operation] of Object.entries(operations)) {
    const url = addressed(operation.path, records)
    const body = operation.body === undefined ? undefined : sampleBodies[operationId]
    // Some calls end sessions, so each has a new one.
    const credential = presentedTo(operation, await house.signInAgain(tenant_id, owner))
    const notified = await noticesOf(() =>
      house.call({ method: operation.method, url, tenant_id, ...credential, ...(body !== undefined && { body }) }),
    )
    if (notified.length > 0 && operation.changes === undefined) silent.push(operationId)
  }
  assert.deepEqual(silent, [], "add `changes: 'authority'`")
})

const given = `(tenant_id, user_id, role_id) values ('${other.tenant_id}', '${other.people.auditor.user_id}'`
const mapped = `(tenant_id, group_id, role_id) values ('${other.tenant_id}', '${otherRecords['/v1/groups/{id}']?.id}'`
const whose = `where tenant_id = '${other.tenant_id}'`
const claimed = `insert into group_mapping (tenant_id, id, value, group_id, vouched_scopes)
    values ('${other.tenant_id}', gen_random_uuid(), 'v', '${otherRecords['/v1/groups/{id}']?.id}', '{}');
  update group_member set given_at = now(), expires_at = now() + interval '1 hour',
    mapping_id = (select id from group_mapping ${whose}) ${whose}`
const statements: [says: string, text: string, notifies: boolean][] = [
  ['a key is used', `update api_key set last_used_at = clock_timestamp() ${whose}`, false],
  ['a key is revoked', `update api_key set revoked_at = clock_timestamp() ${whose}`, true],
  ['a key’s end is moved', `update api_key set expires_at = clock_timestamp() ${whose}`, true],
  ['a key’s scopes change', `update api_key set scopes = '{}' ${whose}`, true],
  ['a key is deleted', `delete from api_key ${whose}`, true],
  ['a user’s profile changes', `update tenant_user set name = 'Y', updated_at = clock_timestamp() ${whose}`, false],
  ['a user is active as before', `update tenant_user set active = active ${whose}`, false],
  ['a user is suspended', `update tenant_user set suspended_until = now() ${whose} and not is_owner`, true],
  ['a user is deactivated', `update tenant_user set active = false ${whose} and not is_owner`, true],
  ['a role has another name', `update role set name = 'Z' ${whose} and not system`, false],
  ['a role has other scopes', `update role set scopes = '{}' ${whose} and not system`, true],
  ['a role is removed', `delete from user_role ${whose} and role_id = 'auditor'`, true],
  ['a role is given', `insert into user_role ${given}, 'auditor')`, true],
  ['a role is replaced', `update user_role set role_id = 'approver' ${whose} and role_id = 'auditor'`, true],
  ['a group has another name', `update tenant_group set name = 'Z' ${whose}`, false],
  ['members are not notified', `update tenant_group set members_notified = false ${whose}`, false],
  ['a group gives a role', `insert into group_role ${mapped}, 'user')`, true],
  ['a claim gives a membership', claimed, true],
  ['a membership goes on', `update group_member set expires_at = expires_at + interval '1 hour' ${whose}`, false],
  ['a membership ends earlier', `update group_member set expires_at = now() ${whose}`, true],
  ['a membership ends', `delete from group_member ${whose}`, true],
  ['a group gives a role no longer', `delete from group_role ${whose}`, true],
  ['a session is used', `update user_session set last_used_at = clock_timestamp() ${whose}`, false],
  ['a session lives on', `update user_session set live_until = ends_at ${whose}`, false],
  ['a session is ended', `delete from user_session ${whose} and user_id = '${other.owner.user_id}'`, true],
  ['sessions end by themselves', `update user_session set live_until = clock_timestamp() ${whose}`, false],
  ['sessions that ended are cleared away', `delete from user_session ${whose}`, false],
  ['a second factor is used', `update second_factor set last_used_at = clock_timestamp() ${whose}`, false],
  ['a second factor counts', `update second_factor set confirmed_at = clock_timestamp() ${whose}`, true],
  ['a second factor is removed', `delete from second_factor ${whose}`, true],
  ['a tenant goes live', `update tenant set mode = 'live', live_since = now() where id = '${other.tenant_id}'`, true],
  ['a tenant is suspended', `update tenant set suspended_at = now() where id = '${other.tenant_id}'`, true],
  ['a tenant is resumed', `update tenant set suspended_at = null where id = '${other.tenant_id}'`, true],
  ['a tenant has another name', `update tenant set name = 'Z' where id = '${other.tenant_id}'`, false],
]
for (const [says, text, notifies] of statements) {
  test(`the database ${notifies ? 'notifies' : 'does not notify'} that ${says}`, async () => {
    assert.deepEqual(await noticesOf(() => house.asSuperuser(text)), notifies ? [other.tenant_id] : [])
  })
}

test('requests, approvals and their results send no notice: a notice would make commits wait for each other', async () => {
  const triggers = await house.asSuperuser<{ name: string }>(
    `select distinct tgrelid::regclass::text as name from pg_trigger t join pg_proc f on f.oid = t.tgfoid
      where f.proname in ('authority_changed', 'tenant_authority_changed') order by 1`,
  )
  const users = ['group_member', 'group_role', 'role', 'second_factor', 'setting', 'tenant', 'tenant_user', 'user_role']
  const tables = ['api_key', ...users, 'user_session', 'identity_provider'].sort()
  assert.deepEqual(
    triggers.map(({ name }) => name),
    tables,
  )
})
