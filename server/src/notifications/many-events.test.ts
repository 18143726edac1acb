import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { deliverAll } from '../../test/support/deliver.ts'
import { seedManyApprovers } from '../../test/support/many-approvers.ts'
import { notifiedStage } from '../../test/support/notified-stage.ts'
import { recordingTx } from '../../test/support/rows-read.ts'
import type { DeliveredEvent } from '../events/deliver.ts'
import { systemActor } from '../kernel/context.ts'
import { whoMayDecideEach } from '../requests/possible-approvers.flow.ts'
import { notifiedEvents } from './notification-rules.ts'
import { notifyPeople } from './notify-people.subscriber.ts'

/** Many events of one tenant that are delivered together. */
const on = await notifiedStage('many events')
const { house, owner, people, tenant_id } = on
const tx = house.database.tenant(tenant_id)
const subscriber = notifyPeople({ whoMayDecideEach, mails: true })
const handle = (events: readonly DeliveredEvent[], through = tx) =>
  subscriber.handle({ tx: through, actor: systemActor, request_id: 'test' }, events)

/** The tenant's events that somebody may be notified of, in the order of their commits. */
const eventsSoFar = () =>
  house.asSuperuser<DeliveredEvent>(
    `select id, type, at, actor_kind, actor_id, subject_type, subject_id, data from event
      where tenant_id = $1 and type = any($2) order by event.xid, event.seq`,
    [tenant_id, notifiedEvents],
  )

async function forget(): Promise<void> {
  await house.asSuperuser('delete from notification_mail where tenant_id = $1', [tenant_id])
  await house.asSuperuser('delete from notification where tenant_id = $1', [tenant_id])
}

/** What each user got, in the order of their stream, and what is mailed of it. */
async function written() {
  const inOrder = (order: string) =>
    house.asSuperuser(
      `select n.user_id, n.event_id, n.event_type, n.title, n.body, n.resource_type, n.resource_id, m.kind
        from notification n left join notification_mail m on m.tenant_id = n.tenant_id and m.id = n.id
        where n.tenant_id = $1 order by n.user_id, ${order}`,
      [tenant_id],
    )
  const rows = await inOrder('n.xid, n.seq')
  assert.deepEqual(await inOrder('n.id'), rows, 'a list and a stream have the same order')
  return rows
}

/** Events of every kind that a person causes, several of each request, mixed. */
async function liveADay(): Promise<void> {
  const { user, approver, admin, auditor } = people
  const done = async (...call: Parameters<typeof on.call>) => {
    const reply = await on.call(...call)
    assert.ok(reply.status < 300, reply.text)
  }
  const account = (number: number, more = {}) => on.account(`80000000000${number}`, more)
  const [first, second, third, of_approver, fifth] = [
    await on.ask(account(1, { reason: 'look' })),
    await on.ask(account(2)),
    await on.ask(account(3), admin),
    await on.ask(account(4), approver),
    await on.ask(account(5), owner),
  ]
  for (const [person, id, text] of [
    [user, first, 'a question'],
    [approver, first, 'an answer'],
    [admin, third, 'mine'],
  ] as const)
    await done(person, 'POST', `/v1/requests/${id}/comments`, { text })
  await done(user, 'POST', `/v1/requests/${first}/remind`, {})
  const auto = await on.ask(account(6, { action: 'List' }))
  await on.ask(account(7, { action: 'Admin', break_glass: true, reason: 'it burns' }))
  await on.ask(account(8, { action: 'Admin', break_glass: true, reason: 'here too' }), approver)
  await on.approve(first)
  await done(approver, 'POST', `/v1/requests/${second}/deny`, { reasoning: 'no' })
  await done(owner, 'POST', `/v1/requests/${of_approver}/approve`, {})
  await done(owner, 'DELETE', `/v1/requests/${fifth}`)
  const [grant] = await on.grantsAre(auto, 'active', 'successful')
  await on.grantsAre(first, 'active', 'successful')
  await done(owner, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
  await on.grantsAre(auto, 'revoked', 'deprovisioned')
  await done(owner, 'POST', `/v1/users/${auditor.user_id}/suspend`)
}

suite('many events of a tenant', () => {
  let events: DeliveredEvent[]
  before(async () => {
    await on.call(owner, 'PUT', '/v1/users/me/notification-preferences', {
      kinds: { decision_needed: { mail: false } },
    })
    await liveADay()
    events = await eventsSoFar()
  })

  test('notify the same users of the same, in the same order, however they are delivered', async () => {
    const types = new Set(events.map(({ type }) => type))
    assert.ok(events.length >= 25 && types.size >= 10, `${events.length} events: ${[...types].join(', ')}`)
    await forget()
    for (const event of events) await handle([event])
    const expected = await written()
    assert.ok(expected.length > events.length, 'some events notify several users')
    for (const size of [events.length, 7, 2]) {
      await forget()
      for (let start = 0; start < events.length; start += size) await handle(events.slice(start, start + size))
      assert.deepEqual(await written(), expected, `${size} at a time`)
    }
    await handle(events)
    assert.deepEqual(await written(), expected, 'once more')
  })

  test('take no more statements than a few do', async () => {
    const ordinary = events.filter(({ type }) => type.startsWith('request.') || type.startsWith('grant.'))
    const statementsFor = async (some: readonly DeliveredEvent[]) => {
      await forget()
      const { tx: through, statements } = recordingTx(tx)
      await handle(some, through)
      return statements.length
    }
    const types = new Set(ordinary.map(({ type }) => type))
    const few = [...types].flatMap((type) => ordinary.find((event) => event.type === type) ?? [])
    assert.ok(few.length < ordinary.length)
    assert.equal(await statementsFor(ordinary), await statementsFor(few))
  })

  test('park the one that fails alone, and notify of the others', async () => {
    const from = events.length
    const [good, bad, after] = [
      await on.ask(on.account('810000000001')),
      await on.ask(on.account('810000000002')),
      await on.ask(on.account('810000000003')),
    ]
    const failed: string[] = []
    const failing = notifyPeople({
      mails: true,
      whoMayDecideEach(of, asked) {
        if (asked.some(({ request_id }) => request_id === bad)) throw new Error('not this one')
        return whoMayDecideEach(of, asked)
      },
    })
    await deliverAll(house.database, failing, ({ event_id }) => failed.push(event_id))
    const created = (await eventsSoFar()).slice(from).filter(({ type }) => type === 'request.created')
    const [, of_bad] = created
    assert.deepEqual(failed, [of_bad?.id])
    const notified = await house.asSuperuser<{ resource_id: string }>(
      'select distinct resource_id from notification where resource_id = any($1)',
      [[good, bad, after]],
    )
    assert.deepEqual(notified.map(({ resource_id }) => resource_id).sort(), [good, after].sort())
    const parked = await house.asSuperuser('select event_id, last_error from event_parked')
    assert.deepEqual(parked, [{ event_id: of_bad?.id, last_error: 'not this one' }])
  })

  test('for many users each are written in parts of a bounded size', async () => {
    await seedManyApprovers(house.asSuperuser, tenant_id, 620)
    const asked = [await on.ask(on.account('820000000001')), await on.ask(on.account('820000000002'))]
    const some = (await eventsSoFar()).filter(({ subject_id }) => asked.includes(subject_id))
    const { tx: through, statements } = recordingTx(tx)
    await handle(some, through)
    const inserts = statements.filter(({ text }) => text.includes('insert into notification ('))
    const sizes = inserts.map(({ values }) => (JSON.parse(String(values[0])) as unknown[]).length)
    assert.deepEqual(sizes, [500, 500, 246])
    const rows = await house.asSuperuser('select from notification where resource_id = any($1)', [asked])
    assert.equal(rows.length, 2 * 623)
  })
})
