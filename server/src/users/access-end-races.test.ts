import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comingAndGoing } from '../../test/support/coming-and-going.ts'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { seedManyGrants } from '../../test/support/many-grants.ts'
import { sql } from '../db/sql.ts'
import { insertGrants } from '../grants/grant-store.ts'
import { systemActor, type Tx } from '../kernel/context.ts'
import { endAccessOf } from '../requests/transition-store.ts'
import { lockUserAlone } from './lifecycle-store.ts'

/** All access of a person ends during another operation, stopped at the moment where the two meet. */
const house = await openHouse()
const life = await comingAndGoing(house, 'ending at the same moment')
const { tenant_id, owner, people, call, created, newcomer, ask, held, typesOf, requestIs, leftOf, approveUncommitted } =
  life
const tx = house.database.tenant(tenant_id)

const endAccess = (id: string, by = owner) => call(by, 'POST', `/v1/users/${id}/end-access`)
const nothing = { requests_cancelled: 0, grants_ended: 0 }

/** As the call does before it commits. */
async function endUncommitted(inside: Tx, user_id: string): Promise<void> {
  assert.ok(await lockUserAlone(inside, user_id))
  const by = { tx: inside, actor: systemActor, request_id: 'test' }
  await endAccessOf(by, user_id, { cancelled: 'a test', revoked: 'a test' })
}

suite('all access that ends', () => {
  test('while a request is approved includes the grants of the approval', async () => {
    const person = await newcomer()
    const id = await ask(person)
    const ending = await tx.interactive(async (inside) => {
      await approveUncommitted(inside, id)
      const waiting = endAccess(person.user_id)
      await aLockIsWaitedFor(house, inside)
      return { waiting }
    })
    assert.deepEqual((await ending.waiting).body, { requests_cancelled: 0, grants_ended: 1 })
    assert.deepEqual([await requestIs(id), await leftOf(person.user_id)], ['approved', []])
  })

  test('while one of thousands ends by itself leaves none of the others', async () => {
    const [many = ''] = await seedManyGrants(house.asSuperuser, 5_001, 1, '2099-01-01T00:00:00Z')
    const [first] = await house.asSuperuser<{ id: string; user_id: string }>(
      'select id, user_id from access_grant where tenant_id = $1 order by id limit 1',
      [many],
    )
    const { user_id, token } = await house.person(many, first?.user_id ?? '')
    const { waiting } = await house.database.tenant(many).interactive(async (inside) => {
      await inside.write([
        sql`update access_grant set status = 'expired', provisioning_status = 'deprovisioning',
          ended_at = clock_timestamp() where tenant_id = ${many} and id = ${first?.id}`,
      ])
      const url = `/v1/users/${user_id}/end-access`
      const waiting = house.call({ method: 'POST', url, tenant_id: many, token })
      await aLockIsWaitedFor(house, inside)
      return { waiting }
    })
    assert.deepEqual((await waiting).body, { requests_cancelled: 0, grants_ended: 5_000 })
    const left = `select from access_grant where tenant_id = $1 and status in ('pending', 'active')`
    assert.deepEqual(await house.asSuperuser(left, [many]), [])
  })

  test('before a request is approved leaves nothing to approve', async () => {
    const person = await newcomer()
    const id = await ask(person)
    const { approving } = await tx.interactive(async (inside) => {
      await endUncommitted(inside, person.user_id)
      const approving = call(people.approver, 'POST', `/v1/requests/${id}/approve`, {})
      await aLockIsWaitedFor(house, inside)
      return { approving }
    })
    const reply = await approving
    assert.deepEqual([reply.status, reply.body.code], [409, 'request_not_pending'])
    assert.deepEqual(await leftOf(person.user_id), [])
  })

  test('while access is requested and approved at once comes before it or after it', async () => {
    const policy = await created('/v1/policies', { name: 'at once' })
    const policy_text = '@approval_mode("auto") permit (principal, action == Action::"List", resource);'
    await created(`/v1/policies/${policy}/rules`, { policy_text })
    const person = await newcomer()
    const requestNow = () => call(person, 'POST', '/v1/requests', { ...life.asking(), action: 'List' })
    const { requesting } = await tx.interactive(async (inside) => {
      await endUncommitted(inside, person.user_id)
      const requesting = requestNow()
      await aLockIsWaitedFor(house, inside)
      assert.deepEqual(await leftOf(person.user_id), [])
      return { requesting }
    })
    assert.equal((await requesting).body.status, 'approved')
    assert.equal((await leftOf(person.user_id)).length, 1, 'it came after the end')
    const { ending } = await tx.interactive(async (inside) => {
      // As another request that is not committed yet.
      const [{ id } = { id: '' }] = await house.asSuperuser<{ id: string }>(
        `select id from access_request where requester_id = $1 and status = 'approved'`,
        [person.user_id],
      )
      await inside.write([
        sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${person.user_id} for share`,
        sql`with approved as (
            insert into access_request
            select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
            from access_request r where r.tenant_id = ${tenant_id} and r.id = ${id} returning *)
          ${insertGrants([{ type: 'cloud_account', id: '123456789012' }], 'List', sql`approved`)}`,
      ])
      const ending = endAccess(person.user_id)
      await aLockIsWaitedFor(house, inside)
      return { ending }
    })
    assert.deepEqual((await ending).body, { requests_cancelled: 0, grants_ended: 2 })
    assert.deepEqual(await leftOf(person.user_id), [])
  })

  test('by two calls at the same moment ends once, with one event', async () => {
    for (let round = 0; round < 8; round += 1) {
      const person = await newcomer()
      await held(person)
      await ask(person)
      const replies = await Promise.all([endAccess(person.user_id), endAccess(person.user_id, person)])
      const counts = replies.map(({ body }) => JSON.stringify(body)).sort()
      assert.deepEqual(
        counts,
        [nothing, { requests_cancelled: 1, grants_ended: 1 }].map((one) => JSON.stringify(one)),
      )
      const types = await typesOf(person.user_id)
      assert.equal(types.filter((type) => type === 'user.access_ended').length, 1)
    }
  })

  test('while requests are made, approved and revoked leaves nothing of what came before, without a deadlock', async () => {
    const person = await newcomer()
    for (let round = 0; round < 6; round += 1) {
      const [first, second] = [await ask(person), await ask(person)]
      const { grant_id } = await held(person)
      const [ended, ...others] = await Promise.all([
        endAccess(person.user_id),
        call(people.approver, 'POST', `/v1/requests/${first}/approve`, {}),
        call(people.approver, 'POST', `/v1/requests/${second}/approve`, {}),
        call(person, 'POST', `/v1/grants/${grant_id}/revoke`, {}),
      ])
      assert.equal(ended.status, 200, ended.text)
      for (const { status, text } of others) assert.ok(status === 200 || status === 409, text)
      assert.deepEqual(await leftOf(person.user_id), [])
    }
  })
})
