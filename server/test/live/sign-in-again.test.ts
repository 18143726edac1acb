import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { operations, type Person, type Reply } from '../support/house.ts'
import { openFactorStage } from '../support/second-factor-stage.ts'

/** In a live tenant, a change of who may do what needs a sign-in within the hour. */
const { house, goLive } = await openFactorStage()
const tenant = await house.tenant('live')
await goLive(tenant)
const rehearsing = await house.tenant('rehearsing')

/** Moves the sign-in of the user's sessions into the past. */
const age = ({ user_id }: Person, seconds: number) =>
  house.asSuperuser(
    `update user_session set auth_time = clock_timestamp() - make_interval(secs => $2) where user_id = $1`,
    [user_id, seconds],
  )
const call = (by: object, method: string, url: string, body?: unknown, of = tenant) =>
  house.call({ method, url, tenant_id: of.tenant_id, ...by, ...(body !== undefined && { body }) })
const token = { token: tenant.owner.token }
const asksAgain = ({ status, body, text }: Reply) => {
  assert.deepEqual([status, body.code], [403, 'sign_in_again'], text)
  assert.deepEqual(body.details, { max_age: 3_600, acr: null })
}

/** Every change of who may do what, and where. */
const fresh = [
  ...['createPolicy', 'updatePolicy', 'deletePolicy', 'reorderPolicies', 'importPolicy', 'replacePolicyCases'],
  ...['createRule', 'updateRule', 'deleteRule', 'reorderRules', 'describeAction', 'removeActionDescription'],
  ...['createRole', 'updateRole', 'deleteRole', 'setUserRoles', 'setGroupRoleMappings', 'resetSecondFactors'],
  ...['createUser', 'createInvitation', 'inviteUser', 'addGroupMember', 'unsuspendUser'],
  ...['createApiKey', 'revokeApiKey'],
  ...['createIdentityProvider', 'updateIdentityProvider', 'deleteIdentityProvider', 'updateSignInSettings'],
  ...['createProvisioner', 'updateProvisioner', 'deleteProvisioner', 'rotateProvisionerSecret', 'testProvisioner'],
  'endOrphan',
  'refreshInventory',
  'settleConflict',
]

suite('a sign-in that is older than an hour', () => {
  test('is asked for again by exactly these operations', () => {
    const found = Object.entries(operations).filter(([, { freshSignIn }]) => freshSignIn)
    assert.deepEqual(found.map(([name]) => name).sort(), [...fresh].sort())
  })

  test('is asked for again by every write under the scopes that decide who may do what', () => {
    const scopes = ['policies', 'roles', 'api_keys', 'identity_providers', 'provisioners'].map(
      (noun) => `${noun}:write`,
    )
    const more = [
      ...['setUserRoles', 'setGroupRoleMappings', 'updateSignInSettings', 'resetSecondFactors'],
      // It gives a user to a directory.
      'settleConflict',
      // They give roles, or give them back.
      ...['createUser', 'createInvitation', 'inviteUser', 'addGroupMember', 'unsuspendUser'],
    ]
    for (const [name, { method, scope, freshSignIn }] of Object.entries(operations)) {
      assert.equal(freshSignIn, more.includes(name) || (method !== 'GET' && scopes.includes(scope ?? '')), name)
    }
  })

  for (const [name, { method, path, credential, scope }] of Object.entries(operations)) {
    if (credential === 'none' || credential === 'tenant' || path.startsWith('/v1/auth/')) continue
    const isFresh = fresh.includes(name)
    test(`${isFresh ? 'does not reach' : 'reaches'} ${name}`, async () => {
      await age(tenant.owner, 3_601)
      // The body is no JSON, so that nothing is changed where it is read.
      const url = path.replaceAll(/\{\w+\}/g, newId())
      const send = (by: object, of = tenant) => call(by, method, url, method === 'GET' ? undefined : '{', of)
      const reply = await send(token)
      if (isFresh) asksAgain(reply)
      // The operations of second factors ask for it themselves, in rehearsal too.
      else if (!path.includes('/users/me/')) assert.notEqual(reply.body.code, 'sign_in_again', scope ?? '')
      if (!isFresh) return
      assert.notEqual((await send({ api_key: tenant.owner.api_key })).body.code, 'sign_in_again', 'an API key')
      await age(rehearsing.owner, 3_601)
      const there = await send({ token: rehearsing.owner.token }, rehearsing)
      assert.notEqual(there.body.code, 'sign_in_again', 'a tenant in rehearsal')
    })
  }
})

suite('the age of a sign-in', () => {
  const create = (by: object = token) => call(by, 'POST', '/v1/roles', { name: `role ${newId()}`, scopes: [] })
  const roles = () => house.asSuperuser('select id from role where tenant_id = $1', [tenant.tenant_id])

  test('is taken by the database’s clock: 3,600 seconds are enough', async () => {
    await age(tenant.owner, 3_570)
    assert.equal((await create()).status, 201)
    await age(tenant.owner, 3_600.5)
    asksAgain(await create())
  })

  test('is that of the sign-in, whatever the session was used for since', async () => {
    await age(tenant.owner, 3_601)
    await house.asSuperuser('update user_session set last_used_at = clock_timestamp() where user_id = $1', [
      tenant.owner.user_id,
    ])
    asksAgain(await create())
    const again = await house.tokenOf(tenant.tenant_id, tenant.owner.user_id, new Date())
    assert.equal((await create({ token: again })).status, 201)
  })

  test('that is too great changes nothing, and is in the audit log', async () => {
    await age(tenant.owner, 3_601)
    const before = await roles()
    asksAgain(await create())
    assert.deepEqual(await roles(), before)
    const kept = await house.asSuperuser<{ data: Record<string, unknown> }>(
      `select data from event where type = 'access.refused' and actor_id = $1 and subject_id = 'createRole'`,
      [tenant.owner.user_id],
    )
    assert.deepEqual(new Set(kept.map(({ data }) => data.code)), new Set(['sign_in_again']))
  })

  test('does not show to callers without the scope', async () => {
    const { user } = tenant.people
    await age(user, 3_601)
    const reply = await create({ token: user.token })
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
  })
})

/** Calls of operations of which only some change who may do what. */
suite('a change of who may do what, as its body says', () => {
  const { user } = tenant.people
  const setActive = (active: boolean, by: object) => call(by, 'PATCH', `/v1/users/${user.user_id}`, { active })
  const set = (key: string, value: string, by: object = token) => call(by, 'PUT', `/v1/settings/${key}`, { value })
  const key = { api_key: tenant.owner.api_key }
  const stale = () => age(tenant.owner, 3_601)

  test('needs a fresh sign-in to reactivate a user, but none to deactivate one', async () => {
    await stale()
    assert.equal((await setActive(false, token)).status, 200)
    asksAgain(await setActive(true, token))
    const { body } = await call(token, 'GET', `/v1/users/${user.user_id}`)
    assert.equal(body.active, false)
    assert.equal((await call(token, 'PATCH', `/v1/users/${user.user_id}`, { name: 'Renamed' })).status, 200)
    assert.equal((await setActive(true, key)).status, 200, 'an API key')
  })

  test('needs a fresh sign-in for the settings of sign-ins, and for no others', async () => {
    await stale()
    const values = [
      'auth.second_factor_required false',
      'auth.session_max_seconds 604800',
      'auth.password_min_length 8',
    ]
    for (const [name = '', value = ''] of values.map((text) => text.split(' '))) {
      asksAgain(await set(name, value))
      assert.equal((await call(token, 'GET', `/v1/settings/${name}`)).body.updated_at, undefined)
    }
    assert.equal((await set('locale.default', 'de')).status, 200)
    assert.equal((await set('auth.password_min_length', '20', key)).status, 200, 'an API key')
    const kept = await house.asSuperuser<{ subject_id: string }>(
      `select subject_id from event where type = 'access.refused' and actor_id = $1 and data->>'code' = 'sign_in_again'
        and subject_type = 'setting' order by seq`,
      [tenant.owner.user_id],
    )
    assert.deepEqual(
      kept.map(({ subject_id }) => subject_id),
      values.map((text) => text.split(' ')[0]),
    )
  })
})
