import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** An approver gives less time than was requested: that is what policy evaluates, and what is given. */
const house = await openHouse()
const on = await requestStage(house, 'narrowed')
const { owner, people } = on
await on.rule('permit (principal, action, resource);')

const hour = 3_600
const ask = (id: string, duration_seconds = 2 * hour) => on.ask(on.account(id, { duration_seconds }))
const approve = (id: string, body: object) => on.call(people.approver, 'POST', `/v1/requests/${id}/approve`, body)
const read = async (id: string) => (await on.call(people.user, 'GET', `/v1/requests/${id}`)).body

/** The seconds that the only grant of the request lasts. */
async function lastsFor(id: string): Promise<number> {
  const [row] = await house.asSuperuser<{ seconds: number }>(
    `select extract(epoch from expires_at - activated_at)::integer as seconds from access_grant where request_id = $1`,
    [id],
  )
  return row?.seconds ?? -1
}

test('policy evaluates the shorter time again right before the access is given', async () => {
  const given = await ask('210000000021')
  const refused = await ask('210000000022')
  assert.equal((await approve(given, { duration_seconds: hour })).status, 200)
  assert.equal((await approve(refused, { duration_seconds: hour / 2 })).status, 200)
  const ends = [
    await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 3600 };'),
    await on.rule('forbid (principal, action, resource) when { context.duration_seconds < 3600 };'),
  ]
  startWorkers(house)
  await on.grantsAre(given, 'active', 'successful')
  await on.grantsAre(refused, 'failed', 'failed')
  for (const end of ends) await end()
})

suite('an approver', () => {
  test('gives less time: the grant lasts so long, and the request keeps what was requested', async () => {
    const id = await ask('210000000001')
    const reply = await approve(id, { duration_seconds: hour, reasoning: 'one hour will do' })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.duration_seconds, 2 * hour)
    const { duration_seconds, approved_duration_seconds, status } = await read(id)
    assert.deepEqual([status, duration_seconds, approved_duration_seconds], ['approved', 2 * hour, hour])
    await on.grantsAre(id, 'active', 'successful')
    assert.equal(await lastsFor(id), hour)
    const [, event] = await on.eventsOf(id)
    assert.deepEqual([event?.type, event?.data.approved_duration_seconds], ['request.approved', hour])
  })

  test('who says nothing, or the requested time, gives what was requested', async () => {
    for (const [id, body] of [
      ['210000000002', {}],
      ['210000000003', { duration_seconds: null }],
      ['210000000004', { duration_seconds: 2 * hour }],
    ] as const) {
      const request = await ask(id)
      assert.equal((await approve(request, body)).status, 200)
      assert.equal((await read(request)).approved_duration_seconds, null)
      await on.grantsAre(request, 'active', 'successful')
      assert.equal(await lastsFor(request), 2 * hour)
    }
  })

  test('never gives more than was requested, nor less than a minute; the request still waits', async () => {
    const id = await ask('210000000005')
    for (const duration_seconds of [2 * hour + 1, 59, 0, -1, 1.5, '60']) {
      const reply = await approve(id, { duration_seconds })
      assert.equal(reply.status, 400, reply.text)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual([...new Set(fields.map(({ pointer }) => pointer))], ['/duration_seconds'])
    }
    assert.equal((await read(id)).status, 'pending')
    assert.equal((await approve(id, { duration_seconds: 60 })).status, 200)
  })

  test('says no duration with a denial', async () => {
    const id = await ask('210000000006')
    const reply = await on.call(people.approver, 'POST', `/v1/requests/${id}/deny`, { duration_seconds: hour })
    assert.equal(reply.status, 400)
    assert.equal((await read(id)).status, 'pending')
  })

  test('may approve a shorter time where policy lets them approve no longer one', async () => {
    const end = await on.rule(
      'forbid (principal, action == Action::"approve", resource) when { context.duration_seconds > 3600 };',
    )
    const id = await ask('210000000007')
    assert.equal((await approve(id, {})).body.code, 'policy_denied')
    assert.equal((await approve(id, { duration_seconds: hour + 1 })).body.code, 'policy_denied')
    assert.equal((await approve(id, { duration_seconds: hour })).status, 200)
    await end()
  })
})

suite('policy', () => {
  test('evaluates the shorter time at the approval: a request that is no longer permitted for longer is given for less', async () => {
    const id = await ask('210000000011')
    const end = await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 3600 };')
    assert.equal((await approve(id, {})).body.code, 'policy_denied')
    assert.equal((await approve(id, { duration_seconds: hour })).status, 200)
    // And again right before it is given.
    await on.grantsAre(id, 'active', 'successful')
    assert.equal(await lastsFor(id), hour)
    const decisions = (await on.call(owner, 'GET', `/v1/requests/${id}/decision`)).body.data as {
      kind: string
      question: { duration_seconds: number }
    }[]
    assert.deepEqual(
      decisions.map(({ kind, question }) => [kind, question.duration_seconds]),
      [
        ['ask', 2 * hour],
        ['ask_again', 2 * hour],
        ['approve', hour],
      ],
    )
    await end()
  })
})

test('the database refuses a longer time than was requested, and one without an approver', async () => {
  const id = await ask('210000000013')
  const set = (change: string) => house.asSuperuser(`update access_request set ${change} where id = $1`, [id])
  const refused = { constraint: 'access_request_approved_duration_ck' }
  await assert.rejects(set('approved_duration_seconds = 60'), refused)
  assert.equal((await approve(id, { duration_seconds: hour })).status, 200)
  await assert.rejects(set('approved_duration_seconds = duration_seconds'), refused)
  await assert.rejects(set('approved_duration_seconds = 59'), refused)
})

test('a narrowed request is listed with both durations', async () => {
  const id = await ask('210000000014')
  assert.equal((await approve(id, { duration_seconds: hour })).status, 200)
  const { data } = (await on.call(people.user, 'GET', '/v1/requests?resource_id=210000000014')).body as {
    data: Record<string, unknown>[]
  }
  assert.deepEqual(
    data.map((one) => [one.id, one.duration_seconds, one.approved_duration_seconds, one.extends]),
    [[id, 2 * hour, hour, null]],
  )
})
