import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '../support/client.ts'
import { type PersonAtBoth, startTwoProcesses } from '../support/two-processes.ts'
import { until } from '../support/wait.ts'

/** The notifications that users get while they wait, with two processes checking: each user gets each once. */
const { asSuperuser, owner, join, faults } = await startTwoProcesses()
const [call] = owner
const [ada, kim, lou] = [await join('Ada', ['user']), await join('Kim', ['approver']), await join('Lou', ['approver'])]

const policy = await call<{ id: string }>('POST', '/v1/policies', { name: 'Told in time' })
await call('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })

async function ask(): Promise<string> {
  const resource = { type: 'cloud_account', id: '123456789012' }
  const body = { resource, action: 'Look', reason: 'a look', duration_seconds: 600 }
  const reply = await ada.at[0]<{ id: string }>('POST', '/v1/requests', body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return reply.body.id
}

/** The user's notifications about this, the oldest first. */
async function typesOf(person: PersonAtBoth, resource_id: string): Promise<string[]> {
  type UserNotification = { event_type: string; resource_id: string }
  const { body } = await person.at[1]<Page<UserNotification>>('GET', '/v1/users/me/notifications?limit=200')
  return body.data.flatMap((one) => (one.resource_id === resource_id ? [one.event_type] : [])).toReversed()
}

const untilNotified = (person: PersonAtBoth, resource_id: string, types: readonly string[]) =>
  until(
    `the user has the notifications ${types.join()}`,
    async () => (await typesOf(person, resource_id)).join() === types.join(),
  )

/** Makes the next moment of these reminders due. */
const hasten = (ids: readonly string[]) =>
  asSuperuser('update reminder set next_look_at = clock_timestamp() where id = any($1::uuid[])', [ids])

test('an approver gets each reminder once, for as long as they may decide', async () => {
  const ids = await Promise.all(Array.from({ length: 10 }, ask))
  for (const id of ids) for (const person of [kim, lou]) await untilNotified(person, id, ['request.created'])
  await hasten(ids)
  const once = ['request.created', 'request.reminded']
  for (const id of ids) for (const person of [kim, lou]) await untilNotified(person, id, once)

  await call('PUT', `/v1/users/${lou.id}/roles`, { roles: ['user'] })
  const [first = '', ...others] = ids
  assert.equal((await kim.at[1]('POST', `/v1/requests/${first}/deny`, {})).status, 200)
  await hasten(ids)
  for (const id of others) await untilNotified(kim, id, [...once, 'request.reminded'])
  await until('the reminder of the decided request is deleted', async () => {
    const left = await asSuperuser('select from reminder where id = $1', [first])
    return left.length === 0
  })
  for (const id of ids) assert.deepEqual(await typesOf(lou, id), once)
  assert.deepEqual(await typesOf(kim, first), once)
  await untilNotified(ada, first, ['request.denied'])
})

test('a holder of access is notified before its end, however short it is', async () => {
  await call('PUT', '/v1/settings/notifications.expiring_seconds', { value: '86400' })
  const request_id = await ask()
  assert.equal((await kim.at[0]('POST', `/v1/requests/${request_id}/approve`, {})).status, 200)
  const grant = await until('access is active', async () => {
    const { body } = await ada.at[1]<Page<{ id: string; status: string }>>('GET', `/v1/grants?request_id=${request_id}`)
    return body.data.find(({ status }) => status === 'active')
  })
  const kept = () =>
    asSuperuser<{ before: number }>(
      `select extract(epoch from expires_at - expiring_at)::int as before from access_grant where id = $1`,
      [grant.id],
    )
  assert.deepEqual(await kept(), [{ before: 300 }])
  await untilNotified(ada, grant.id, ['grant.activated'])
  await asSuperuser(
    `with soon as (
        update access_grant set expiring_at = clock_timestamp() where id = $1 returning entitlement_id)
      update entitlement e set next_look_at = clock_timestamp() from soon where e.id = soon.entitlement_id`,
    [grant.id],
  )
  await untilNotified(ada, grant.id, ['grant.activated', 'grant.expiring'])
  assert.deepEqual(faults(), [])
})
