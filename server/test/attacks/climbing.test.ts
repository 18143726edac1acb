import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Scope } from '../../src/permissions/permission.ts'
import { systemRoles } from '../../src/roles/role.ts'
import { openHostileProvider } from '../support/hostile-provider.ts'
import { openHouse, type Person, type Reply } from '../support/house.ts'

/**
 * A user with one scope tries every way to gain another, for themselves, a friend, a key or a user who signs in. Afterwards no
 * user has a scope that they lacked before.
 */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const allScopes = systemRoles.admin.scopes

async function made(reply: Promise<Reply>): Promise<string> {
  const { status, body, text } = await reply
  assert.ok(status < 300, text)
  return String(body.id)
}

const everywhere = await house.tenant('climbing')
let stages = 0

/** A climber with one scope, a friend without further scopes, and records that would give more. */
async function openStage(scope: Scope, { tenant_id, owner } = everywhere) {
  stages += 1
  const stage = stages
  const call = (person: Pick<Person, 'token'>, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
  const asOwner = (method: string, url: string, body?: unknown) => made(call(owner, method, url, body))
  const user = (name: string) =>
    asOwner('POST', '/v1/users', {
      email: `${name}-${stage}@example.com`,
      name,
      roles: ['user'],
      auth_provider: 'oidc',
    })
  const role = await asOwner('POST', '/v1/roles', { name: 'one scope', scopes: [scope] })
  const friendsRole = await asOwner('POST', '/v1/roles', { name: 'a friend’s', scopes: [scope] })
  const strong = await asOwner('POST', '/v1/roles', { name: 'strong', scopes: ['policies:write', 'audit:read'] })
  const [climber, friend, admin] = [await user('climber'), await user('friend'), await user('admin')]
  await asOwner('PUT', `/v1/users/${climber}/roles`, { roles: [role] })
  await asOwner('PUT', `/v1/users/${friend}/roles`, { roles: [friendsRole] })
  await asOwner('PUT', `/v1/users/${admin}/roles`, { roles: ['admin'] })
  await asOwner('PATCH', `/v1/users/${admin}`, { active: false })
  const ownGroup = await asOwner('POST', '/v1/groups', { name: 'the climber’s' })
  await asOwner('POST', `/v1/groups/${ownGroup}/members`, { user_id: climber })
  const adminGroup = await asOwner('POST', '/v1/groups', { name: 'admins' })
  await asOwner('PUT', `/v1/groups/${adminGroup}/role-mappings`, { role_ids: ['admin'] })
  const provider = await asOwner('POST', '/v1/identity-providers', {
    ...{ name: 'a directory', provider_type: 'custom_scim', config: { token: 'a secret' } },
  })
  const ids = { role, friendsRole, strong, climber, friend, admin, ownGroup, adminGroup, provider }
  return { tenant_id, owner, call, ids, climber: await house.person(tenant_id, climber) }
}

type Ids = Awaited<ReturnType<typeof openStage>>['ids']
type Try = [method: string, url: string, body?: unknown]

/** Every way to gain a scope. */
function attempts({ role, friendsRole, strong, climber, friend, admin, ownGroup, adminGroup, provider }: Ids): Try[] {
  const newUser = (name: string, ...roles: string[]) => ({
    ...{ email: `${name}@example.com`, name, roles, auth_provider: 'oidc' },
  })
  return [
    ['POST', '/v1/users', newUser('new-admin', 'admin')],
    ['POST', '/v1/users', newUser('new-approver', 'approver')],
    ['POST', '/v1/users', { ...newUser('new-owner', 'user'), is_owner: true }],
    ['POST', '/v1/users', { ...newUser('new-other', 'user'), tenant_id: climber }],
    ...[climber, friend].flatMap((id): Try[] => [
      ['PUT', `/v1/users/${id}/roles`, { roles: ['admin'] }],
      ['PUT', `/v1/users/${id}/roles`, { roles: [role, strong] }],
      ['PUT', `/v1/users/${id}/roles`, { roles: [role, role.toUpperCase(), 'ADMIN'] }],
      ['PATCH', `/v1/users/${id}`, { is_owner: true }],
      ['PATCH', `/v1/users/${id}`, { roles: ['admin'] }],
      ['POST', `/v1/groups/${adminGroup}/members`, { user_id: id }],
    ]),
    ['PATCH', `/v1/users/${admin}`, { active: true }],
    ['POST', '/v1/roles', { name: 'all', scopes: allScopes }],
    ['PATCH', `/v1/roles/${role}`, { scopes: allScopes }],
    ['PATCH', `/v1/roles/${friendsRole}`, { scopes: allScopes }],
    ['PATCH', '/v1/roles/user', { scopes: allScopes }],
    ['PATCH', `/v1/roles/${friendsRole}`, { id: 'user', system: true }],
    ['PUT', `/v1/groups/${ownGroup}/role-mappings`, { role_ids: ['admin'] }],
    ['PUT', `/v1/groups/${ownGroup}/role-mappings`, { role_ids: [strong] }],
    ['PATCH', `/v1/groups/${ownGroup}`, { source: 'scim' }],
    ['PATCH', `/v1/groups/${ownGroup}`, { role_mappings: ['admin'] }],
    ['POST', '/v1/api-keys', { name: 'all', scopes: allScopes }],
    ['POST', '/v1/api-keys', { name: 'scim', scopes: ['scim:provision'] }],
    ['POST', '/v1/api-keys', { name: 'scim', identity_provider_id: provider }],
    ['POST', '/v1/api-keys', { name: 'of others', scopes: ['audit:read'], created_by: admin }],
    ['PUT', '/v1/users/me/profile', { roles: ['admin'] }],
    ['PUT', '/v1/users/me/profile', { is_owner: true }],
    ['PATCH', '/v1/users/me/preferences', { roles: ['admin'] }],
    [
      'PUT',
      '/v1/settings/sign-in',
      {
        ...{ issuer: 'http://127.0.0.1:9', client_id: 'mine', redirect_uris: ['https://evil.example/back'] },
        client_secret: 'mine',
      },
    ],
  ]
}

/** The scopes of users and keys, read from the tables: `name scope`. */
async function standing(tenant_id: string): Promise<Set<string>> {
  const rows = await house.asSuperuser<{ who: string; scope: string }>(
    `with held as (
        select user_id, role_id from user_role where tenant_id = $1
        union select m.user_id, g.role_id from group_member m join group_role g using (tenant_id, group_id)
          where m.tenant_id = $1),
      scopes as (
        select h.user_id, unnest(r.scopes) as scope from held h join role r on r.tenant_id = $1 and r.id = h.role_id)
    select u.name as who, s.scope from tenant_user u join scopes s on s.user_id = u.id
      where u.tenant_id = $1 and u.active
    union select 'key ' || k.name, scope from api_key k, unnest(k.scopes) as scope where k.tenant_id = $1
    union select u.name, 'owner' from tenant_user u where u.tenant_id = $1 and u.is_owner
    union select 'those whom ' || issuer || ' names', 'sign-in' from sign_in_setting where tenant_id = $1`,
    [tenant_id],
  )
  return new Set(rows.map(({ who, scope }) => `${who}: ${scope}`))
}

suite('a user with one scope', () => {
  // A read scope changes nothing: one of them is enough.
  for (const scope of allScopes.filter((one) => !one.endsWith(':read') || one === 'users:read')) {
    test(`${scope}, gains no other in any way (P1, P4, P9, P10, P12)`, async () => {
      const { tenant_id, call, climber, ids } = await openStage(scope)
      const before = await standing(tenant_id)
      for (const [method, url, body] of attempts(ids)) {
        const reply = await call(climber, method, url, body)
        assert.ok(reply.status >= 400 && reply.status < 500, `${method} ${url} ${JSON.stringify(body)}: ${reply.text}`)
      }
      assert.deepEqual([...(await standing(tenant_id))].sort(), [...before].sort())
    })
  }

  test('api_keys:write, makes keys with only that scope, and keys of those have no more (P4)', async () => {
    const { tenant_id, call, climber } = await openStage('api_keys:write')
    let key: string | undefined
    for (let generation = 0; generation < 3; generation += 1) {
      const body = { name: `generation ${generation}`, scopes: ['api_keys:write'] }
      const credential = key === undefined ? { token: climber.token } : { api_key: key }
      const reply = await house.call({ method: 'POST', url: '/v1/api-keys', tenant_id, body, ...credential })
      assert.equal(reply.status, 201, reply.text)
      key = String(reply.body.key)
      const wider = { name: 'wider', scopes: ['api_keys:write', 'users:write'] }
      const refused = await house.call({ method: 'POST', url: '/v1/api-keys', tenant_id, body: wider, api_key: key })
      assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    }
    assert.equal((await call(climber, 'GET', '/v1/users')).status, 403)
  })
})

suite('the settings that weaken a tenant’s protection', () => {
  test('are only the named ones, and the log has the old and the new value (P12)', async () => {
    const { tenant_id, owner, call } = await openStage('settings:write', await house.tenant('settings'))
    for (const key of ['requests.approval', 'auth.session_seconds', 'sign-in.issuer', 'oidc.issuer', 'tenant.owner']) {
      const reply = await call(owner, 'PUT', `/v1/settings/${key}`, { value: 'off' })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], key)
    }
    for (const value of ['12', '8']) {
      assert.equal((await call(owner, 'PUT', '/v1/settings/auth.password_min_length', { value })).status, 200)
    }
    const events = await house.asSuperuser<{ data: unknown }>(
      `select data from event where tenant_id = $1 and type = 'setting.updated' order by seq`,
      [tenant_id],
    )
    assert.deepEqual(
      events.map(({ data }) => data),
      [
        { old: null, new: '12' },
        { old: '12', new: '8' },
      ],
    )
  })

  test('that decide who users are need every scope; switching off needs less (P12)', async () => {
    const { tenant_id, owner, call, climber } = await openStage('settings:write', await house.tenant('sign-in'))
    const { issuer } = (await openHostileProvider()).realm()
    const set = {
      ...{ issuer, client_id: 'ours', client_secret: 'ours' },
      redirect_uris: ['https://app.example.com/back', 'https://app.example.com/other'],
    }
    const put = (who: Pick<Person, 'token'>, change: object) =>
      call(who, 'PUT', '/v1/settings/sign-in', { ...set, ...change })
    assert.equal((await put(owner, {})).status, 200)
    for (const change of [
      { issuer: 'http://127.0.0.1:10' },
      { client_id: 'mine' },
      { redirect_uris: ['https://evil.example/back'] },
      { redirect_uris: [...set.redirect_uris, 'https://evil.example/back'] },
      { enabled: false, issuer: 'http://127.0.0.1:10' },
      { email_trust: 'always' },
      { subject_claim: 'oid' },
    ]) {
      const reply = await put(climber, change)
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], JSON.stringify(change))
    }
    const refusals = await house.asSuperuser(
      `select id from event where tenant_id = $1 and type = 'access.refused' and subject_id = 'sign-in'`,
      [tenant_id],
    )
    assert.equal(refusals.length, 7)
    const narrower = { client_secret: '[redacted]', redirect_uris: set.redirect_uris.slice(0, 1) }
    for (const change of [{ enabled: false }, { enabled: true }, narrower]) {
      assert.equal((await put(climber, { client_secret: '[redacted]', ...change })).status, 200)
    }
    // A key of an admin with only the settings scope cannot set the provider.
    const key = await call(owner, 'POST', '/v1/api-keys', { name: 'a key', scopes: ['settings:write'] })
    const body = { ...set, issuer: 'http://127.0.0.1:10' }
    const byKey = { method: 'PUT', url: '/v1/settings/sign-in', tenant_id, body, api_key: String(key.body.key) }
    assert.equal((await house.call(byKey)).status, 403)
  })
})
