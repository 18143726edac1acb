import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comingAndGoing } from '../../test/support/coming-and-going.ts'
import { openHouse, type Person, type Reply } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { sql } from '../db/sql.ts'
import { linkGrant } from '../grants/batched-entitlement-store.ts'

/** Users who leave during another operation, stopped at the moment where the two meet. */
const house = await openHouse()
const life = await comingAndGoing(house, 'races')
const {
  tenant_id,
  people,
  approveUncommitted,
  call,
  newcomer,
  asking,
  ask,
  deactivate,
  deleteUser,
  suspend,
  held,
  requestIs,
  leftOf,
  typesOf,
} = life
const tx = house.database.tenant(tenant_id)

const ways = [
  {
    verb: 'deactivated',
    leave: deactivate,
    change: sql`active = false`,
    method: 'PATCH',
    path: '',
    body: { active: false },
  },
  { verb: 'deleted', leave: deleteUser, change: sql`active = false`, method: 'DELETE', path: '' },
  {
    ...{ verb: 'suspended', leave: suspend, method: 'POST', path: '/suspend' },
    change: sql`suspended_until = clock_timestamp() + interval '1 hour'`,
  },
]
for (const { verb, leave, change, method, path, body } of ways) {
  suite(`a user who is ${verb}`, () => {
    test('while they request access has nothing left', async () => {
      const person = await newcomer()
      const replies: Promise<Reply>[] = []
      await tx.interactive(async (inside) => {
        await inside.write([
          sql`update tenant_user set ${change} where tenant_id = ${tenant_id} and id = ${person.user_id}`,
        ])
        replies.push(call(person, 'POST', '/v1/requests', asking()))
        // The request has either ended already, or waits for this transaction.
        await Promise.race([replies[0], aLockIsWaitedFor(house, inside)])
      })
      const [reply] = await Promise.all(replies)
      assert.ok(Number(reply?.status) >= 400, reply?.text)
      assert.deepEqual(await leftOf(person.user_id), [])
    })

    test('while their request is approved has nothing left', async () => {
      const person = await newcomer()
      const id = await ask(person)
      const leaving = await tx.interactive(async (inside) => {
        await approveUncommitted(inside, id)
        const waiting = leave(person.user_id)
        await aLockIsWaitedFor(house, inside)
        return { waiting }
      })
      assert.ok((await leaving.waiting).status < 300)
      assert.equal(await requestIs(id), 'approved')
      assert.deepEqual(await leftOf(person.user_id), [])
    })

    test('while their grant is linked has its entitlement checked afterwards', async () => {
      const person = await newcomer()
      const { grant_id } = await held(person)
      const leaving = await tx.interactive(async (inside) => {
        const item = { tenant_id, id: grant_id, generation: '0' }
        await linkGrant(inside, {
          item,
          ref: { provisioner: 'sandbox', provisioner_id: null, provisioner_version: null },
          plan: { key: grant_id, target: {}, held: false, session_seconds: 0, connect: null },
        })
        const waiting = leave(person.user_id)
        await aLockIsWaitedFor(house, inside)
        return { waiting }
      })
      assert.ok((await leaving.waiting).status < 300)
      const [row] = await house.asSuperuser(
        `select g.status, e.next_look_at > g.ended_at as looked_at from access_grant g
          join entitlement e on e.id = g.entitlement_id where g.id = $1`,
        [grant_id],
      )
      assert.deepEqual(row, { status: 'revoked', looked_at: true })
      await house.asSuperuser('update entitlement set next_look_at = null where target_key = $1', [grant_id])
    })

    test('while they decide a request has decided nothing (R6, P35)', async () => {
      const approver = await newcomer(['approver'])
      const id = await ask(people.user)
      const replies: Promise<Reply>[] = []
      await tx.interactive(async (inside) => {
        await inside.write([
          sql`update tenant_user set ${change} where tenant_id = ${tenant_id} and id = ${approver.user_id}`,
        ])
        replies.push(call(approver, 'POST', `/v1/requests/${id}/approve`, {}))
        await aLockIsWaitedFor(house, inside)
      })
      const [reply] = await Promise.all(replies)
      assert.deepEqual([reply?.status, reply?.body.code], [403, 'forbidden'], reply?.text)
      assert.match(String(reply?.body.message), /^you were suspended, deactivated or demoted just now/)
      assert.deepEqual([await requestIs(id), (await typesOf(id)).at(-1)], ['pending', 'access.refused'])
    })

    test('always leaves one owner, even when two owners remove each other at once (P16)', async () => {
      for (let round = 0; round < 8; round += 1) {
        const fresh = await house.tenant('two owners')
        const second = fresh.people.admin
        await house.asSuperuser('update tenant_user set is_owner = true where id = $1', [second.user_id])
        const by = (person: Person, of: Person) =>
          house.call({
            method,
            url: `/v1/users/${of.user_id}${path}`,
            token: person.token,
            tenant_id: fresh.tenant_id,
            ...(body !== undefined && { body }),
          })
        const replies = await Promise.all([by(fresh.owner, second), by(second, fresh.owner)])
        const [left] = await house.asSuperuser(
          `select count(*)::integer as owners from tenant_user
            where tenant_id = $1 and is_owner and active and suspended_until is null`,
          [fresh.tenant_id],
        )
        assert.deepEqual(left, { owners: 1 }, replies.map((reply) => reply.status).join())
      }
    })
  })
}
