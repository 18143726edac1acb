import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comingAndGoing } from '../support/coming-and-going.ts'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'
import { until } from '../support/wait.ts'
import { startWorkers } from '../support/workers.ts'

/** Users whom a directory that is read does not have any more, or has as disabled. */
const house = await openHouse({}, undefined, true)
const life = await comingAndGoing(house, 'leaving')
const { tenant_id, ask, held, requestIs, grantOf, leftOf } = life
const { said, sync, users, get } = await syncStage(house, life)

async function joined(...ids: string[]) {
  said.pages = [{ people: ids.map((id) => member(id)) }]
  await sync()
  const all = await users()
  return Promise.all(
    ids.map(async (id) => house.person(tenant_id, String(all.find(({ external_id }) => external_id === id)?.id))),
  )
}

test('lose sessions, pending requests and live access, each in one transaction', async () => {
  const [absent, stopped, stays] = await joined('absent', 'stopped', 'stays')
  assert.ok(absent !== undefined && stopped !== undefined && stays !== undefined)
  const pending = await ask(absent)
  const grants = [await held(absent, '123456789001'), await held(stopped, '123456789002')]
  const kept = await held(stays, '123456789003')
  const me = async (token: string) =>
    (await house.call({ method: 'GET', url: '/v1/users/me', tenant_id, token })).status
  assert.deepEqual([await me(absent.token), await me(stopped.token)], [200, 200])
  said.pages = [{ people: [member('stopped', { active: false }), member('stays')] }]
  const run = await sync()
  assert.equal(run.counts.disabled, 2)
  await until('they are locked out', async () => (await me(absent.token)) === 401 && (await me(stopped.token)) === 401)
  assert.equal(await me(stays.token), 200)
  assert.equal(await requestIs(pending), 'cancelled')
  for (const [index, person] of [absent, stopped].entries()) {
    assert.deepEqual(await leftOf(person.user_id), [])
    const grant_id = String(grants[index]?.grant_id)
    const { status, end_reason } = await grantOf(grant_id)
    assert.deepEqual([status, end_reason], ['revoked', 'its holder was deactivated in the directory'])
    const transactions = await house.asSuperuser(
      `select xmin::text from tenant_user where id = $1 union select xmin::text from access_grant where id = $2
        union select xmin::text from access_request where requester_id = $1 and status = 'cancelled'`,
      [person.user_id, grant_id],
    )
    assert.equal(transactions.length, 1)
  }
  assert.notEqual((await grantOf(kept.grant_id)).status, 'revoked')
})

test('are counted in the run, with how fast their access was gone', async () => {
  await house.asSuperuser('delete from directory_removal')
  const [one, other] = await joined('one', 'other', 'stays')
  assert.ok(one !== undefined && other !== undefined)
  const work = startWorkers(house)
  const grants = [await held(one, '123456789004'), await held(other, '123456789005')]
  const statusOf = async (id: string) => String((await grantOf(id)).status)
  for (const { grant_id } of grants) await until('access is there', async () => (await statusOf(grant_id)) === 'active')
  await work.stop()
  said.pages = [{ people: [member('stays')] }]
  const run = await sync()
  assert.deepEqual(run.access, { grants: 2, gone: 0, slowest_seconds: null })
  const ending = startWorkers(house)
  const access = async () => (await get(run.id)).access as { gone: number; slowest_seconds: number | null }
  await until('it is gone', async () => (await access()).gone === 2)
  assert.ok(Number((await access()).slowest_seconds) > 0)
  await ending.stop()
})
