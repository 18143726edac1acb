import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { claimDue, type WorkItem } from '../jobs/claim.ts'
import { systemActor } from '../kernel/context.ts'
import { remindApprovers } from './remind-approvers.job.ts'
import { maxReminders, remindOfRequest } from './reminder-store.ts'
import { cancelPendingRequest } from './transition-store.ts'

const house = await openHouse()
const on = await requestStage(house, 'reminders')
const { tenant_id, owner, people } = on
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')
await on.rule('@approval_mode("auto") permit (principal, action == Action::"List", resource);')
const body = on.account('120000000001')
const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }

type Reminder = { sent: number; after_seconds: number; at_its_end: boolean }

/** The request's reminder, and when it is due next. */
async function reminderOf(request_id: string): Promise<Reminder | undefined> {
  const [row] = await house.asSuperuser<Reminder>(
    `select r.sent, round(extract(epoch from r.next_look_at - clock_timestamp()) / 60)::int * 60 as after_seconds,
        r.next_look_at = a.next_look_at as at_its_end
      from reminder r join access_request a on a.id = r.id where r.id = $1`,
    [request_id],
  )
  return row
}

/** The numbers of the reminders that were emitted. */
const remindersOf = async (request_id: string) =>
  (await on.eventsOf(request_id)).flatMap(({ type, data }) => (type === 'request.reminded' ? [data.nth] : []))

const set = (key: string, value: string) => on.call(owner, 'PUT', `/v1/settings/${key}`, { value })
const hasten = (request_id: string) =>
  house.asSuperuser('update reminder set next_look_at = clock_timestamp() where id = $1', [request_id])

/** Claims due reminders as a worker does. */
async function claimed(): Promise<WorkItem[]> {
  const claimQuery = { table: 'reminder', part: undefined, max: 50, maxPerTenant: 50, without: [] } as const
  const [claim] = await claimDue(house.database, [claimQuery])
  return claim?.items ?? []
}

/** Makes the reminder due, and does all due work. */
async function remind(request_id: string): Promise<void> {
  await hasten(request_id)
  for (const item of await claimed()) await remindOfRequest(ctx, item)
}

suite('the approvers of a request are reminded', () => {
  test('after ten minutes, an hour more and two hours more, and then no more', async () => {
    const id = await on.ask(body)
    for (const [sent, after_seconds] of [600, 3600, 7200].entries()) {
      assert.deepEqual(await reminderOf(id), { sent, after_seconds, at_its_end: false })
      await remind(id)
    }
    const last = await reminderOf(id)
    assert.deepEqual([last?.sent, last?.at_its_end], [maxReminders, true])
    assert.deepEqual(await remindersOf(id), [1, 2, 3])
  })

  test('after a longer configured wait, then after twice as long each time', async () => {
    await set('requests.pending_ttl_seconds', '2592000')
    await set('notifications.reminder_seconds', '7200')
    const id = await on.ask(body)
    for (const [sent, after_seconds] of [7200, 14_400, 28_800].entries()) {
      assert.deepEqual(await reminderOf(id), { sent, after_seconds, at_its_end: false })
      await remind(id)
    }
    assert.deepEqual(await remindersOf(id), [1, 2, 3])
    await set('requests.pending_ttl_seconds', '28800')
    await set('notifications.reminder_seconds', '600')
  })

  test('not after its deadline, when the last run deletes the row', async () => {
    await set('requests.pending_ttl_seconds', '3600')
    const id = await on.ask(body)
    await set('requests.pending_ttl_seconds', '28800')
    await remind(id)
    assert.equal((await reminderOf(id))?.at_its_end, true)
    await house.asSuperuser('update access_request set next_look_at = clock_timestamp() where id = $1', [id])
    await remind(id)
    assert.equal(await reminderOf(id), undefined)
    assert.deepEqual(await remindersOf(id), [1])
  })

  for (const [how, end] of [
    ['approved', (id: string) => on.approve(id)],
    ['denied', (id: string) => on.call(people.approver, 'POST', `/v1/requests/${id}/deny`, {})],
    ['cancelled', (id: string) => on.call(people.user, 'DELETE', `/v1/requests/${id}`)],
  ] as const) {
    test(`not if it was ${how} meanwhile`, async () => {
      const id = await on.ask(body)
      await end(id)
      await remind(id)
      assert.deepEqual([await remindersOf(id), await reminderOf(id)], [[], undefined])
    })
  }

  test('not if no person has to decide', async () => {
    assert.equal(await reminderOf(await on.ask({ ...body, action: 'List' })), undefined)
  })

  test('by the tenant’s setting: sooner, later than the request waits, or never', async () => {
    await set('notifications.reminder_seconds', '60')
    const id = await on.ask(body)
    assert.equal((await reminderOf(id))?.after_seconds, 60)
    await set('notifications.reminder_seconds', '0')
    await remind(id)
    assert.deepEqual([await remindersOf(id), (await reminderOf(id))?.at_its_end], [[], true])
    assert.equal(await reminderOf(await on.ask(body)), undefined)
    await set('notifications.reminder_seconds', '86400')
    assert.equal(await reminderOf(await on.ask(body)), undefined)
    await set('notifications.reminder_seconds', '600')
  })
})

suite('a reminder', () => {
  test('is emitted once, even if a worker dies: a worker that lost the lease emits nothing', async () => {
    const id = await on.ask(body)
    await hasten(id)
    const [dead] = await claimed()
    assert.ok(dead)
    await house.asSuperuser('update reminder set lease_until = clock_timestamp() where id = $1', [id])
    const [heir] = await claimed()
    assert.ok(heir)
    await remindOfRequest(ctx, dead)
    assert.deepEqual(await remindersOf(id), [])
    await remindOfRequest(ctx, heir)
    await remindOfRequest(ctx, heir)
    await remindOfRequest(ctx, dead)
    assert.deepEqual(await remindersOf(id), [1])
  })

  test('concurrent with a decision waits for the lock on the request, and then emits nothing', async () => {
    const id = await on.ask(body)
    await hasten(id)
    const [item] = await claimed()
    assert.ok(item)
    const reminding = await ctx.tx.interactive(async (inside) => {
      assert.equal(await cancelPendingRequest({ ...ctx, tx: inside }, id), undefined)
      const done = remindOfRequest(ctx, item)
      await aLockIsWaitedFor(house, inside)
      return { done }
    })
    await reminding.done
    assert.deepEqual([await remindersOf(id), await reminderOf(id)], [[], undefined])
  })

  test('is emitted once by two workers', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => on.ask(body)))
    const workers = [startWorkers(house, [remindApprovers]), startWorkers(house, [remindApprovers])]
    for (const id of ids) await hasten(id)
    await until('each reminder was emitted', async () => {
      const seen = await Promise.all(ids.map(reminderOf))
      return seen.every((reminder) => reminder?.sent === 1)
    })
    for (const { stop } of workers) await stop()
    for (const id of ids) assert.deepEqual(await remindersOf(id), [1])
  })
})
