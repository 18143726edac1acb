import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comingAndGoing } from '../../test/support/coming-and-going.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { browserOf } from '../../test/support/presented.ts'
import { aSession } from '../../test/support/session.ts'
import { findKeyStatus } from '../api-keys/api-key-store.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { issueKey } from '../tenants/operator.flow.ts'
import { linkUser, noPrecondition, noteSignIn } from './provider-user-store.ts'

/** How a suspension begins and ends, over HTTP. leaving.test.ts has what it shares with a deactivation. */
const house = await openHouse()
const life = await comingAndGoing(house, 'suspension')
const { tenant_id, owner, people, call, created, newcomer, ask, held, deactivate, deleteUser, suspend } = life
const { signIn, eventsOf, typesOf, grantOf, requestIs } = life

const unsuspend = (id: string, by = owner) => call(by, 'POST', `/v1/users/${id}/unsuspend`)
const shown = async (id: string) => (await call(owner, 'GET', `/v1/users/${id}`)).body

/** Moves the end of a suspension to that time from now. */
const endIn = (id: string, interval: string) =>
  house.asSuperuser('update tenant_user set suspended_until = clock_timestamp() + $2::interval where id = $1', [
    id,
    interval,
  ])

/** The database's clock, in milliseconds. */
async function clock(): Promise<number> {
  const [row] = await house.asSuperuser<{ ms: number }>(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return row?.ms ?? 0
}

const asks = (person: Pick<Person, 'token'>) =>
  house.call({ method: 'GET', url: '/v1/requests', tenant_id, token: person.token }).then(({ status }) => status)
const asksByKey = ({ api_key }: Person) =>
  house.call({ method: 'GET', url: '/v1/requests', tenant_id, api_key }).then(({ status }) => status)

/** A caller who may write users, and has no other scope. */
const desk = await house.person(tenant_id, await deskUser())
async function deskUser(): Promise<string> {
  const role = await created('/v1/roles', { name: 'desk', scopes: ['users:write'] })
  const { user_id } = await newcomer()
  assert.equal((await call(owner, 'PUT', `/v1/users/${user_id}/roles`, { roles: [role] })).status, 200)
  return user_id
}

suite('suspending a user', () => {
  test('lasts 24 hours by the clock of the database, and is shown in the record and in the list', async () => {
    const { user_id } = await newcomer()
    const before = await shown(user_id)
    assert.ok(!('suspended_until' in before))
    const [from, reply, to] = [await clock(), await suspend(user_id), await clock()]
    assert.equal(reply.status, 200, reply.text)
    const { suspended_until, updated_at, ...rest } = reply.body
    const begun = Date.parse(String(suspended_until)) - 24 * 3_600_000
    assert.ok(from <= begun && begun <= to, `${from} ${begun} ${to}`)
    assert.deepEqual({ ...rest, updated_at: before.updated_at }, before, 'still active, with the same roles')
    assert.deepEqual(await shown(user_id), reply.body)
    assert.match(String(reply.headers.etag), /^"/)
    const list = (await call(owner, 'GET', '/v1/users?limit=200')).body.data as Record<string, unknown>[]
    const suspended = list.filter((one) => 'suspended_until' in one)
    assert.deepEqual(
      suspended.map((one) => [one.id, one.suspended_until]),
      [[user_id, suspended_until]],
    )
    assert.deepEqual((await eventsOf(user_id)).at(-1), { type: 'user.suspended', data: { until: suspended_until } })
    await endIn(user_id, '-1 second')
  })

  test('needs no scope but users:write, whatever the user holds, and takes no role', async () => {
    const admin = await newcomer(['user', 'admin'])
    for (const by of [people.user, people.approver, people.auditor]) {
      assert.equal((await suspend(admin.user_id, by)).status, 403)
      assert.equal((await unsuspend(admin.user_id, by)).status, 403)
    }
    assert.equal(await asks(admin), 200)
    const reply = await suspend(admin.user_id, desk)
    assert.deepEqual([reply.status, reply.body.roles], [200, ['admin', 'user']], reply.text)
    assert.equal(await asks(admin), 401)
  })

  test('again begins the 24 hours again, but changes nothing while more than 23 are left', async () => {
    const { user_id } = await newcomer()
    await suspend(user_id)
    const suspensions = async () => (await typesOf(user_id)).filter((type) => type === 'user.suspended').length
    // A day ahead at the least: no pause of this test makes it 23 hours.
    await endIn(user_id, '47 hours')
    const long = await shown(user_id)
    const same = await suspend(user_id, desk)
    assert.deepEqual([same.status, same.body, await suspensions()], [200, long, 1])
    await endIn(user_id, '23 hours')
    const short = await shown(user_id)
    const again = await suspend(user_id, desk)
    assert.equal(again.status, 200)
    assert.ok(String(again.body.suspended_until) > String(short.suspended_until))
    assert.equal(await suspensions(), 2)
  })

  test('is refused for a deactivated user, and finds no deleted or unknown one', async () => {
    const [gone, deleted] = [await newcomer(), await newcomer()]
    await deactivate(gone.user_id)
    await deleteUser(deleted.user_id)
    const refused = await suspend(gone.user_id)
    assert.deepEqual([refused.status, refused.body.code], [422, 'unprocessable'])
    assert.match(String(refused.body.message), /is deactivated/)
    for (const id of [deleted.user_id, newId()]) {
      for (const reply of [await suspend(id), await unsuspend(id)]) {
        assert.deepEqual([reply.status, reply.text], [404, '{"code":"not_found","message":"user not found"}'])
      }
    }
  })

  test('never leaves a tenant without an owner who can act (P16)', async () => {
    const { tenant_id: fresh, owner: first, people: others } = await house.tenant('owners')
    const second = others.admin
    await house.asSuperuser('update tenant_user set is_owner = true where id = $1', [second.user_id])
    const by = (person: Person, method: string, path: string, body?: unknown) =>
      house.call({
        ...{ method, url: `/v1/users/${path}`, token: person.token, tenant_id: fresh },
        ...(body !== undefined && { body }),
      })
    assert.equal((await by(first, 'POST', `${second.user_id}/suspend`)).status, 200)
    const ways = [
      await by(first, 'POST', `${first.user_id}/suspend`),
      await by(first, 'PATCH', first.user_id, { active: false }),
      await by(first, 'DELETE', first.user_id),
    ]
    for (const { status, body } of ways) assert.deepEqual([status, body.code], [409, 'last_owner'])
    await endIn(second.user_id, '-1 second')
    const again = await house.signInAgain(fresh, second)
    assert.equal((await by(again, 'POST', `${first.user_id}/suspend`)).status, 200)
  })
})

suite('a suspended user', () => {
  test('gets the same answer to a sign-in as for a wrong password; the cause is in the audit log (P35)', async () => {
    const person = await newcomer()
    await suspend(person.user_id)
    const wrong = await house.call({
      ...{ method: 'POST', url: '/v1/auth/login', tenant_id },
      body: { email: 'nobody@example.com', password: 'a long enough password' },
    })
    const reply = await signIn(person.email)
    assert.deepEqual([reply.status, reply.text], [401, wrong.text])
    const { type, data } = (await eventsOf(person.user_id)).at(-1) ?? {}
    assert.deepEqual([type, (data as { cause: string }).cause], ['auth.refused', 'suspended'])
  })

  test('has no SCIM key that works, nor a key of the operator (P35)', async () => {
    const admin = await newcomer(['user', 'admin'])
    const provider = await created('/v1/identity-providers', { name: 'Directory', provider_type: 'custom_scim' })
    const key = await created('/v1/api-keys', { name: 'scim', identity_provider_id: provider }, admin)
    const works = async () => (await findKeyStatus(house.database.tenant(tenant_id), key, 'scim')) !== undefined
    const wanted = { tenant_id, email: admin.email, name: 'a key', scopes: 'all', expires_in: null } as const
    assert.equal(await works(), true)
    await suspend(admin.user_id)
    assert.equal(await works(), false)
    await assert.rejects(issueKey(house.database, wanted), /is suspended/)
    await endIn(admin.user_id, '-1 second')
    assert.equal(await works(), true)
    assert.match((await issueKey(house.database, wanted)).key, /^sp/)
  })

  test('is neither linked nor signed in when the suspension comes between the reading and the writing (P35)', async () => {
    const body = { email: 'late@example.com', name: 'Late', roles: ['user'], auth_provider: 'oidc' }
    const user_id = await created('/v1/users', body)
    const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }
    const account = { issuer: 'https://id.example.com', subject: 'late', email: body.email, email_verified: true }
    const known = { user_id, verifies: false }
    const signIn = { data: {}, session: aSession(), provider: noPrecondition }
    const link = () =>
      linkUser(
        ctx,
        { ...account, name: undefined },
        { id: user_id, verifies: true, directory_id: null },
        noPrecondition,
      )
    await suspend(user_id)
    assert.deepEqual([await link(), await noteSignIn(ctx, known, signIn)], [undefined, undefined])
    await endIn(user_id, '-1 second')
    assert.equal(await link(), user_id)
    assert.ok((await noteSignIn(ctx, known, signIn))?.now instanceof Date)
  })

  test('is not counted as an approver: a request that only they could decide is reported (P35)', async () => {
    const fresh = await comingAndGoing(house, 'few approvers')
    const { approver, admin } = fresh.people
    for (const { user_id } of [approver, admin]) await fresh.suspend(user_id)
    const id = await fresh.ask(fresh.owner)
    assert.ok((await typesOf(id)).includes('request.unapprovable'))
    const refused = await fresh.call(approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual([refused.status, await requestIs(id)], [401, 'pending'])
    await endIn(approver.user_id, '-1 second')
    assert.ok(!(await typesOf(await fresh.ask(fresh.owner))).includes('request.unapprovable'))
    const again = await house.signInAgain(fresh.tenant_id, approver)
    assert.equal((await fresh.call(again, 'POST', `/v1/requests/${id}/approve`, {})).status, 200)
  })

  test('has everything but the access and the sessions again when the 24 hours are over, without an event', async () => {
    const person = await newcomer(['user', 'approver'])
    const { grant_id } = await held(person)
    await suspend(person.user_id, desk)
    const tries = async () => [await asks(person), await asksByKey(person), (await signIn(person.email)).status]
    assert.deepEqual(await tries(), [401, 401, 401])
    await endIn(person.user_id, '-1 second')
    const types = await typesOf(person.user_id)
    assert.deepEqual(await tries(), [401, 200, 200])
    const record = await shown(person.user_id)
    assert.deepEqual([record.active, record.roles], [true, ['approver', 'user']])
    assert.ok(!('suspended_until' in record))
    assert.equal((await grantOf(grant_id)).status, 'revoked')
    await ask(await house.signInAgain(tenant_id, person))
    // Nothing is left to end.
    const nothing = await unsuspend(person.user_id, desk)
    assert.deepEqual([nothing.status, nothing.body], [200, record])
    assert.deepEqual((await typesOf(person.user_id)).slice(types.length), ['auth.signed_in'])
  })

  test('who is deactivated and reactivated meanwhile stays suspended until the end (P35)', async () => {
    const person = await newcomer()
    await suspend(person.user_id)
    await deactivate(person.user_id)
    const back = await call(owner, 'PATCH', `/v1/users/${person.user_id}`, { active: true })
    assert.deepEqual([back.status, back.body.active, 'suspended_until' in back.body], [200, true, true])
    // Not even with a session that no call could begin now.
    const again = await house.signInAgain(tenant_id, person)
    assert.deepEqual([await asks(person), await asks(again), await asksByKey(person)], [401, 401, 401])
  })
})

suite('ending a suspension', () => {
  test('gives the rights back at once, with an event, but no session', async () => {
    const person = await newcomer()
    const browser = { method: 'GET', url: '/v1/requests', headers: await browserOf(house, tenant_id, person.user_id) }
    assert.equal((await house.call(browser)).status, 200)
    await suspend(person.user_id)
    assert.deepEqual([await asks(person), (await house.call(browser)).status], [401, 401])
    const reply = await unsuspend(person.user_id)
    assert.deepEqual([reply.status, 'suspended_until' in reply.body], [200, false])
    const again = await house.signInAgain(tenant_id, person)
    assert.deepEqual([await asks(again), await asksByKey(person)], [200, 200])
    assert.deepEqual([await asks(person), (await house.call(browser)).status], [401, 401])
    assert.deepEqual((await eventsOf(person.user_id)).at(-1), { type: 'user.unsuspended', data: {} })
    const twice = await unsuspend(person.user_id)
    assert.deepEqual([twice.status, twice.body], [200, reply.body])
    assert.equal((await typesOf(person.user_id)).filter((type) => type === 'user.unsuspended').length, 1)
  })

  test('needs every scope that the user holds; a refusal changes nothing and is recorded (P34)', async () => {
    const approver = await newcomer(['approver'])
    await suspend(approver.user_id, desk)
    const refused = await unsuspend(approver.user_id, desk)
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    const lacking = ['grants:read', 'requests:approve', 'requests:create', 'requests:read']
    assert.deepEqual((refused.body.details as { scopes: string[] }).scopes.sort(), lacking)
    assert.equal((await typesOf(approver.user_id)).at(-1), 'access.refused')
    const again = await house.signInAgain(tenant_id, approver)
    assert.deepEqual([await asks(again), await asksByKey(approver)], [401, 401])
    assert.equal((await unsuspend(approver.user_id, people.admin)).status, 200)
    assert.deepEqual([await asks(again), await asksByKey(approver), await asks(approver)], [200, 200, 401])
  })
})
