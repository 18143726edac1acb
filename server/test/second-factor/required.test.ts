import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { operations, type Reply } from '../support/house.ts'
import { factorsUrl, type Member, openFactorStage } from '../support/second-factor-stage.ts'

/** In a live tenant, admins and approvers need a second factor. */
const stage = await openFactorStage()
const { house, member, withPassword, withFactor, addApp, as, goLive, forgetUse } = stage

type By = { user: Member; token: string }
const tenant = await house.tenant('live')
await goLive(tenant)
const owner = { api_key: tenant.owner.api_key, tenant_id: tenant.tenant_id }
const byOwner = async (method: string, url: string, body?: unknown) => {
  const reply = await house.call({ method, url, ...owner, ...(body !== undefined && { body }) })
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}
const own = '/v1/users/me/preferences'
const isRefused = ({ status, body, text }: Reply) => {
  assert.deepEqual([status, body.code], [403, 'sign_in_again'], text)
  assert.deepEqual(body.details, { max_age: 3_600, acr: 'mfa' })
}
const mayGoOn = async (by: By) => assert.equal((await as(by, 'GET', own)).status, 200)
const mayNot = async (by: By) => isRefused(await as(by, 'GET', own))

const admin = await withPassword(await member(tenant, ['admin']))

/** What a sign-in with a password alone is enough for, where a second factor is needed. */
const allowed = ['beginSecondFactor', 'confirmSecondFactor', 'listSecondFactors', 'logout', 'startSession']

suite('a sign-in with a password alone, of an admin of a live tenant', () => {
  test('is enough for exactly these operations', () => {
    const found = Object.entries(operations).filter(([, { allowsOneFactor }]) => allowsOneFactor)
    assert.deepEqual(found.map(([name]) => name).sort(), allowed)
  })

  for (const [name, { method, path, credential }] of Object.entries(operations)) {
    if (credential === 'none' || credential === 'tenant' || allowed.includes(name)) continue
    test(`does not reach ${name}, before its body is read`, async () => {
      const url = path.replaceAll(/\{\w+\}/g, newId())
      isRefused(await as(admin, method, url, method === 'GET' ? undefined : '{'))
    })
  }

  test('begins a session of a browser, which reaches no more, and ends it', async () => {
    const by = await withPassword(await member(tenant, ['admin']))
    const headers = { origin: 'http://localhost:8080', host: 'localhost:8080' }
    const begun = await as(by, 'POST', '/v1/auth/session', undefined, headers)
    assert.equal(begun.status, 201, begun.text)
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
    const inBrowser = (method: string, url: string) => house.call({ method, url, headers: { ...headers, cookie } })
    isRefused(await inBrowser('GET', own))
    assert.equal((await inBrowser('GET', factorsUrl)).status, 200)
    assert.equal((await inBrowser('POST', '/v1/auth/logout')).status, 200)
    assert.equal((await inBrowser('GET', factorsUrl)).status, 401)
  })

  test('sets up a second factor; a sign-in with it is enough for everything', async () => {
    const by = await withPassword(await member(tenant, ['admin']))
    const { user, app } = await addApp(by)
    await mayNot(by)
    await forgetUse(user)
    const strong = await withFactor(user, { totp: app.code() })
    await mayGoOn(strong)
    const reply = await as(strong, 'POST', '/v1/roles', { name: 'made by the admin', scopes: ['requests:create'] })
    assert.equal(reply.status, 201, reply.text)
  })

  test('is refused in the audit log', async () => {
    const by = await withPassword(await member(tenant, ['admin']))
    isRefused(await as(by, 'GET', '/v1/users'))
    const [kept] = await house.asSuperuser<{ data: Record<string, unknown> }>(
      `select data from event where type = 'access.refused' and actor_id = $1`,
      [by.user.id],
    )
    assert.deepEqual([kept?.data.operation, kept?.data.code], ['listUsers', 'sign_in_again'])
  })
})

suite('a second factor is needed', () => {
  test('by an approver too', async () => mayNot(await withPassword(await member(tenant, ['user', 'approver']))))

  test('by members of a group that gives the role, as soon as it does, and no longer', async () => {
    for (const role of ['admin', 'approver']) {
      const by = await withPassword(await member(tenant))
      const { id } = await byOwner('POST', '/v1/groups', { name: `group of ${role}s` })
      await byOwner('POST', `/v1/groups/${id}/members`, { user_id: by.user.id })
      await mayGoOn(by)
      await byOwner('PUT', `/v1/groups/${id}/role-mappings`, { role_ids: [role] })
      await mayNot(by)
      await byOwner('DELETE', `/v1/groups/${id}/members/${by.user.id}`)
      await mayGoOn(by)
    }
  })

  test('with a role that is given later, and not after it was taken', async () => {
    const by = await withPassword(await member(tenant))
    await mayGoOn(by)
    await byOwner('PUT', `/v1/users/${by.user.id}/roles`, { roles: ['user', 'approver'] })
    await mayNot(by)
    await byOwner('PUT', `/v1/users/${by.user.id}/roles`, { roles: ['user'] })
    await mayGoOn(by)
  })

  test('not by users, nor by auditors or holders of a role of one’s own', async () => {
    const { id } = await byOwner('POST', '/v1/roles', {
      name: 'all but the name',
      scopes: ['users:write', 'requests:approve'],
    })
    for (const role of ['user', 'auditor', String(id)]) await mayGoOn(await withPassword(await member(tenant, [role])))
  })

  test('not by users of a provider, whose sign-in is the provider’s', async () => {
    const by = await withPassword(await member(tenant, ['admin']))
    await house.asSuperuser(`update tenant_user set auth_provider = 'oidc' where id = $1`, [by.user.id])
    await mayGoOn(by)
  })

  test('not by an API key', async () => {
    const by = await withPassword(await member(tenant, ['admin']))
    const { api_key } = await house.person(tenant.tenant_id, by.user.id)
    const { tenant_id } = tenant
    assert.equal((await house.call({ method: 'GET', url: '/v1/permissions', api_key, tenant_id })).status, 200)
    isRefused(await as(by, 'GET', '/v1/permissions'))
  })

  test('not in rehearsal, and at once when the rehearsal ends', async () => {
    const of = await house.tenant('rehearsing')
    const by = await withPassword(await member(of, ['admin']))
    await mayGoOn(by)
    await goLive(of)
    await mayNot(by)
  })

  test('not where the tenant has set so', async () => {
    const of = await house.tenant('without')
    await goLive(of)
    const by = await withPassword(await member(of, ['admin']))
    await mayNot(by)
    const url = '/v1/settings/auth.second_factor_required'
    const set = (value: string) =>
      house.call({ method: 'PUT', url, api_key: of.owner.api_key, tenant_id: of.tenant_id, body: { value } })
    assert.equal((await set('false')).status, 200)
    await mayGoOn(by)
    assert.equal((await set('true')).status, 200)
    await mayNot(by)
  })
})

test('the check of a caller is one round trip, live or not', async () => {
  const calls: string[] = []
  const counting = await openFactorStage({}, (database) => ({
    ...database,
    tenant(tenant_id) {
      const tx = database.tenant(tenant_id)
      return {
        ...tx,
        read: (statement) => {
          calls.push('read')
          return tx.read(statement)
        },
        write: (statements) => {
          calls.push('write')
          return tx.write(statements)
        },
      }
    },
  }))
  for (const isLive of [false, true]) {
    const of = await counting.house.tenant(`counted ${isLive}`)
    const by = await counting.withPassword(await counting.member(of, ['admin']))
    if (isLive) await counting.goLive(of)
    await counting.house.asSuperuser(`update user_session set amr = '{pwd,otp,mfa}' where user_id = $1`, [by.user.id])
    calls.length = 0
    assert.equal((await counting.as(by, 'GET', '/v1/permissions')).status, 200)
    assert.deepEqual(calls, ['read'])
  }
})
