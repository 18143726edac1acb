import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, waitingFor } from '../../test/support/deliver.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { listHolders } from './notification-store.ts'
import type { WhoMayDecideEach } from './notifications-of-requests.flow.ts'
import { notifyPeople } from './notify-people.subscriber.ts'

const house = await openHouse()

const nobody: WhoMayDecideEach = async function* () {}
/** A transaction of another test, in another database of the server, may hold the newest events back for a while. */
async function deliverAll(): Promise<void> {
  const subscriber = notifyPeople({ whoMayDecideEach: nobody, mails: false })
  await until('every event is delivered', async () => {
    await deliver(house.database, subscriber, (_name, id) => assert.fail(`event ${id} failed`))
    return (await house.asSuperuser(waitingFor, [subscriber.name])).length === 0
  })
}

test('the active owners are notified of a suspension, but not the one who did it or the suspended user', async () => {
  const { tenant_id, owner, people } = await house.tenant('many owners')
  const { approver: omar, admin: otto, auditor: orla, user: oona } = people
  const call = (by: Person, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token: by.token, tenant_id, ...(body !== undefined && { body }) })
  const all = [owner, omar, otto, orla, oona]
  const inThis = (change: string, ids: string[]) =>
    house.asSuperuser(`update tenant_user set ${change} where id = any($1)`, [ids])
  await inThis(
    'is_owner = true',
    all.map(({ user_id }) => user_id),
  )
  await inThis('active = false', [oona.user_id])
  await inThis(`suspended_until = now() + interval '1 hour'`, [orla.user_id])
  const reply = await call(otto, 'POST', `/v1/users/${omar.user_id}/suspend`)
  assert.equal(reply.status, 200, reply.text)
  await deliverAll()
  await deliverAll()
  const notices = await house.asSuperuser(
    `select user_id, title, body, resource_type, resource_id from notification where tenant_id = $1`,
    [tenant_id],
  )
  const title = 'admin (admin@example.com) suspended the user approver (approver@example.com) for 24 hours'
  const end = new Date(String(reply.body.suspended_until)).toISOString().slice(0, 16).replace('T', ' ')
  assert.deepEqual(notices, [
    {
      user_id: owner.user_id,
      title,
      body:
        `${title}. The suspension ends by itself at ${end} UTC. Their requests and their access have ended with it; ` +
        'their roles stay. To keep them out, deactivate the user.',
      resource_type: 'user',
      resource_id: omar.user_id,
    },
  ])
  const { data } = (await call(owner, 'GET', '/v1/users/me/notifications')).body
  assert.equal((data as { resource_type: string }[])[0]?.resource_type, 'user')
})

test('an owner who suspends a user is not notified of it, and nobody is of its end', async () => {
  const { tenant_id, owner, people } = await house.tenant('one owner')
  for (const verb of ['suspend', 'unsuspend']) {
    const url = `/v1/users/${people.user.user_id}/${verb}`
    assert.equal((await house.call({ method: 'POST', url, token: owner.token, tenant_id })).status, 200)
  }
  await deliverAll()
  assert.deepEqual(await house.asSuperuser('select from notification where tenant_id = $1', [tenant_id]), [])
})

test('an owner whose API key suspends a user is notified of it, and of whose key it was', async () => {
  const { tenant_id, owner, people } = await house.tenant('stolen key')
  const url = `/v1/users/${people.user.user_id}/suspend`
  const reply = await house.call({ method: 'POST', url, api_key: owner.api_key, tenant_id })
  assert.equal(reply.status, 200, reply.text)
  await deliverAll()
  assert.deepEqual(
    await house.asSuperuser('select user_id, title from notification where tenant_id = $1', [tenant_id]),
    [
      {
        user_id: owner.user_id,
        title: `An API key of Owner (owner@example.com) suspended the user user (user@example.com) for 24 hours`,
      },
    ],
  )
})

test('a suspended user is notified of nothing that goes to the holders of a scope (P35)', async () => {
  const { tenant_id, owner, people } = await house.tenant('holders')
  const holders = async () => {
    const batches = await Array.fromAsync(listHolders(house.database.tenant(tenant_id), ['requests:approve'], null))
    return batches.flat().sort()
  }
  const all = [owner, people.admin, people.approver].map(({ user_id }) => user_id).sort()
  assert.deepEqual(await holders(), all)
  const url = `/v1/users/${people.approver.user_id}/suspend`
  assert.equal((await house.call({ method: 'POST', url, token: owner.token, tenant_id })).status, 200)
  assert.deepEqual(
    await holders(),
    all.filter((id) => id !== people.approver.user_id),
  )
})
