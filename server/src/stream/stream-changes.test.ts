import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { changeStreams, colleague, hasMissed, hintsIn, receives } from '../../test/support/change-stage.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { sampleBodies } from '../../test/support/sample-bodies.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

const house = await openHouse()
const { follow } = await changeStreams(house)
startWorkers(house)

/** A tenant in which everybody may ask, with another user of the role `user`. */
async function openTenant(name: string) {
  const stage = await requestStage(house, name)
  await stage.rule('permit (principal, action, resource);')
  const ben = await colleague(house, stage.tenant_id, stage.owner, 'ben')
  await untilEventsSettle(house)
  return { ...stage, ben, streamOf: (person: Person, last?: string) => follow(stage.tenant_id, person, last) }
}

suite('a stream of changes', { concurrency: false }, () => {
  test('hints at one’s own request and grant as they go through their life, and at none of others', async () => {
    const { people, ben, ask, account, approve, grantsAre, call, streamOf } = await openTenant('own')
    const [mine, theirs] = [await streamOf(people.user), await streamOf(ben)]
    const request_id = await ask(account('111111111111'))
    await receives(mine, `request ${request_id}`)
    await approve(request_id)
    const [grant] = await grantsAre(request_id, 'active', 'successful')
    await receives(mine, `grant ${grant?.id}`)
    const before = hintsIn(mine).length
    assert.equal((await call(people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})).status, 200)
    await until('the end is hinted at', async () => hintsIn(mine).slice(before).includes(`grant ${grant?.id}`))
    const bens = await ask(account('222222222222'), ben)
    await receives(theirs, `request ${bens}`)
    assert.deepEqual(hintsIn(theirs), [`request ${bens}`])
    const last = await ask(account('333333333333'))
    await receives(mine, `request ${last}`)
    assert.deepEqual(
      new Set(hintsIn(mine)),
      new Set([`request ${request_id}`, `grant ${grant?.id}`, `request ${last}`]),
    )
  })

  test('a comment hints at its request, for the requester and for those who may read it', async () => {
    const { people, ben, ask, account, created, streamOf } = await openTenant('comment')
    const request_id = await ask(account('111111111111'))
    await untilEventsSettle(house)
    const [mine, approvers, theirs] = [
      await streamOf(people.user),
      await streamOf(people.approver),
      await streamOf(ben),
    ]
    await created(people.approver, `/v1/requests/${request_id}/comments`, { text: 'Which ticket?' })
    for (const stream of [mine, approvers]) await receives(stream, `request ${request_id}`)
    const bens = await ask(account('222222222222'), ben)
    await receives(theirs, `request ${bens}`)
    assert.deepEqual(hintsIn(theirs), [`request ${bens}`])
  })

  test('an approval hints at the request and at the grants that it created', async () => {
    const { people, ask, account, approve, grantsOf, streamOf } = await openTenant('approval')
    const request_id = await ask(account('111111111111'))
    await untilEventsSettle(house)
    const mine = await streamOf(people.user)
    await approve(request_id)
    const [grant] = await grantsOf(request_id)
    await receives(mine, `request ${request_id}`, `grant ${grant?.id}`)
  })

  test('shows an approver all requests and grants, and nothing of the administration', async () => {
    const { people, owner, ben, ask, account, approve, grantsOf, created, streamOf } = await openTenant('approver')
    const stream = await streamOf(people.approver)
    const ids = [await ask(account('111111111111')), await ask(account('222222222222'), ben)]
    await created(owner, '/v1/groups', { name: 'not for approvers' })
    await approve(ids[1] ?? '')
    const [grant] = await grantsOf(ids[1] ?? '')
    await receives(stream, ...ids.map((id) => `request ${id}`), `grant ${grant?.id}`)
    assert.ok(hintsIn(stream).every((hint) => /^(request|grant) /.test(hint)))
  })

  test('shows an administrator each kind of record under its id, and a user none of them', async () => {
    const { tenant_id, owner, people, ask, account, call, created, streamOf } = await openTenant('admin')
    const [admin, user] = [await streamOf(owner), await streamOf(people.user)]
    const make = async (url: string, body: object) => String((await created(owner, url, body)).id)
    const expected = [
      `policy ${await make('/v1/policies', { name: 'a policy' })}`,
      `role ${await make('/v1/roles', { name: 'a role', scopes: ['requests:create'] })}`,
      `group ${await make('/v1/groups', { name: 'a group' })}`,
      `api_key ${await make('/v1/api-keys', { name: 'a key', scopes: ['requests:create'] })}`,
      `provisioner ${await make('/v1/provisioners', { name: 'a target', provisioner_type: 'sandbox', enabled: false })}`,
      `notification_channel ${await make('/v1/notification-channels/email', { name: 'mail', to_addresses: ['a@example.com'] })}`,
      `identity_provider ${await make('/v1/identity-providers', { name: 'a provider', provider_type: 'custom_scim', config: {} })}`,
    ]
    const roles = { roles: ['user', 'auditor'] }
    assert.equal((await call(owner, 'PUT', `/v1/users/${people.user.user_id}/roles`, roles)).status, 200)
    assert.equal(
      (await call(owner, 'PUT', '/v1/settings/notifications.expiring_seconds', { value: '600' })).status,
      200,
    )
    const resources = [{ id: '111111111111', account_id: '111111111111', name: 'an account' }]
    assert.equal((await call(owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
    assert.equal((await call(owner, 'PUT', '/v1/policies/cases', sampleBodies.replacePolicyCases)).status, 200)
    expected.push(`user ${people.user.user_id}`, 'setting notifications.expiring_seconds')
    await receives(admin, ...expected, 'cloud_account null', 'policy_case null')
    for (const { event, data } of admin.events()) {
      if (event === 'changed') assert.deepEqual(Object.keys(data ?? {}), ['type', 'id'])
    }
    // The user's rights changed: that stream has ended, and had nothing of these.
    await until('the user’s stream has ended', async () => user.ended() === 'whole')
    assert.deepEqual(hintsIn(user), [])
    const again = await follow(tenant_id, people.approver)
    const id = await ask(account('333333333333'))
    await receives(again, `request ${id}`)
    assert.deepEqual(hintsIn(again), [`request ${id}`])
  })

  test('never shows a record of another tenant (T14)', async () => {
    const [ours, other] = [await openTenant('ours'), await openTenant('theirs')]
    const [stream, foreign] = [await ours.streamOf(ours.owner), await other.streamOf(other.owner)]
    const theirs = await other.ask(other.account('111111111111'))
    await other.created(other.owner, '/v1/groups', { name: 'of the other tenant' })
    const id = await ours.ask(ours.account('111111111111'))
    await Promise.all([receives(stream, `request ${id}`), receives(foreign, `request ${theirs}`)])
    assert.deepEqual(hintsIn(stream), [`request ${id}`])
    assert.ok(!hintsIn(foreign).includes(`request ${id}`))
    const headers = { 'last-event-id': stream.events()[0]?.id ?? '' }
    const [{ token }, tenant_id] = [ours.owner, other.tenant_id]
    const reply = await house.call({ method: 'GET', url: '/v1/stream', token, tenant_id, headers })
    assert.deepEqual([reply.status, reply.body.code], [403, 'tenant_mismatch'])
  })

  test('sends the caller’s own notifications among the hints, as the list shows them', async () => {
    const { tenant_id, people, ben, ask, account, streamOf } = await openTenant('notified')
    const [stream, other] = [await streamOf(people.user), await streamOf(ben)]
    const request_id = await ask(account('111111111111'))
    const id = await house.notification(tenant_id, people.user.user_id)
    await receives(stream, `request ${request_id}`)
    const find = () => stream.events().find(({ event }) => event === 'notification')
    await until('the notification has come', async () => find() !== undefined)
    const url = '/v1/users/me/notifications'
    const list = await house.call({ method: 'GET', url, token: people.user.token, tenant_id })
    assert.deepEqual([find()?.data], [(list.body.data as unknown[])[0]])
    assert.equal(find()?.data?.id, id)
    const bens = await house.notification(tenant_id, ben.user_id)
    await until('another’s notification has come', async () => other.events().some(({ data }) => data?.id === bens))
    assert.ok(!stream.events().some(({ data }) => data?.id === bens))
  })

  test('survives an event about a request or a grant whose id is none', async () => {
    const { tenant_id, people, ask, account, streamOf } = await openTenant('odd')
    const stream = await streamOf(people.approver)
    await house.notification(tenant_id, people.user.user_id)
    await house.asSuperuser(
      `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        values ($1, gen_random_uuid(), 'grant.failed', 'system', 'grant', 'no uuid', 'test')`,
      [tenant_id],
    )
    const id = await ask(account('111111111111'))
    await receives(stream, `request ${id}`)
    assert.equal(hasMissed(stream), false)
  })
})
