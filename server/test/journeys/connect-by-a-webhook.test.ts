import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiverStage } from '../support/receiver-stage.ts'
import { until } from '../support/wait.ts'
import type { Received } from '../support/webhook-receiver.ts'

/** What a tenant's own system says about how to connect, from its message to the holder of the grant. */
const { receiver, people, as, report, send, received, approved, grantOf } = await receiverStage()

const connectOf = async (id: string) =>
  (await as(people.user, 'GET', `/v1/grants/${id}`, undefined, 200)).connect as
    | { summary: string; links: { url: string }[] }
    | undefined
const door = (number: number) => ({
  url: `https://doors.example.com/${number}`,
  instructions: `Show your badge at ${number}.`,
})

test('a receiver says how to connect with its plan, its answer or its result, and the last word counts', async () => {
  const request_id = await approved('000000000011')
  const { id } = await received('access.grant', '000000000011')
  receiver.finish(id)
  assert.equal((await send(report(id, { status: 'done', connect: door(1) }))).status, 204)
  const byResult = await grantOf(request_id, 'active')
  assert.equal((await connectOf(byResult.id))?.links[0]?.url, 'https://doors.example.com/1')

  receiver.later = 0
  receiver.behave = ({ type }, usual) => {
    const reply = usual()
    const connect = type === 'access.grant' ? door(3) : door(2)
    return /plan|grant/.test(type) ? { ...reply, body: { ...(reply.body as object), connect } } : reply
  }
  const byAnswer = await grantOf(await approved('000000000012'), 'active')
  assert.equal((await connectOf(byAnswer.id))?.summary, 'Show your badge at 3.')
  receiver.behave = ({ type }, usual) => {
    const reply = usual()
    return type === 'access.plan' ? { ...reply, body: { ...(reply.body as object), connect: door(2) } } : reply
  }
  const byPlan = await grantOf(await approved('000000000013'), 'active')
  assert.equal((await connectOf(byPlan.id))?.summary, 'Show your badge at 2.')

  // A second grant of the same access joins it: the receiver gets no second message to answer.
  receiver.behave = (_received: Received, usual) => usual()
  const joining = await grantOf(await approved('000000000012'), 'active')
  assert.equal((await connectOf(joining.id))?.summary, 'Show your badge at 3.')

  // Once the access is gone, what was said of it is no longer true.
  for (const { id } of [byAnswer, joining]) await as(people.user, 'POST', `/v1/grants/${id}/revoke`, {}, 200)
  await until('the access is gone', async () => {
    const { provisioning_status } = await as(people.user, 'GET', `/v1/grants/${joining.id}`, undefined, 200)
    return provisioning_status === 'deprovisioned'
  })
  const later = await grantOf(await approved('000000000012'), 'active')
  assert.equal(await connectOf(later.id), undefined)
  receiver.later = Number.POSITIVE_INFINITY
})

test('what a receiver says about how to connect never fails a grant, whatever it is', async () => {
  receiver.later = 0
  const wrong: unknown[] = [
    { url: 'http://a.example' },
    'text',
    { instructions: 'a\u202eb' },
    { deep: [[[1e308]]] },
    7,
    [],
  ]
  for (const [index, connect] of wrong.entries()) {
    receiver.behave = (_received, usual) => ({ ...usual(), body: { ...(usual().body as object), connect } })
    const grant = await grantOf(await approved(`00000000010${index}`), 'active')
    assert.match((await connectOf(grant.id))?.summary ?? '', /not in the form that Sallyport shows/)
  }
  receiver.behave = (_received: Received, usual) => usual()
  receiver.later = Number.POSITIVE_INFINITY
  const reported = [{ a: Array(2_000).fill(1e308) }, { a: 'x'.repeat(20_000) }, 'text', { url: 'javascript:x' }]
  for (const [index, connect] of reported.entries()) {
    const account = `00000000011${index}`
    const request_id = await approved(account)
    const { id } = await received('access.grant', account)
    receiver.finish(id)
    assert.equal((await send(report(id, { status: 'done', connect }))).status, 204)
    const grant = await grantOf(request_id, 'active')
    assert.match((await connectOf(grant.id))?.summary ?? '', /not in the form that Sallyport shows/)
  }
})
