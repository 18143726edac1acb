import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse, type Person } from '../support/house.ts'
import { possibleDeciders } from '../support/possible-deciders.ts'
import { replayStage, resultOf } from '../support/replay-stage.ts'
import { requestStage } from '../support/request-stage.ts'

/** A right that does not count for deciding a request permits nothing, and a forbid about those who have it holds. */
const house = await openHouse()
const on = await requestStage(house, 'lifted forbids')
const { tenant_id, owner, people, call } = on
const [requester, approver] = [people.admin, people.approver]
const tx = house.database.tenant(tenant_id)
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')

const ask = () => on.ask(on.account('600000000001'), requester)
async function decide(id: string, { token, api_key }: Partial<Person> = approver) {
  const credential = token === undefined ? { api_key: api_key ?? '' } : { token }
  const url = `/v1/requests/${id}/approve`
  const reply = await house.call({ method: 'POST', url, tenant_id, body: {}, ...credential })
  return [reply.status, reply.body.code, reply.body.notices]
}
const mayDecide = async (id: string) => (await possibleDeciders(tx, id)).includes(approver.user_id)
const done = async (by: Person, method: string, url: string, body?: unknown) => {
  const reply = await call(by, method, url, body)
  assert.ok(reply.status < 300, reply.text)
  return String(reply.body.id)
}

/** Functions that remove the rules of one test. */
let rules: (() => Promise<void>)[] = []
beforeEach(async () => {
  for (const remove of rules) await remove()
  rules = []
})
const forbid = async (condition: string) =>
  rules.push(
    await on.rule(`@notice("not you") forbid (principal, action == Action::"approve", resource) ${condition};`),
  )

const refused = [403, 'policy_denied', ['not you']]

suite('a forbid about deciding', async () => {
  const group = await done(owner, 'POST', '/v1/groups', { name: 'contractors' })
  const members = `/v1/groups/${group}/members`
  const joined = (by: Person) => done(by, 'POST', members, { user_id: approver.user_id })
  const leave = (by: Person) => done(by, 'DELETE', `${members}/${approver.user_id}`)

  beforeEach(() => house.asSuperuser('delete from group_member where user_id = $1', [approver.user_id]))
  const narrowKey = async (person: Person) =>
    String((await on.created(person, '/v1/api-keys', { name: 'narrow', scopes: ['requests:approve'] })).key)

  test('of a group holds for a member whom the requester removed and added again after the request (P8)', async () => {
    await forbid(`when { principal in Group::"${group}" }`)
    await joined(owner)
    const id = await ask()
    await leave(requester)
    await joined(requester)
    assert.deepEqual(await decide(id), refused)
    assert.equal(await mayDecide(id), false)
    await leave(owner)
    assert.equal(await mayDecide(id), true)
    assert.equal((await decide(id))[0], 200)
  })

  test('of those outside a group holds for whom the requester added after the request (P8)', async () => {
    await forbid(`unless { principal in Group::"${group}" }`)
    const id = await ask()
    await joined(requester)
    assert.deepEqual(await decide(id), refused)
    assert.equal(await mayDecide(id), false)
  })

  test('of a scope holds for a narrow key of a person who has the scope (P5)', async () => {
    await forbid('when { principal.scopes.contains("policies:write") }')
    const id = await ask()
    assert.deepEqual(await decide(id, owner), refused)
    assert.deepEqual(await decide(id, { api_key: await narrowKey(owner) }), refused)
    assert.equal((await decide(id))[0], 200)
  })

  test('of those without a scope holds for a key without it (P5)', async () => {
    await forbid('unless { principal.scopes.contains("policies:write") }')
    const id = await ask()
    assert.deepEqual(await decide(id, { api_key: await narrowKey(owner) }), refused)
    assert.equal((await decide(id, owner))[0], 200)
  })
})

test('a replay answers like the decision: a draft that forbids a group denies what was decided by a member (P8)', async () => {
  const group = await done(owner, 'POST', '/v1/groups', { name: 'visitors' })
  const id = await ask()
  assert.equal((await decide(id))[0], 200)
  await done(requester, 'POST', `/v1/groups/${group}/members`, { user_id: approver.user_id })
  const policy_text = `forbid (principal in Group::"${group}", action == Action::"approve", resource);`
  const draft = { changes: [{ create_policy: { name: 'no visitors', rules: [{ policy_text }] } }] }
  const { counts, approvers } = resultOf(await replayStage(house).replayed(on, draft))
  assert.ok(counts.newly_denied >= 1)
  const ofRequest = approvers?.by_request.find(({ request_id }) => request_id === id)
  assert.deepEqual(ofRequest?.removed.users, [approver.user_id])
})
