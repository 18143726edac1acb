import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { together } from '../../test/support/race.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { sampleApproval } from '../policy-engine/cedar/samples.ts'
import { decideApprove } from '../policy-engine/deciding/decide.ts'
import { readRuleSetVersion } from '../policy-engine/deciding/rule-set-store.ts'
import type { RequestDecision } from './decision.ts'
import { keepRefusedTry } from './decision-store.ts'

/** Refused tries to decide a request, as they are recorded. */
const house = await openHouse()
const on = await requestStage(house, 'refused tries')
const { people } = on
const forbidApprove = 'forbid (principal, action == Action::"approve", resource)'

const decide = (person: Person, id: string, how: 'approve' | 'deny') =>
  on.call(person, 'POST', `/v1/requests/${id}/${how}`, {})
async function refused(person: Person, id: string, how: 'approve' | 'deny' = 'approve'): Promise<void> {
  const { status, body } = await decide(person, id, how)
  assert.deepEqual([status, body.code], [403, 'policy_denied'])
}
async function decisions(id: string, person: Person = people.auditor): Promise<RequestDecision[]> {
  const reply = await on.call(person, 'GET', `/v1/requests/${id}/decision`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data as RequestDecision[]
}
const partsOf = (all: RequestDecision[]) => all.map(({ kind, allowed, principal_id }) => [kind, allowed, principal_id])

await on.rule('permit (principal, action, resource);')

test('a refused try to decide is recorded as a question about the person who tried', async () => {
  const id = await on.ask(on.account('600000000001'))
  const lift = await on.rule(`@notice("by security") ${forbidApprove} when { context.via == "token" };`)
  await refused(people.approver, id)
  await lift()
  await on.approve(id)
  const all = await decisions(id)
  assert.deepEqual(partsOf(all), [
    ['ask', true, people.user.user_id],
    ['approve', false, people.approver.user_id],
    ['approve', true, people.approver.user_id],
  ])
  const [, tried] = all
  assert.deepEqual([tried?.notices, tried?.approval_mode, tried?.question.via], [['by security'], null, 'token'])
  // How a person decided is shown to that person and to auditors, as it is for a decision that was made.
  const [, shown] = await decisions(id, people.user)
  assert.equal(shown?.question.source_ip, undefined)
})

test('a user who tries without end is recorded once for each version of the rules, and in the audit log each time', async () => {
  const id = await on.ask(on.account('600000000002'))
  const lift = await on.rule(`${forbidApprove};`)
  await together(
    Array.from({ length: 8 }, (_, index) => () => refused(people.approver, id, index % 2 ? 'deny' : 'approve')),
  )
  await refused(people.admin, id)
  const once = [
    ['ask', true, people.user.user_id],
    ['approve', false, people.approver.user_id],
    ['approve', false, people.admin.user_id],
  ]
  assert.deepEqual(partsOf(await decisions(id)), once)
  const tries = (await on.eventsOf(id)).filter(({ type }) => type === 'access.refused')
  assert.equal(tries.length, 9)
  const liftOther = await on.rule(`${forbidApprove};`)
  await refused(people.approver, id)
  assert.deepEqual(partsOf(await decisions(id)), [...once, ['approve', false, people.approver.user_id]])
  await lift()
  await liftOther()
})

test('a try waits for another one that is being recorded, and is then recorded no more', async () => {
  const id = await on.ask(on.account('600000000004'))
  const tx = house.database.tenant(on.tenant_id)
  const none = { tenant_id: on.tenant_id, version: await readRuleSetVersion(tx), rules: [] }
  const { targets, context, request } = sampleApproval
  const [resource] = targets
  assert.ok(resource !== undefined)
  const requested = { ...request, id, resource, reason: null, metadata: {}, places: [], home: undefined }
  const question = { kind: 'approve', principal_id: people.approver.user_id, requested, when: context } as const
  const statements = keepRefusedTry(tx, decideApprove(none, sampleApproval), question, id)
  let isOver = false
  const other = await tx.interactive(async (first) => {
    await first.write(statements)
    const second = tx.write(statements).finally(() => {
      isOver = true
    })
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await until('the second waits or is over', async () => isOver || (await house.asSuperuser(waiting)).length > 0)
    return { second }
  })
  await other.second
  assert.deepEqual(partsOf(await decisions(id)).slice(1), [['approve', false, people.approver.user_id]])
})

test('an approval that is refused because of the requester is recorded as a question about the requester', async () => {
  const id = await on.ask(on.account('600000000003'))
  await on.rule('forbid (principal, action, resource == cloud_account::"600000000003");')
  for (const person of [people.approver, people.admin, people.approver]) await refused(person, id)
  const all = await decisions(id)
  assert.deepEqual(partsOf(all), [
    ['ask', true, people.user.user_id],
    ['ask_again', false, people.user.user_id],
  ])
  // It was evaluated in the circumstances of the request, so that it says nothing about the person who tried.
  assert.deepEqual(all[0]?.question, all[1]?.question)
  assert.equal((await decide(people.approver, id, 'deny')).status, 200)
})
