import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Tx } from '../../src/kernel/context.ts'
import { resetOwner } from '../../src/tenants/operator.flow.ts'
import type { Reply } from '../support/house.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { type AppUser, factorsUrl, type Member, openFactorStage } from '../support/second-factor-stage.ts'
import { totpApp } from '../support/totp-app.ts'

/** Who may change the second factors of a user: the user, who proves one of them, or an administrator. */
const stage = await openFactorStage()
const { house, member, login, withPassword, withFactor, begin, confirm, addApp, as, ageSessions, eventsOf } = stage
const tenant = await house.tenant('rights')
const theirs = await house.tenant('another')

type By = { user: Member; token: string }
const refused = ({ status, body, text }: Reply, code: number, name: string) =>
  assert.deepEqual([status, body.code], [code, name], text)
const asksFor = (reply: Reply, acr: string | null) => {
  refused(reply, 403, 'sign_in_again')
  assert.deepEqual(reply.body.details, { max_age: 3_600, acr })
}
const withApp = async (roles?: string[]) => addApp(await withPassword(await member(tenant, roles)))
const strongly = async ({ user, codes }: AppUser, nth = 0) => withFactor(user, { recovery_code: codes[nth] })
const factorsOf = async ({ id }: Member) =>
  (
    await house.asSuperuser<{ id: string }>(
      'select id from second_factor where user_id = $1 and confirmed_at is not null order by id',
      [id],
    )
  ).map((one) => one.id)
const codesOf = async ({ id }: Member) =>
  (await house.asSuperuser('select hash from recovery_code where user_id = $1', [id])).length
const sessionsOf = async ({ id }: Member) =>
  (await house.asSuperuser('select id from user_session where user_id = $1', [id])).length

suite('a change of one’s own second factors', () => {
  const changes: Record<string, (by: By, id: string) => Promise<Reply>> = {
    'to begin one': (by) => as(by, 'POST', factorsUrl, { kind: 'totp' }),
    'to confirm one': (by, id) => confirm(by, id, { totp: '123456' }),
    'to remove one': (by, id) => as(by, 'DELETE', `${factorsUrl}/${id}`),
    'to replace the recovery codes': (by) => as(by, 'POST', '/v1/users/me/recovery-codes'),
  }
  for (const [name, change] of Object.entries(changes)) {
    test(`needs, ${name}, a sign-in with a second factor where there is one (A22)`, async () => {
      const by = await withApp()
      // The session that set it up has none, and goes on.
      asksFor(await change(by, by.factor_id), 'mfa')
      assert.deepEqual([await factorsOf(by.user), await codesOf(by.user)], [[by.factor_id], 10])
    })

    test(`needs, ${name}, a sign-in within the hour, by the database’s clock`, async () => {
      const by = await withApp()
      const strong = await strongly(by)
      await ageSessions(by.user, 3_601)
      asksFor(await change(strong, by.factor_id), 'mfa')
      await ageSessions(by.user, 3_540)
      const { status, text } = await change(strong, by.factor_id)
      assert.ok([200, 201, 204, 404].includes(status), text)
    })
  }

  test('needs, to set up the first one, a sign-in within the hour', async () => {
    const by = await withPassword(await member(tenant))
    const { id, totp } = await begin(by, 'totp')
    await ageSessions(by.user, 3_601)
    asksFor(await as(by, 'POST', factorsUrl, { kind: 'totp' }), null)
    asksFor(await confirm(by, id, { totp: totpApp(totp.secret).code() }), null)
    assert.deepEqual(await factorsOf(by.user), [])
  })

  test('is listed to its user alone, without a secret', async () => {
    const by = await withApp()
    const { status, body } = await as(by, 'GET', factorsUrl)
    assert.equal(status, 200)
    assert.equal((body.data as object[]).length, 1)
    assert.deepEqual((await as(await withPassword(await member(tenant)), 'GET', factorsUrl)).body.data, [])
  })

  test('ends the other sessions with the first factor, which had none, and no later', async () => {
    const user = await member(tenant)
    const [other, by] = [await withPassword(user), await withPassword(user)]
    const bystander = await withPassword(await member(tenant))
    const { codes } = await addApp(by)
    assert.equal((await as(other, 'GET', factorsUrl)).status, 401)
    for (const one of [by, bystander]) assert.equal((await as(one, 'GET', factorsUrl)).status, 200)
    const strong = await withFactor(user, { recovery_code: codes[0] })
    await addApp(strong)
    assert.equal((await as(by, 'GET', factorsUrl)).status, 200)
  })

  test('removes the recovery codes with the last factor; the password is enough then', async () => {
    const by = await withApp()
    const strong = await strongly(by)
    const second = await addApp(strong)
    assert.equal((await as(strong, 'DELETE', `${factorsUrl}/${by.factor_id}`)).status, 204)
    assert.deepEqual([await factorsOf(by.user), await codesOf(by.user)], [[second.factor_id], 9])
    refused(await as(strong, 'DELETE', `${factorsUrl}/${by.factor_id}`), 404, 'not_found')
    assert.equal((await as(strong, 'DELETE', `${factorsUrl}/${second.factor_id}`)).status, 204)
    assert.deepEqual([await factorsOf(by.user), await codesOf(by.user)], [[], 0])
    refused(await as(strong, 'POST', '/v1/users/me/recovery-codes'), 422, 'unprocessable')
    assert.equal((await login(by.user)).status, 200)
    const types = (await eventsOf(by.user)).map(({ type }) => type)
    assert.equal(types.filter((type) => type === 'user.second_factor_removed').length, 2)
  })

  test('is not made by a session that waits for the lock while another sets up the first (A22)', async () => {
    const user = await member(tenant)
    const stolen = await withPassword(user)
    const { id, totp } = await begin(stolen, 'totp')
    const replies: Promise<Reply>[] = []
    await house.database.tenant(tenant.tenant_id).interactive(async (inside: Tx) => {
      await inside.write([
        sql`select from tenant_user where tenant_id = ${tenant.tenant_id} and id = ${user.id} for no key update`,
      ])
      replies.push(confirm(stolen, id, { totp: totpApp(totp.secret).code() }))
      await aLockIsWaitedFor(house, inside)
      await inside.write([
        sql`insert into second_factor (tenant_id, id, user_id, kind, name, confirmed_at, sealed_secrets)
          values (${tenant.tenant_id}, gen_random_uuid(), ${user.id}, 'totp', 'app', now(), 'x')`,
      ])
    })
    const [reply] = await Promise.all(replies)
    asksFor(reply ?? assert.fail(), 'mfa')
    assert.equal((await factorsOf(user)).length, 1)
  })
})

suite('an administrator', () => {
  const reset = (by: object, user: Member, tenant_id = tenant.tenant_id) =>
    house.call({ method: 'DELETE', url: `/v1/users/${user.id}/second-factors`, tenant_id, ...by })
  const owner = { token: tenant.owner.token }

  test('removes the second factors of a user who has lost them, and ends their sessions', async () => {
    const by = await withApp()
    const strong = await strongly(by)
    assert.equal((await reset(owner, by.user)).status, 204)
    assert.deepEqual([await factorsOf(by.user), await codesOf(by.user), await sessionsOf(by.user)], [[], 0, 0])
    assert.equal((await as(strong, 'GET', factorsUrl)).status, 401)
    assert.equal((await login(by.user)).status, 200)
    const event = (await eventsOf(by.user)).find(({ type }) => type === 'user.second_factors_reset')
    assert.equal(event?.actor_id, tenant.owner.user_id)
  })

  test('needs every scope that the user holds, and the attempt is in the audit log', async () => {
    const role = 'may-change-users'
    const made = await house.call({
      method: 'POST',
      url: '/v1/roles',
      ...owner,
      tenant_id: tenant.tenant_id,
      body: { name: role, scopes: ['users:write'] },
    })
    const helper = await withPassword(await member(tenant, [String(made.body.id)]))
    const boss = await withApp(['admin'])
    refused(await reset(helper, boss.user), 403, 'forbidden')
    assert.deepEqual(await factorsOf(boss.user), [boss.factor_id])
    const refusals = (await eventsOf(boss.user)).filter(({ type }) => type === 'access.refused')
    assert.deepEqual(
      refusals.map(({ actor_id }) => actor_id),
      [helper.user.id],
    )
    const nobody = await withApp([])
    assert.equal((await reset(helper, nobody.user)).status, 204)
    const plain = await withApp(['user'])
    refused(await reset(await withPassword(await member(tenant)), plain.user), 403, 'forbidden')
  })

  test('does not remove their own so, by a token: a stolen session has no way around a factor', async () => {
    const by = await withApp(['admin'])
    for (const one of [by, await strongly(by)]) refused(await reset({ token: one.token }, by.user), 403, 'forbidden')
    assert.deepEqual(await factorsOf(by.user), [by.factor_id])
  })

  test('of another tenant finds no such user (T2)', async () => {
    const by = await withApp()
    refused(await reset({ token: theirs.owner.token }, by.user, theirs.tenant_id), 404, 'not_found')
    assert.deepEqual(await factorsOf(by.user), [by.factor_id])
  })

  test('may do it by an API key with every scope of the user', async () => {
    const by = await withApp()
    assert.equal((await reset({ api_key: tenant.owner.api_key }, by.user)).status, 204)
    assert.deepEqual(await factorsOf(by.user), [])
  })

  test('who deletes a user deletes their second factors', async () => {
    const by = await withApp()
    const url = `/v1/users/${by.user.id}`
    assert.equal((await house.call({ method: 'DELETE', url, ...owner, tenant_id: tenant.tenant_id })).status, 204)
    assert.deepEqual([await factorsOf(by.user), await codesOf(by.user)], [[], 0])
  })
})

suite('the operator', () => {
  test('who resets an owner removes their second factors, which is in the audit log', async () => {
    const by = await withApp(['admin'])
    const strong = await strongly(by)
    await house.asSuperuser('update tenant_user set is_owner = true where id = $1', [by.user.id])
    const { email, tenant_id } = by.user
    const { password } = await resetOwner(house.database, { email, tenant_id })
    assert.deepEqual([await factorsOf(by.user), await codesOf(by.user), await sessionsOf(by.user)], [[], 0, 0])
    assert.equal((await as(strong, 'GET', factorsUrl)).status, 401)
    assert.equal((await login(by.user, password)).status, 200)
    const resets = async () =>
      (await eventsOf(by.user)).filter(({ type }) => type === 'user.second_factors_reset').length
    assert.equal(await resets(), 1)
    await resetOwner(house.database, { email, tenant_id })
    assert.equal(await resets(), 1, 'there was none left')
  })
})
