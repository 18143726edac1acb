import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comingAndGoing } from '../../test/support/coming-and-going.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { seedManyGrants } from '../../test/support/many-grants.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'

/** All access of a person ends at once, over HTTP; the person stays. */
const house = await openHouse()
const life = await comingAndGoing(house, 'ending all access')
const { tenant_id, owner, people, call, created, newcomer, ask, held, deleteUser, deactivate } = life
const { eventsOf, typesOf, grantOf, requestIs, leftOf } = life
const tx = house.database.tenant(tenant_id)

const endAccess = (id: string, by: Person = owner, body?: object) =>
  call(by, 'POST', `/v1/users/${id}/end-access`, body)
const nothing = { requests_cancelled: 0, grants_ended: 0 }
const asks = (person: Person) => call(person, 'GET', '/v1/requests').then(({ status }) => status)

/** A new user who holds these scopes and no other. */
async function withScopes(...scopes: string[]): Promise<Person> {
  const role = await created('/v1/roles', { name: 'some scopes', scopes })
  const person = await newcomer()
  assert.equal((await call(owner, 'PUT', `/v1/users/${person.user_id}/roles`, { roles: [role] })).status, 200)
  return person
}

suite('ending all access of a user', () => {
  test('cancels their pending requests and ends their grants, with an event for each and one for all', async () => {
    const person = await newcomer()
    const pending = [await ask(person), await ask(person, '123456789013')]
    const { request_id, grant_id } = await held(person)
    const others = await held(people.user)
    const othersPending = await ask(people.user)
    const reply = await endAccess(person.user_id, owner, { reason: 'the laptop was lost' })
    assert.deepEqual([reply.status, reply.body], [200, { requests_cancelled: 2, grants_ended: 1 }], reply.text)
    for (const id of pending) {
      assert.equal(await requestIs(id), 'cancelled')
      const data = { request_id: id, reason: 'all access of its requester was ended' }
      assert.deepEqual((await eventsOf(id)).at(-1), { type: 'request.cancelled', data })
    }
    assert.deepEqual(await grantOf(grant_id), {
      status: 'revoked',
      provisioning_status: 'not_attempted',
      ended_by: owner.user_id,
      end_reason: 'the laptop was lost',
      next_look_at: null,
    })
    assert.deepEqual(await eventsOf(grant_id), [{ type: 'grant.revoked', data: { request_id } }])
    assert.deepEqual((await eventsOf(person.user_id)).at(-1), { type: 'user.access_ended', data: reply.body })
    assert.equal((await grantOf(others.grant_id)).status, 'pending')
    assert.equal(await requestIs(othersPending), 'pending')
    const shown = await call(person, 'GET', `/v1/grants/${grant_id}`)
    assert.equal(shown.body.end_reason, 'the laptop was lost')
  })

  test('keeps them active and signed in, and they may request again', async () => {
    const person = await newcomer()
    await held(person)
    assert.equal((await endAccess(person.user_id)).status, 200)
    assert.equal(await asks(person), 200)
    const { body } = await call(owner, 'GET', `/v1/users/${person.user_id}`)
    assert.deepEqual([body.active, body.roles, 'suspended_until' in body], [true, ['user'], false])
    const { grant_id } = await held(person)
    assert.equal((await grantOf(grant_id)).status, 'pending')
  })

  test('again, or where there is nothing to end, changes nothing and emits nothing', async () => {
    const person = await newcomer()
    const { grant_id } = await held(person)
    const pending = await ask(person)
    const first = await endAccess(person.user_id, owner, { reason: 'first' })
    assert.deepEqual(first.body, { requests_cancelled: 1, grants_ended: 1 })
    const states = async () => [await grantOf(grant_id), await typesOf(pending), await typesOf(person.user_id)]
    const before = await states()
    const second = await endAccess(person.user_id, people.admin, { reason: 'second' })
    assert.deepEqual([second.status, second.body], [200, nothing])
    assert.deepEqual(await states(), before)
    await deactivate(person.user_id)
    assert.deepEqual((await endAccess(person.user_id)).body, nothing)
  })

  test('takes the access away at its target', async () => {
    const work = startWorkers(house)
    const [person, other] = [await newcomer(), await newcomer()]
    const account = '700000000001'
    const given = [await held(person, account), await held(other, account)]
    const at = () =>
      house.asSuperuser('select key from sandbox_assignment where tenant_id = $1 and key like $2', [
        tenant_id,
        `%${account}%`,
      ])
    for (const { grant_id } of given) {
      await until('access is there', async () => (await grantOf(grant_id)).status === 'active')
    }
    assert.equal((await at()).length, 2)
    const reply = await endAccess(person.user_id)
    assert.deepEqual(reply.body, { requests_cancelled: 0, grants_ended: 1 })
    await until('the access of the other user alone is left', async () => (await at()).length === 1)
    const [gone, kept] = given
    assert.deepEqual(await typesOf(gone?.grant_id ?? ''), ['grant.activated', 'grant.revoked'])
    assert.equal((await grantOf(kept?.grant_id ?? '')).status, 'active')
    await endAccess(other.user_id)
    await until('no access is left', async () => (await at()).length === 0)
    await work.stop()
  })

  test('is carried out once for one Idempotency-Key', async () => {
    const person = await newcomer()
    await held(person)
    const keyed = () =>
      house.call({
        ...{ method: 'POST', url: `/v1/users/${person.user_id}/end-access`, tenant_id, token: owner.token },
        headers: { 'idempotency-key': 'end-it' },
      })
    const first = await keyed()
    await ask(person)
    const again = await keyed()
    assert.deepEqual([first.body, again.body], [{ requests_cancelled: 0, grants_ended: 1 }, first.body])
    assert.equal(again.headers['idempotency-replayed'], 'true')
    assert.equal((await leftOf(person.user_id)).length, 1)
  })

  test('changes nothing where it fails midway', async () => {
    const person = await newcomer()
    const pending = await ask(person)
    const { grant_id } = await held(person)
    const reply = await tx.interactive(async (inside) => {
      await inside.write([
        sql`update access_grant set updated_at = clock_timestamp() where tenant_id = ${tenant_id} and id = ${grant_id}`,
      ])
      const ending = endAccess(person.user_id)
      await aLockIsWaitedFor(house, inside)
      // As after a second in which it waits for the lock.
      await house.asSuperuser(
        `select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return ending
    })
    assert.deepEqual([reply.status, reply.body.code], [503, 'unavailable'])
    assert.deepEqual([await requestIs(pending), (await grantOf(grant_id)).status], ['pending', 'pending'])
    assert.ok(!(await typesOf(person.user_id)).includes('user.access_ended'))
  })

  test('ends more grants than one statement does', async () => {
    const [many = ''] = await seedManyGrants(house.asSuperuser, 5_001, 1, '2099-01-01T00:00:00Z')
    const [holder] = await house.asSuperuser<{ user_id: string }>(
      'select user_id from access_grant where tenant_id = $1 limit 1',
      [many],
    )
    const { user_id, token } = await house.person(many, holder?.user_id ?? '')
    const reply = await house.call({
      ...{ method: 'POST', url: `/v1/users/${user_id}/end-access`, tenant_id: many, token },
      body: { reason: 'all of them' },
    })
    assert.deepEqual([reply.status, reply.body], [200, { requests_cancelled: 0, grants_ended: 5_001 }], reply.text)
    const [counts] = await house.asSuperuser(
      `select (select count(*)::integer from access_grant
          where tenant_id = $1 and status = 'revoked' and end_reason = 'all of them') as revoked,
        (select count(*)::integer from event where tenant_id = $1 and type = 'grant.revoked') as events,
        (select count(*)::integer from entitlement where tenant_id = $1 and next_look_at <= clock_timestamp()) as due`,
      [many],
    )
    assert.deepEqual(counts, { revoked: 5_001, events: 5_001, due: 5_001 })
  })
})

suite('who may end all access', () => {
  test('of themselves: every user, by token and by any key', async () => {
    const person = await newcomer()
    await held(person)
    assert.equal((await call(owner, 'PUT', `/v1/users/${person.user_id}/roles`, { roles: [] })).status, 200)
    assert.deepEqual((await endAccess(person.user_id, person)).body, { requests_cancelled: 0, grants_ended: 1 })
    const byKey = { method: 'POST', url: `/v1/users/${person.user_id}/end-access`, tenant_id, api_key: person.api_key }
    const reply = await house.call(byKey)
    assert.deepEqual([reply.status, reply.body], [200, nothing])
  })

  test('of others: with both scopes, although they may read no users', async () => {
    const desk = await withScopes('grants:revoke', 'requests:cancel')
    const person = await newcomer(['user', 'admin'])
    await held(person)
    assert.deepEqual((await endAccess(person.user_id, desk)).body, { requests_cancelled: 0, grants_ended: 1 })
    const { text } = await endAccess(newId(), desk)
    assert.equal(text, '{"code":"not_found","message":"user not found"}')
  })

  for (const scope of ['grants:revoke', 'requests:cancel']) {
    test(`of others: not with ${scope} alone, which is 403 for readers of users and 404 for all others`, async () => {
      const person = await newcomer()
      const pending = await ask(person)
      const { grant_id } = await held(person)
      const other = scope === 'grants:revoke' ? 'requests:cancel' : 'grants:revoke'
      const reader = await withScopes(scope, 'users:read')
      const refused = await endAccess(person.user_id, reader)
      assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
      assert.match(String(refused.body.message), new RegExp(other))
      assert.deepEqual((refused.body.details as { scopes: string[] }).scopes, [other])
      const recorded = await house.asSuperuser(
        `select subject_id from event where type = 'access.refused' and actor_id = $1`,
        [reader.user_id],
      )
      assert.deepEqual(recorded, [{ subject_id: 'endUserAccess' }])
      const blind = await withScopes(scope, 'grants:read', 'requests:read')
      assert.equal((await endAccess(newId(), reader)).text, refused.text, 'whether or not there is such a user')
      for (const id of [person.user_id, newId()]) {
        const reply = await endAccess(id, blind)
        assert.deepEqual([reply.status, reply.text], [404, '{"code":"not_found","message":"user not found"}'])
      }
      assert.deepEqual([await requestIs(pending), (await grantOf(grant_id)).status], ['pending', 'pending'])
    })
  }

  test('of others: not by a key with fewer scopes than its creator', async () => {
    const person = await newcomer()
    await held(person)
    const made = await call(owner, 'POST', '/v1/api-keys', { name: 'narrow', scopes: ['users:read', 'grants:revoke'] })
    const url = `/v1/users/${person.user_id}/end-access`
    const reply = await house.call({ method: 'POST', url, tenant_id, api_key: String(made.body.key) })
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
    assert.equal((await leftOf(person.user_id)).length, 1)
  })

  test('of a deleted user, or of one of another tenant: nobody, as if there were no such user', async () => {
    const elsewhere = await comingAndGoing(house, 'elsewhere')
    const foreign = await elsewhere.newcomer()
    await elsewhere.held(foreign)
    const deleted = await newcomer()
    await deleteUser(deleted.user_id)
    const unknown = await endAccess(newId())
    for (const id of [foreign.user_id, deleted.user_id]) {
      const reply = await endAccess(id)
      assert.deepEqual([reply.status, reply.text], [404, unknown.text])
    }
    assert.equal((await leftOf(foreign.user_id)).length, 1)
    assert.ok(!(await typesOf(foreign.user_id)).includes('user.access_ended'))
  })

  test('with input that is understood: a faulty body ends nothing', async () => {
    const person = await newcomer()
    const pending = await ask(person)
    for (const [body, pointer] of [
      [{ reason: 'x'.repeat(2_001) }, '/reason'],
      [{ why: 'x' }, '/why'],
    ] as const) {
      const reply = await endAccess(person.user_id, owner, body)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual(
        fields.map((field) => field.pointer),
        [pointer],
      )
    }
    assert.equal(await requestIs(pending), 'pending')
  })
})
