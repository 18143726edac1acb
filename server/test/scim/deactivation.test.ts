import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comingAndGoing } from '../support/coming-and-going.ts'
import type { Person } from '../support/house.ts'
import { browserOf } from '../support/presented.ts'
import { openScimStage, type ScimReply } from '../support/scim-stage.ts'
import { until } from '../support/wait.ts'
import { startWorkers } from '../support/workers.ts'

/** A user whom their directory stops: everything that they can do and hold ends with them. */
const { house, makeDirectory } = await openScimStage({ follows: true })
const life = await comingAndGoing(house, 'leaving')
const { tenant_id, people, ask, held, requestIs, grantOf, eventsOf, typesOf, leftOf } = life
const { call, user } = await makeDirectory(life)

let count = 0
/** Somebody of the directory, with a token and a key. */
async function newcomer(): Promise<Person & { userName: string }> {
  count += 1
  const userName = `person${count}@example.com`
  const { id } = await user({ userName })
  return { ...(await house.person(tenant_id, id)), userName }
}

const patch = (active: unknown) => ({ Operations: [{ op: 'replace', path: 'active', value: active }] })
const ways: Record<string, (person: Person & { userName: string }) => Promise<ScimReply>> = {
  'stopped by a patch': ({ user_id }) => call('PATCH', `/Users/${user_id}`, patch(false)),
  'stopped as Entra ID does': ({ user_id }) =>
    call('PATCH', `/Users/${user_id}`, { Operations: [{ op: 'Replace', value: { active: 'False' } }] }),
  'stopped by a replacement': ({ user_id, userName }) => call('PUT', `/Users/${user_id}`, { userName, active: false }),
  deleted: ({ user_id }) => call('DELETE', `/Users/${user_id}`),
}

for (const [what, stop] of Object.entries(ways)) {
  const isDeleted = what === 'deleted'

  suite(`a user who is ${what}`, () => {
    test('is locked out from the next call on: token, key, and session in a browser (A6)', async () => {
      const person = await newcomer()
      const headers = await browserOf(house, tenant_id, person.user_id)
      const url = '/v1/users/me'
      const tries = async () => {
        const replies = await Promise.all([
          house.call({ method: 'GET', url, tenant_id, token: person.token }),
          house.call({ method: 'GET', url: '/v1/requests', tenant_id, api_key: person.api_key }),
          house.call({ method: 'GET', url, tenant_id, headers }),
        ])
        return replies.map(({ status }) => status)
      }
      assert.deepEqual(await tries(), [200, 200, 200])
      assert.ok((await stop(person)).status < 300)
      assert.deepEqual(await tries(), [401, 401, 401])
      const sessions = await house.asSuperuser('select from user_session where user_id = $1', [person.user_id])
      assert.deepEqual(sessions, [], 'no session waits for the user to come back')
    })

    test('keeps no pending request and no live grant, which end in the transaction of the change', async () => {
      const person = await newcomer()
      const pending = await ask(person)
      const { grant_id } = await held(person)
      const others = await ask(people.user)
      assert.ok((await stop(person)).status < 300)
      assert.deepEqual([await requestIs(pending), await requestIs(others)], ['cancelled', 'pending'])
      assert.deepEqual(await leftOf(person.user_id), [])
      const { status, end_reason } = await grantOf(grant_id)
      assert.deepEqual(
        [status, end_reason],
        ['revoked', `its holder was ${isDeleted ? 'deleted' : 'deactivated'} in the directory`],
      )
      const transactions = await house.asSuperuser<{ xmin: string }>(
        `select xmin::text from tenant_user where id = $1 union select xmin::text from access_request where id = $2
          union select xmin::text from access_grant where id = $3`,
        [person.user_id, pending, grant_id],
      )
      assert.equal(transactions.length, 1)
      assert.deepEqual((await typesOf(person.user_id)).slice(-1), [isDeleted ? 'user.deleted' : 'user.deactivated'])
      assert.equal((await eventsOf(pending)).at(-1)?.type, 'request.cancelled')
    })

    test('stays as they are where their access cannot end', async () => {
      const person = await newcomer()
      const { grant_id } = await held(person)
      await house.asSuperuser(
        `create function refuse() returns trigger language plpgsql as 'begin raise exception ''not now''; end'`,
        [],
      )
      await house.asSuperuser(
        'create trigger refuse before update on access_grant for each row execute function refuse()',
        [],
      )
      const reply = await stop(person)
      await house.asSuperuser('drop function refuse cascade', [])
      assert.equal(reply.status, 500)
      assert.deepEqual(reply.body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
      assert.doesNotMatch(reply.text, /not now|trigger/)
      assert.equal((await call('GET', `/Users/${person.user_id}`)).body.active, true)
      assert.notEqual((await grantOf(grant_id)).status, 'revoked')
      assert.ok((await stop(person)).status < 300)
      assert.equal((await grantOf(grant_id)).status, 'revoked')
    })
  })
}

test('access that was given is taken away', async () => {
  const person = await newcomer()
  const work = startWorkers(house)
  const { grant_id } = await held(person)
  const at = async () => (await grantOf(grant_id)).provisioning_status
  await until('access is there', async () => (await grantOf(grant_id)).status === 'active')
  assert.equal((await call('PATCH', `/Users/${person.user_id}`, patch('False'))).status, 200)
  await until('access is gone', async () => (await at()) === 'deprovisioned')
  await work.stop()
})

test('who comes back has their roles, and neither their grants nor their sessions', async () => {
  const person = await newcomer()
  const { grant_id } = await held(person)
  await call('PATCH', `/Users/${person.user_id}`, patch(false))
  assert.equal((await call('PATCH', `/Users/${person.user_id}`, patch(true))).status, 200)
  const old = await house.call({ method: 'GET', url: '/v1/users/me', tenant_id, token: person.token })
  assert.equal(old.status, 401)
  const again = await house.person(tenant_id, person.user_id)
  assert.equal((await house.call({ method: 'GET', url: '/v1/users/me', tenant_id, token: again.token })).status, 200)
  assert.equal((await grantOf(grant_id)).status, 'revoked')
})

test('stopping and asking at once leaves nothing that lives on', async () => {
  for (let round = 0; round < 5; round += 1) {
    const person = await newcomer()
    const { user_id } = person
    await Promise.all([
      call('PATCH', `/Users/${user_id}`, patch(false)),
      ...Array.from({ length: 4 }, () => ask(person).catch(() => undefined)),
    ])
    assert.deepEqual(await leftOf(user_id), [])
  }
})
