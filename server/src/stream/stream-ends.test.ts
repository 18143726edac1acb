import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { changeStreams, colleague, hasMissed, hintsIn, lastIdIn, receives } from '../../test/support/change-stage.ts'
import type { Stream } from '../../test/support/event-stream.ts'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import { until } from '../../test/support/wait.ts'

// It follows changes of rights, as a real process does: so what credentials prove is kept for moments.
const house = await openHouse({}, undefined, true)
const { follow } = await changeStreams(house)
await until('changes of rights arrive', async () => house.app.followsChanges())

async function openTenant(name: string) {
  const stage = await requestStage(house, name)
  await stage.rule('permit (principal, action, resource);')
  const ben = await colleague(house, stage.tenant_id, stage.owner, 'ben')
  await untilEventsSettle(house)
  return { ...stage, ben }
}

const ends = (stream: Stream) => until('it has ended', async () => stream.ended())

suite('a stream of changes ends', { concurrency: false }, () => {
  test('when its user loses rights, and the next one shows less (A6)', async () => {
    const { tenant_id, owner, people, ben, call, ask, account } = await openTenant('loses')
    const { approver } = people
    const stream = await follow(tenant_id, approver)
    await receives(stream, `request ${await ask(account('111111111111'), ben)}`)
    const roles = `/v1/users/${approver.user_id}/roles`
    assert.equal((await call(owner, 'PUT', roles, { roles: ['user'] })).status, 200)
    const hidden = await ask(account('222222222222'), ben)
    assert.equal(await ends(stream), 'whole')
    assert.ok(!hintsIn(stream).includes(`request ${hidden}`))
    const next = await follow(tenant_id, approver, lastIdIn(stream))
    assert.ok(hasMissed(next), 'what it shows has changed with the rights')
    const own = await ask(account('333333333333'), approver)
    await receives(next, `request ${own}`)
    assert.deepEqual(hintsIn(next), [`request ${own}`])
    // And more again.
    assert.equal((await call(owner, 'PUT', roles, { roles: ['approver'] })).status, 200)
    assert.equal(await ends(next), 'whole')
    const third = await follow(tenant_id, approver, lastIdIn(next))
    await receives(third, `request ${await ask(account('444444444444'), ben)}`)
  })

  test('when the rights that come by a group end, though no event comes (A6)', async () => {
    const { tenant_id, owner, ben, call, created, ask, account, people } = await openTenant('by group')
    const group = await created(owner, '/v1/groups', { name: 'approvers' })
    const url = `/v1/groups/${group.id}`
    assert.equal((await call(owner, 'PUT', `${url}/role-mappings`, { role_ids: ['approver'] })).status, 200)
    assert.ok((await call(owner, 'POST', `${url}/members`, { user_id: ben.user_id })).status < 300)
    const stream = await follow(tenant_id, ben)
    await receives(stream, `request ${await ask(account('111111111111'), people.user)}`)
    // Behind the service: no notice of it reaches this process, so it is found when what it keeps is too old.
    await house.asSuperuser('alter table group_member disable trigger user')
    await house.asSuperuser('delete from group_member where user_id = $1', [ben.user_id])
    await house.asSuperuser('alter table group_member enable trigger user')
    assert.equal(await ends(stream), 'whole')
  })

  test('when its session ends (A6)', async () => {
    const { tenant_id, people, call } = await openTenant('session')
    const stream = await follow(tenant_id, people.user)
    assert.equal((await call(people.user, 'POST', '/v1/auth/logout')).status, 200)
    assert.equal(await ends(stream), 'whole')
    const { token } = people.user
    assert.equal((await house.call({ method: 'GET', url: '/v1/stream', token, tenant_id })).status, 401)
  })

  test('when its user is deactivated, and its events go to nobody (A6)', async () => {
    const { tenant_id, owner, ben, call, people } = await openTenant('deactivated')
    const [stream, admin] = [await follow(tenant_id, ben), await follow(tenant_id, people.admin)]
    assert.equal((await call(owner, 'PATCH', `/v1/users/${ben.user_id}`, { active: false })).status, 200)
    assert.equal(await ends(stream), 'whole')
    assert.deepEqual(hintsIn(stream), [])
    await receives(admin, `user ${ben.user_id}`)
  })

  test('with `replaced` when it is the oldest of six, whatever kind they are', async () => {
    const { tenant_id, ben, ask, account } = await openTenant('six')
    const streams: Stream[] = []
    for (let opened = 0; opened < 6; opened += 1) {
      const path = opened % 2 === 0 ? '/v1/stream' : '/v1/users/me/notifications/stream'
      streams.push(await follow(tenant_id, ben, undefined, path))
    }
    const [oldest, second, third] = streams
    assert.ok(oldest && second && third)
    assert.equal(await ends(oldest), 'whole')
    assert.equal(oldest.events().at(-1)?.event, 'replaced')
    await follow(tenant_id, ben)
    assert.equal(await ends(second), 'whole')
    assert.equal(second.events().at(-1)?.event, 'replaced')
    await receives(third, `request ${await ask(account('111111111111'), ben)}`)
  })
})

test('takes no API key', async () => {
  const { tenant_id, owner } = await house.tenant('key')
  const reply = await house.call({ method: 'GET', url: '/v1/stream', api_key: owner.api_key, tenant_id })
  assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
})
