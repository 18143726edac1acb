import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { makeSetupLink } from '../../src/tenants/setup-link.flow.ts'
import { resumeTenant, suspendTenant } from '../../src/tenants/suspend-tenant.flow.ts'
import { firstOwnerEmail } from '../../src/users/owner-store.ts'
import { beDeleted } from '../support/be-deleted.ts'
import type { Reply } from '../support/house.ts'
import { programsOf } from '../support/program.ts'
import { openFactorStage } from '../support/second-factor-stage.ts'

/** Nobody signs in to a suspended tenant; only who proves who they are learns why. Providers: providers.test.ts. */
const stage = await openFactorStage()
const { house, member, login, finish, withPassword, addApp, challenge, eventsOf, forgetUse } = stage
const { database } = house

const isSuspended = ({ status, body, text }: Reply) =>
  assert.deepEqual([status, body.code], [403, 'tenant_suspended'], text)
const is = ({ status, body, text }: Reply, ...wanted: [number, string]) =>
  assert.deepEqual([status, body.code], wanted, text)

suite('to a suspended tenant', () => {
  test('no right password signs in, and a wrong one or an unknown address is refused as everywhere', async () => {
    const tenant = await house.tenant('passwords')
    const user = await member(tenant)
    await suspendTenant(database, tenant.tenant_id, {})
    isSuspended(await login(user))
    const attempt = (email: string, password: string) =>
      house.call({ method: 'POST', url: '/v1/auth/login', tenant_id: tenant.tenant_id, body: { email, password } })
    const wrong = await attempt(user.email, 'a wrong passphrase')
    const unknown = await attempt('nobody@example.com', 'a wrong passphrase')
    is(wrong, 401, 'unauthenticated')
    assert.equal(unknown.text, wrong.text)
    const refusals = (await eventsOf(user)).filter(({ type }) => type === 'auth.refused')
    assert.deepEqual(
      refusals.map(({ data }) => (data as { cause: string }).cause),
      ['tenant_suspended', 'wrong_password'],
    )
    await resumeTenant(database, tenant.tenant_id)
    assert.equal((await login(user)).status, 200)
  })

  test('no second factor finishes a sign-in, and none begins', async () => {
    const tenant = await house.tenant('factors')
    const { user, app } = await addApp(await withPassword(await member(tenant)))
    const { challenge: begun } = await challenge(user)
    const wrong = app.code() === '000000' ? '111111' : '000000'
    await suspendTenant(database, tenant.tenant_id, {})
    await forgetUse(user)
    is(await finish({ challenge: begun, totp: wrong }), 401, 'unauthenticated')
    isSuspended(await finish({ challenge: begun, totp: app.code() }))
    isSuspended(await login(user))
    await beDeleted(house, tenant.tenant_id, true)
    isSuspended(await finish({ challenge: begun, totp: app.code() }))
    await beDeleted(house, tenant.tenant_id, false)
    await resumeTenant(database, tenant.tenant_id)
    assert.equal(
      (await finish({ challenge: begun, totp: app.code() })).status,
      200,
      'neither challenge nor code was used up',
    )
  })

  test('no refresh token is exchanged, nor used up', async () => {
    const tenant = await house.tenant('refreshing')
    const programs = programsOf(house)
    const program = await programs.signIn(tenant.tenant_id, tenant.people.user)
    const former = program.refresh_token
    const current = await programs.next(program)
    await suspendTenant(database, tenant.tenant_id, {})
    for (let time = 0; time < 2; time += 1) isSuspended(await programs.refresh(current.refresh_token))
    is(await programs.refresh(former), 401, 'unauthenticated')
    is(await programs.refresh(`${current.refresh_token.slice(0, -2)}xx`), 401, 'unauthenticated')
    await resumeTenant(database, tenant.tenant_id)
    assert.equal((await programs.refresh(current.refresh_token)).status, 200)
  })

  test('no invitation and no setup link leads, and none is used up', async () => {
    const tenant = await house.tenant('links')
    const { tenant_id, owner } = tenant
    const invited = { email: 'ben@example.com', name: 'Ben', roles: ['user'] }
    const made = await house.call({ ...asOwner('/v1/invitations'), token: owner.token, tenant_id, body: invited })
    const first = await member(tenant, ['admin'])
    await house.asSuperuser('update tenant_user set is_owner = true, email = $2, email_key = $2 where id = $1', [
      first.id,
      firstOwnerEmail,
    ])
    const setup = await makeSetupLink(database, { public_url: 'https://sallyport.example.com', tenant_id })
    const keys = { invitation: keyIn(made.body.url), 'setup-link': keyIn(setup.url) }
    await suspendTenant(database, tenant_id, {})
    const password = 'four random words here'
    const anna = { name: 'Anna', email: 'anna@example.com', password }
    const calls = (key: string, link: string) => [
      house.call({ ...asOwner(`/v1/auth/${link}/check`), body: { key } }),
      house.call({ ...asOwner(`/v1/auth/${link}`), body: { key, ...(link === 'invitation' ? { password } : anna) } }),
    ]
    for (const [link, key] of Object.entries(keys)) {
      for (const reply of await Promise.all(calls(key, link))) isSuspended(reply)
      const other = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
      for (const reply of await Promise.all(calls(other, link))) assert.equal(reply.status, 401, reply.text)
    }
    await resumeTenant(database, tenant_id)
    for (const [link, key] of Object.entries(keys)) {
      for (const call of calls(key, link)) assert.equal((await call).status, 200)
    }
  })
})

const asOwner = (url: string) => ({ method: 'POST', url })
const keyIn = (url: unknown) => String(String(url).split('#k=')[1])
