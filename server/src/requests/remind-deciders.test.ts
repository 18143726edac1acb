import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deliver, waitingFor } from '../../test/support/deliver.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { aLockIsWaitedFor, locksAreWaitedFor } from '../../test/support/lock.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { notifyPeople } from '../notifications/notify-people.subscriber.ts'
import { whoMayDecideEach } from './possible-approvers.flow.ts'
import { remindOfRequest } from './reminder-store.ts'
import { cancelPendingRequest } from './transition-store.ts'

/** A requester reminds those who may decide, over HTTP. */
const house = await openHouse()
const on = await requestStage(house, 'reminding')
const { tenant_id, owner, people } = on
await on.rule('permit (principal, action, resource);')
const tx = house.database.tenant(tenant_id)
const ctx = { tx, actor: systemActor, request_id: 'test' }
const body = on.account('120000000001')

const remind = (id: string, by: Person = people.user) => on.call(by, 'POST', `/v1/requests/${id}/remind`)
const remindersOf = async (id: string) => (await on.eventsOf(id)).filter(({ type }) => type === 'request.reminded')
/** Moves the last reminder to that long ago. */
const agoBy = (id: string, interval: string) =>
  house.asSuperuser('update access_request set reminded_at = clock_timestamp() - $2::interval where id = $1', [
    id,
    interval,
  ])

suite('reminding those who may decide', () => {
  test('emits an event of the requester, and says when the next reminder may come', async () => {
    const id = await on.ask(body)
    const before = (await on.call(people.user, 'GET', `/v1/requests/${id}`)).body
    const reply = await remind(id)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(Object.keys(reply.body), ['reminded_at', 'next_at'])
    const { reminded_at, next_at } = reply.body
    assert.equal(Date.parse(String(next_at)) - Date.parse(String(reminded_at)), 600_000)
    const events = await house.asSuperuser(
      `select actor_kind, actor_id, data from event where subject_id = $1 and type = 'request.reminded'`,
      [id],
    )
    assert.deepEqual(events, [{ actor_kind: 'user', actor_id: people.user.user_id, data: {} }])
    const after = (await on.call(people.user, 'GET', `/v1/requests/${id}`)).body
    assert.deepEqual(after, { ...before, reminded_at }, 'the request stays as it was')
  })

  test('is too early within ten minutes, by every credential of the requester, and says when to try again', async () => {
    const id = await on.ask(body)
    assert.equal((await remind(id)).status, 200)
    const another = await house.signInAgain(tenant_id, people.user)
    const url = `/v1/requests/${id}/remind`
    const replies = [
      await remind(id),
      await remind(id, another),
      await house.call({ method: 'POST', url, tenant_id, api_key: people.user.api_key, body: {} }),
    ]
    for (const { status, body: refused, headers } of replies) {
      assert.deepEqual([status, refused.code], [429, 'rate_limited'])
      const seconds = Number(headers['retry-after'])
      assert.ok(seconds > 0 && seconds <= 600, String(seconds))
      assert.equal(
        refused.message,
        `your last reminder about this request was less than 10 minutes ago; try again in ${seconds} s`,
      )
      const details = { limit: 'reminder', quota: 1, window_seconds: 600, retry_after_seconds: seconds }
      assert.deepEqual(refused.details, details)
    }
    assert.equal((await remindersOf(id)).length, 1)
    assert.equal((await remind(await on.ask(body))).status, 200, 'the limit is that of one request')
  })

  test('is possible again after ten minutes by the clock of the database, and not before', async () => {
    const id = await on.ask(body)
    await remind(id)
    await agoBy(id, '10 minutes')
    assert.equal((await remind(id)).status, 200)
    assert.equal((await remind(id)).status, 429)
    // The rest is long enough for any pause of this test.
    await agoBy(id, '-1 hour')
    assert.equal((await remind(id)).status, 429)
    assert.equal((await remindersOf(id)).length, 2)
  })

  test('is for the requester alone: 403 for those who may read the request, 404 for all others', async () => {
    const id = await on.ask(body)
    for (const person of [owner, people.approver, people.admin, people.auditor]) {
      const reply = await remind(id, person)
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
      assert.match(String(reply.body.message), /only the requester/)
    }
    const others = await on.ask(body, people.approver)
    const elsewhere = await requestStage(house, 'reminding elsewhere')
    await elsewhere.rule('permit (principal, action, resource);')
    const foreign = await elsewhere.ask(body)
    const unknown = await remind(newId())
    assert.deepEqual([unknown.status, unknown.text], [404, '{"code":"not_found","message":"request not found"}'])
    for (const [hidden, by] of [
      [others, people.user],
      [foreign, people.user],
      [foreign, owner],
    ] as const) {
      const reply = await remind(hidden, by)
      assert.deepEqual([reply.status, reply.text], [404, unknown.text])
    }
    for (const one of [id, others, foreign]) assert.deepEqual(await remindersOf(one), [])
    const rows = await house.asSuperuser('select from access_request where id = any($1) and reminded_at is not null', [
      [id, others, foreign],
    ])
    assert.deepEqual(rows, [])
  })

  for (const [status, end] of [
    ['approved', (id: string) => on.approve(id)],
    ['denied', (id: string) => on.call(people.approver, 'POST', `/v1/requests/${id}/deny`, {})],
    ['cancelled', (id: string) => on.call(people.user, 'DELETE', `/v1/requests/${id}`)],
    [
      'expired',
      // The deadline has passed, and no worker has expired the request yet.
      (id: string) =>
        house.asSuperuser('update access_request set next_look_at = clock_timestamp() where id = $1', [id]),
    ],
  ] as const) {
    test(`is refused for a request that is ${status}`, async () => {
      const id = await on.ask(body)
      await end(id)
      const reply = await remind(id)
      assert.deepEqual([reply.status, reply.body.code], [409, 'request_not_pending'])
      assert.equal((reply.body.details as { status: string }).status, status)
      assert.deepEqual(await remindersOf(id), [])
    })
  }

  test('takes an empty body and nothing else', async () => {
    const id = await on.ask(body)
    const reply = await on.call(people.user, 'POST', `/v1/requests/${id}/remind`, { text: 'please' })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    assert.equal((await on.call(people.user, 'POST', `/v1/requests/${id}/remind`, {})).status, 200)
  })

  test('is carried out once for one Idempotency-Key; a refusal as too early is not kept for the key', async () => {
    const id = await on.ask(body)
    const keyed = (key: string) =>
      house.call({
        ...{ method: 'POST', url: `/v1/requests/${id}/remind`, tenant_id, token: people.user.token },
        headers: { 'idempotency-key': key },
      })
    const first = await keyed('one')
    const again = await keyed('one')
    assert.deepEqual([first.status, again.status, again.body], [200, 200, first.body])
    assert.equal(again.headers['idempotency-replayed'], 'true')
    assert.equal((await keyed('two')).status, 429)
    await agoBy(id, '10 minutes')
    assert.equal((await keyed('two')).status, 200)
    assert.equal((await remindersOf(id)).length, 2)
  })

  test('leaves the reminders that come by themselves their own rhythm and count', async () => {
    const id = await on.ask(body)
    const rhythm = () => house.asSuperuser('select sent, next_look_at from reminder where id = $1', [id])
    const before = await rhythm()
    assert.equal(before.length, 1)
    assert.equal((await remind(id)).status, 200)
    assert.deepEqual(await rhythm(), before)
    await house.asSuperuser(
      `update reminder set next_look_at = clock_timestamp(), lease_until = clock_timestamp() + interval '1 hour',
        generation = 7 where id = $1`,
      [id],
    )
    await remindOfRequest(ctx, { tenant_id, id, generation: '7' })
    assert.deepEqual(
      (await remindersOf(id)).map(({ data }) => data.nth),
      [undefined, 1],
    )
    assert.equal((await remind(id)).status, 429, 'a reminder that came by itself does not count')
  })

  test('notifies those who may decide, and says that the requester asks', async () => {
    const id = await on.ask(body)
    await remind(id)
    const subscriber = notifyPeople({ whoMayDecideEach, mails: false })
    await until('every event is delivered', async () => {
      await deliver(house.database, subscriber, (_name, event) => assert.fail(`event ${event} failed`))
      return (await house.asSuperuser(waitingFor, [subscriber.name])).length === 0
    })
    const notified = await house.asSuperuser<{ user_id: string; title: string; body: string }>(
      `select user_id, title, body from notification
        where resource_id = $1 and event_type = 'request.reminded' order by user_id`,
      [id],
    )
    const deciders = [owner, people.approver, people.admin].map(({ user_id }) => user_id).sort()
    assert.deepEqual(
      notified.map(({ user_id }) => user_id),
      deciders,
    )
    assert.equal(notified[0]?.title, 'Reminder: user requests ReadOnly on account 120000000001')
    assert.match(String(notified[0]?.body), /for 1 h, and asks for a decision: nobody has decided yet\./)
  })
})

suite('a reminder at the same moment', () => {
  test('as another one is sent once: the second waits for the first, and is too early', async () => {
    const id = await on.ask(body)
    const { replies } = await tx.interactive(async (inside) => {
      await inside.write([
        sql`select from access_request where tenant_id = ${tenant_id} and id = ${id} for no key update`,
      ])
      const url = `/v1/requests/${id}/remind`
      const replies = Promise.all([
        remind(id),
        house.call({ method: 'POST', url, tenant_id, api_key: people.user.api_key }),
      ])
      await locksAreWaitedFor(house, 2)
      return { replies }
    })
    const statuses = (await replies).map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 429])
    assert.equal((await remindersOf(id)).length, 1)
  })

  test('as a decision waits for it, and then reminds nobody', async () => {
    const id = await on.ask(body)
    const { reminding } = await tx.interactive(async (inside) => {
      assert.equal(await cancelPendingRequest({ ...ctx, tx: inside }, id), undefined)
      const reminding = remind(id)
      await aLockIsWaitedFor(house, inside)
      return { reminding }
    })
    const reply = await reminding
    assert.deepEqual([reply.status, reply.body.code], [409, 'request_not_pending'])
    assert.deepEqual(await remindersOf(id), [])
  })
})
