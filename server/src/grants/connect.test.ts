import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'

/** Who reads how to connect, where, and how long. */
const house = await openHouse()
house.app.startWorkers()
const on = await driftStage(house, 'connecting', false)
const { people, tenant_id } = on
const access = await on.held('650000000001')
const mark = 'a way that only the holder knows'

type WithConnect = { connect?: { kind: string; summary: string } }
const read = async (person: Person, id = access.grant) => {
  const { status, body } = await on.call(person, 'GET', `/v1/grants/${id}`)
  return { status, connect: (body as WithConnect).connect }
}
const keep = (text: string | null) =>
  house.asSuperuser(
    `update entitlement set connect = case when $2::text is not null
        then jsonb_set(connect, '{summary}', to_jsonb($2::text)) end
      where tenant_id = $1`,
    [tenant_id, text],
  )

test('the notification of the activation says it to the holder', async () => {
  const body = await until('the holder is notified', async () => {
    const [row] = await house.asSuperuser<{ body: string }>(
      `select body from notification where tenant_id = $1 and user_id = $2 and event_type = 'grant.activated'`,
      [tenant_id, people.user.user_id],
    )
    return row?.body
  })
  assert.match(body, /How to connect: This access is simulated, in the sandbox\./)
})

test('the holder of a simulated grant reads that there is nothing to connect to', async () => {
  const { connect } = await read(people.user)
  assert.equal(connect?.kind, 'sandbox')
  assert.match(connect?.summary ?? '', /simulated/)
})

test('the holder and readers of all grants read how to connect, alone and in lists; nobody else does', async () => {
  await keep(mark)
  for (const person of [people.user, people.admin]) {
    assert.equal((await read(person)).connect?.summary, mark)
    const listed = await on.call(person, 'GET', `/v1/grants?request_id=${access.request}`)
    assert.equal((listed.body.data as WithConnect[])[0]?.connect?.summary, mark)
  }
  const [others] = await on.grantsAre(await on.ask(on.account('650000000002'), people.approver), 'active', 'successful')
  await keep(mark)
  assert.equal((await read(people.approver, others?.id)).connect?.summary, mark)
  const hidden = await on.call(people.user, 'GET', `/v1/grants/${others?.id}`)
  assert.equal(hidden.status, 404)
  const listed = await on.call(people.user, 'GET', `/v1/grants?user_id=${people.approver.user_id}`)
  assert.ok(!`${hidden.text}${listed.text}`.includes(mark))
})

test('the status view of a request, the audit log and its export say nothing of it', async () => {
  await keep(mark)
  for (const url of [
    `/v1/access/requests/${access.request}`,
    `/v1/requests/${access.request}`,
    '/v1/audit-events?limit=200',
    '/v1/audit-events/export',
  ]) {
    const reply = await on.call(people.auditor, 'GET', url)
    const again = reply.status === 200 ? reply : await on.call(people.user, 'GET', url)
    assert.equal(again.status, 200, again.text)
    assert.ok(!again.text.includes(mark) && !again.text.includes('"connect"'), url)
  }
})

test('a grant that was planned before it was known has none, until the next plan', async () => {
  await keep(null)
  assert.equal((await read(people.user)).connect, undefined)
  const again = await on.held('650000000001')
  assert.equal((await read(people.user, again.grant)).connect?.kind, 'sandbox')
  assert.equal((await read(people.user)).connect?.kind, 'sandbox', 'it is of the entitlement that both share')
  await on.revoke(again)
})

test('nothing is said after the end', async () => {
  await keep(mark)
  await on.revoke(access)
  const ended = await on.call(people.user, 'GET', `/v1/grants/${access.grant}`)
  assert.equal(ended.status, 200)
  assert.ok(!ended.text.includes(mark))
})
