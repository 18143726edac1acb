import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deliverAll } from '../../test/support/deliver.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { subscribers } from '../app.ts'
import type { Database } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'

/** The number of statements that a call reads for its tenant. */
let reads = 0
const counted = (tx: Tx): Tx => ({
  ...tx,
  read(statement) {
    reads += 1
    return tx.read(statement)
  },
})
const house = await openHouse({}, (database: Database) => ({
  ...database,
  tenant: (id) => counted(database.tenant(id)),
}))
const on = await requestStage(house, 'nobody may')
const { owner, people } = on
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')
await on.rule('@approval_mode("auto") permit (principal, action == Action::"List", resource);')
await on.rule('@approval_mode("break_glass") permit (principal, action == Action::"Admin", resource);')
const [closed, open, atNight] = ['110000000001', '110000000002', '110000000003']
await on.rule(`forbid (principal, action == Action::"approve", resource in cloud_account::"${closed}");`)

const warning = {
  code: 'nobody_may_approve',
  message: 'by the current rules and roles no user may approve this request; ask an administrator to change them',
}

/** Requests access. Returns the warnings, which equal those of a preview, and the types of the events. */
async function requestAccess(body: object, person: Person = people.user) {
  const preview = await on.call(person, 'POST', '/v1/requests/preview', body)
  const request = await on.created(person, '/v1/requests', body)
  const eventTypes = (await on.eventsOf(String(request.id))).map(({ type }) => type)
  assert.deepEqual(preview.body.warnings, request.warnings)
  return { warnings: request.warnings, eventTypes, id: String(request.id) }
}

async function without<Result>(some: Person[], work: () => Promise<Result>): Promise<Result> {
  const active = (is: boolean) =>
    house.asSuperuser('update tenant_user set active = $2 where id = any($1::uuid[])', [
      some.map(({ user_id }) => user_id),
      is,
    ])
  await active(false)
  return work().finally(() => active(true))
}

suite('a request that no user may approve', () => {
  test('has a warning in its reply and its preview, and emits an event', async () => {
    const { warnings, eventTypes } = await requestAccess(on.account(closed))
    assert.deepEqual(warnings, [warning])
    assert.deepEqual(eventTypes, ['request.created', 'request.unapprovable'])
  })

  test('is one whose only possible approver is the requester', async () => {
    const { warnings } = await without([owner, people.admin], () => requestAccess(on.account(open), people.approver))
    assert.deepEqual(warnings, [warning])
  })

  test('is not one that another person may approve', async () => {
    const { warnings, eventTypes } = await without([owner, people.admin], () => requestAccess(on.account(open)))
    assert.deepEqual([warnings, eventTypes], [undefined, ['request.created']])
  })

  test('is not one that needs no approval', async () => {
    const { warnings, eventTypes } = await requestAccess(on.account(closed, { action: 'List' }))
    assert.deepEqual([warnings, eventTypes], [undefined, ['request.created', 'request.approved']])
    const emergency = { action: 'Admin', break_glass: true, reason: 'the site is down' }
    assert.equal((await requestAccess(on.account(closed, emergency))).warnings, undefined)
  })

  test('has no warning if it is uncertain: if a rule tests when the approver decides', async () => {
    const remove = await on.rule(
      `forbid (principal, action == Action::"approve", resource in cloud_account::"${atNight}")
        when { context.now < datetime("2100-01-01") };`,
    )
    const { warnings, eventTypes } = await requestAccess(on.account(atNight))
    assert.deepEqual([warnings, eventTypes], [undefined, ['request.created']])
    // It is certain if no user holds the scope, whatever the time.
    const { warnings: alone } = await without([owner, people.admin, people.approver], () =>
      requestAccess(on.account(atNight)),
    )
    assert.deepEqual(alone, [warning])
    await remove()
  })

  test('costs one more round trip, and none if no person has to decide', async () => {
    const readsOf = async (body: object) => {
      await on.ask(body)
      reads = 0
      await on.ask(body)
      return reads
    }
    const atOnce = await readsOf(on.account(open, { action: 'List' }))
    assert.deepEqual([await readsOf(on.account(open)), await readsOf(on.account(closed))], [atOnce + 1, atOnce + 1])
  })

  test('is notified once to each user who can fix it', async () => {
    const { id } = await requestAccess(on.account(closed))
    const failures: unknown[] = []
    const notifications = () =>
      house.asSuperuser(
        `select user_id, event_type, title from notification where resource_id = $1 and event_type <> 'request.created'
          order by user_id`,
        [id],
      )
    // Open transactions in other databases of the server delay delivery: an event waits for all earlier ones to end.
    const untilDelivered = () =>
      until('the event is delivered', async () => {
        for (const subscriber of subscribers(false))
          await deliverAll(house.database, subscriber, (...failure) => failures.push(failure))
        const [reached] = await house.asSuperuser<{ all: boolean }>(
          `select bool_and((c.xid, c.seq) >= (e.xid, e.seq)) as all from event_cursor c, event e
            where e.subject_id = $1`,
          [id],
        )
        return reached?.all
      })
    await untilDelivered()
    await house.asSuperuser(`update event_cursor set xid = '0', seq = 0`)
    await untilDelivered()
    assert.deepEqual(failures, [])
    const title = `Nobody may approve: user requests ReadOnly on account ${closed}`
    const notice = { event_type: 'request.unapprovable', title }
    const administrators = [owner, people.admin].map(({ user_id }) => user_id).sort()
    assert.deepEqual(
      await notifications(),
      administrators.map((user_id) => ({ user_id, ...notice })),
    )
  })
})
