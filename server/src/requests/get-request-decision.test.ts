import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { newId } from '../kernel/id.ts'
import { decisionFor, type FullDecision } from './decision.ts'

/** The policy questions about a request, with their answers. */
const house = await openHouse()
const on = await requestStage(house, 'reasons')
const { owner, people } = on

type ShownDecision = Omit<FullDecision, 'errors'> & { errors?: unknown[] }

async function decisions(id: string, person: Person, query = ''): Promise<ShownDecision[]> {
  const reply = await on.call(person, 'GET', `/v1/requests/${id}/decision${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data as ShownDecision[]
}

await on.rule('@notice("ask first") permit (principal, action, resource);')
const request = await on.approve(await on.ask(on.account('600000000001', { reason: 'to look', duration_seconds: 600 })))
await on.rule('@notice("closed since") forbid (principal, action, resource == cloud_account::"600000000001");')
const workers = startWorkers(house)
await on.grantsAre(request, 'failed', 'failed')
await workers.stop()

test('lists each question in order: request, approval, and reauthorization before provisioning', async () => {
  const shown = await decisions(request, people.user)
  assert.deepEqual(
    shown.map(({ kind, allowed, approval_mode, principal_id }) => [kind, allowed, approval_mode, principal_id]),
    [
      ['ask', true, 'require', people.user.user_id],
      ['approve', true, null, people.approver.user_id],
      ['ask_again', false, null, people.user.user_id],
    ],
  )
  const [requested, approved, again] = shown
  assert.match(requested?.reasoning ?? '', /ask first.*a person decides/)
  assert.deepEqual(requested?.notices, ['ask first'])
  assert.match(approved?.reasoning ?? '', /permits deciding the request/)
  assert.match(again?.reasoning ?? '', /closed since.*forbids `ReadOnly` on cloud_account `600000000001`/)
  assert.deepEqual(again?.notices, ['closed since'])
  assert.ok((again?.rule_set_version ?? 0) > (requested?.rule_set_version ?? 0))
  // Both were evaluated in the circumstances of the request.
  assert.deepEqual(requested?.question, again?.question)
  assert.equal(requested?.question.duration_seconds, 600)
  assert.equal(requested?.question.has_reason, true)
})

test('names the rules by their ids, with more fields for a caller with policies:read', async () => {
  const [, , plain] = await decisions(request, people.user)
  assert.equal(plain?.rules.length, 1)
  assert.deepEqual(Object.keys(plain?.rules[0] ?? {}), ['id'])
  assert.equal(plain?.errors, undefined)
  const [, , full] = await decisions(request, owner)
  assert.deepEqual(full?.rules, [
    { id: plain?.rules[0]?.id, policy_name: 'reasons', notice: 'closed since', changed_since: false },
  ])
  assert.deepEqual(full?.errors, [])
})

test('shows a user’s source address to that user, and to a caller with audit:read', async () => {
  const showsSource = async (person: Person) =>
    (await decisions(request, person)).map(({ question }) => 'source_ip' in question && 'via' in question)
  assert.deepEqual(await showsSource(people.user), [true, false, true])
  assert.deepEqual(await showsSource(people.approver), [false, true, false])
  assert.deepEqual(await showsSource(people.auditor), [true, true, true])
})

test('answers a caller who may see the request, and not_found to others', async () => {
  const theirs = await on.ask(on.account('600000000002'), owner)
  for (const id of [theirs, newId()]) {
    const reply = await on.call(people.user, 'GET', `/v1/requests/${id}/decision`)
    assert.deepEqual([reply.status, reply.body.code], [404, 'not_found'])
  }
})

test('is paginated', async () => {
  const [first] = await decisions(request, people.user, '?limit=1')
  const reply = await on.call(people.user, 'GET', `/v1/requests/${request}/decision?limit=1`)
  const [second, third] = await decisions(request, people.user, `?cursor=${reply.body.next_cursor}`)
  assert.deepEqual([first?.kind, second?.kind, third?.kind], ['ask', 'approve', 'ask_again'])
})

test('keeps its reasoning after the named rule is deleted, and shows the deletion', async () => {
  const takeAway = await on.rule(
    '@notice("for a day") @approval_mode("auto") permit (principal, action == Action::"Once", resource);',
  )
  const id = await on.ask(on.account('600000000003', { action: 'Once' }))
  await takeAway()
  const [requested] = await decisions(id, owner)
  assert.match(requested?.reasoning ?? '', /approved at once by a rule .*for a day/)
  const gone = requested?.rules.filter((rule) => rule.policy_name === null)
  assert.deepEqual(
    gone?.map(({ changed_since }) => changed_since),
    [true],
  )
})

test('shows which rules changed since, and keeps its own reasoning', async () => {
  const id = await on.ask(on.account('600000000004'))
  const [requested] = await decisions(id, owner)
  const [rule] = requested?.rules ?? []
  assert.deepEqual([rule?.notice, rule?.changed_since], ['ask first', false])
  const policies = await on.call(owner, 'GET', '/v1/policies')
  const { id: policy_id } = (policies.body.data as { id: string; name: string }[]).find(
    ({ name }) => name === 'reasons',
  ) ?? { id: '' }
  const url = `/v1/policies/${policy_id}/rules/${rule?.id}`
  assert.equal((await on.call(owner, 'PATCH', url, { notice: 'ask nicely' })).status, 200)
  const [again] = await decisions(id, owner)
  assert.deepEqual([again?.rules[0]?.notice, again?.rules[0]?.changed_since], ['ask nicely', true])
  assert.equal(again?.reasoning, requested?.reasoning)
})

test('the engine’s errors are shown only with policies:read', () => {
  const kept = {
    principal_id: 'ada',
    rules: [{ id: 'r', policy_name: 'p', notice: null }],
    errors: [{ rule_id: 'r', message: 'no such tag' }],
    question: { via: 'token', source_ip: '192.0.2.1' },
  } as unknown as FullDecision
  const shown = (...scopes: string[]) => decisionFor({ user_id: 'ben', scopes: new Set(scopes) }, kept)
  assert.deepEqual(
    [shown('requests:read').errors, shown('policies:read').errors, shown('audit:read').errors],
    [undefined, kept.errors, undefined],
  )
})
