import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from './support/house.ts'

/** The main flow over HTTP: the decisions of policy and approvers, and the stored results. */
const house = await openHouse()
const tenant = await house.tenant('main job')
const { tenant_id, owner, people } = tenant

async function call(person: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
}

async function rule(body: Record<string, unknown>): Promise<void> {
  const policy = await call(owner, 'POST', '/v1/policies', { name: 'a policy' })
  const made = await call(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, body)
  assert.equal(made.status, 201, made.text)
}

const onAccount = (id: string) => ({
  resource_scope_type: 'eq',
  resource_entity_type: 'cloud_account',
  resource_entity_id: id,
})
await rule({ effect: 'permit', ...onAccount('100000000001') })
await rule({ effect: 'permit', ...onAccount('100000000002'), approval_mode: 'auto', notice: 'read-only is fine' })
await rule({ effect: 'permit', ...onAccount('100000000003') })
await rule({ effect: 'forbid', ...onAccount('100000000003'), notice: 'the vault is closed' })
await rule({ effect: 'permit', ...onAccount('100000000001'), approval_mode: 'break_glass' })
await rule({
  effect: 'permit',
  resource_scope_type: 'in',
  resource_entity_type: 'cloud_organizational_unit',
  resource_entity_id: 'ou-ab12-12345678',
})

const asking = (id: string, more: Record<string, unknown> = {}) => ({
  resource: { type: 'cloud_account', id },
  action: 'ReadOnly',
  ...more,
})

async function ask(person: Person, id: string, more?: Record<string, unknown>): Promise<string> {
  const reply = await call(person, 'POST', '/v1/requests', asking(id, more))
  assert.equal(reply.status, 201, reply.text)
  return String(reply.body.id)
}

async function eventsOf(subject_id: string): Promise<string[]> {
  const rows = await house.asSuperuser<{ type: string }>('select type from event where subject_id = $1 order by seq', [
    subject_id,
  ])
  return rows.map((row) => row.type)
}

test('a request that needs an approval is pending, and another user approves it', async () => {
  const id = await ask(people.user, '100000000001', { reason: 'to look', duration_seconds: 600 })
  const approved = await call(people.approver, 'POST', `/v1/requests/${id}/approve`, { reasoning: 'go ahead' })
  assert.equal(approved.status, 200, approved.text)
  assert.equal(approved.body.status, 'approved')
  assert.equal(approved.body.decided_by, people.approver.user_id)
  assert.equal(approved.body.decision_reasoning, 'go ahead')
  assert.equal(approved.body.approval_mode, 'require')
  assert.equal(approved.body.duration_seconds, 600)
  const status = await call(people.user, 'GET', `/v1/access/requests/${id}`)
  const [grant] = status.body.grants as { provisioning: { step: string } }[]
  assert.deepEqual(
    { ...grant, id: undefined, provisioning: grant?.provisioning.step },
    {
      id: undefined,
      provisioning: 'planning',
      name: 'ReadOnly on cloud_account 100000000001',
      status: 'pending',
      approved: true,
      provisioning_status: 'not_attempted',
    },
  )
  assert.deepEqual(await eventsOf(id), ['request.created', 'request.approved'])
})

test('an approval without a body, whatever its content type, is one without reasoning', async () => {
  const id = await ask(people.user, '100000000001')
  const headers = { 'content-type': 'text/plain' }
  const { token } = people.approver
  const reply = await house.call({ method: 'POST', url: `/v1/requests/${id}/approve`, token, tenant_id, headers })
  assert.deepEqual([reply.status, reply.body.decision_reasoning], [200, null])
})

test('a rule can approve at once, without an approver, with a message', async () => {
  const reply = await call(people.user, 'POST', '/v1/requests', asking('100000000002'))
  assert.deepEqual([reply.status, reply.body.status, reply.body.decided_by], [201, 'approved', null])
  assert.match(String(reply.body.decision_reasoning), /approved at once by a rule/)
  assert.deepEqual(await eventsOf(String(reply.body.id)), ['request.created', 'request.approved'])
})

test('a rule approves nothing for the user who saved it last: a person decides (P15)', async () => {
  const reply = await call(owner, 'POST', '/v1/requests', asking('100000000002'))
  assert.deepEqual([reply.status, reply.body.status, reply.body.approval_mode], [201, 'pending', 'require'])
})

test('a request that a rule forbids is refused with the rule’s notice; no request is stored, but the refusal is', async () => {
  const count = () => house.asSuperuser<{ n: number }>('select count(*)::integer as n from access_request')
  const before = await count()
  const reply = await call(people.user, 'POST', '/v1/requests', asking('100000000003'))
  assert.deepEqual([reply.status, reply.body.code, reply.body.notices], [403, 'policy_denied', ['the vault is closed']])
  assert.deepEqual(await count(), before)
  const kept = await house.asSuperuser<{ allowed: boolean }>(
    `select d.allowed from event e join decision d on d.id::text = e.subject_id
      where e.type = 'request.refused' and e.data #>> '{resource,id}' = '100000000003'`,
  )
  assert.deepEqual(kept, [{ allowed: false }])
})

test('a request that no rule permits is refused, and the refusal says so', async () => {
  const reply = await call(people.user, 'POST', '/v1/requests', asking('999999999999'))
  assert.deepEqual([reply.status, reply.body.code], [403, 'policy_denied'])
  assert.match(String(reply.body.message), /no rule permits `ReadOnly` on cloud_account `999999999999`/)
})

test('a break-glass request is approved at once if a rule says so, is audited, and needs a reason', async () => {
  const without = await call(people.user, 'POST', '/v1/requests', asking('100000000001', { break_glass: true }))
  assert.deepEqual([without.status, without.body.code], [400, 'invalid_input'])
  const more = { break_glass: true, reason: 'the site is down' }
  const reply = await call(people.user, 'POST', '/v1/requests', asking('100000000001', more))
  assert.deepEqual([reply.status, reply.body.status, reply.body.approval_mode], [201, 'approved', 'break_glass'])
  assert.deepEqual(await eventsOf(String(reply.body.id)), [
    'request.created',
    'request.approved',
    'request.break_glass',
  ])
})

test('a requester cannot approve or deny their own request, by token or by key (P5)', async () => {
  const id = await ask(owner, '100000000001')
  for (const verb of ['approve', 'deny']) {
    for (const credential of [{ token: owner.token }, { api_key: owner.api_key }]) {
      const reply = await house.call({
        method: 'POST',
        url: `/v1/requests/${id}/${verb}`,
        tenant_id,
        body: {},
        ...credential,
      })
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], reply.text)
    }
  }
  assert.ok((await eventsOf(id)).includes('access.refused'))
})

test('an approver made by the requester after the request does not count (P8)', async () => {
  const id = await ask(owner, '100000000001')
  await house.asSuperuser(
    `insert into user_role (tenant_id, user_id, role_id, granted_by, granted_at)
      values ($1, $2, 'approver', $3, clock_timestamp())`,
    [tenant_id, people.user.user_id, owner.user_id],
  )
  const refused = await call(people.user, 'POST', `/v1/requests/${id}/approve`, {})
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
  const other = await ask(people.admin, '100000000001')
  const approved = await call(people.user, 'POST', `/v1/requests/${other}/approve`, {})
  assert.equal(approved.status, 200, approved.text)
  await house.asSuperuser(`delete from user_role where user_id = $1 and role_id = 'approver'`, [people.user.user_id])
})

test('an approver made by a user to whom the requester gave rights after the request does not count (P8)', async () => {
  const id = await ask(owner, '100000000001')
  const give = (to: Person, role: string, by: Person) =>
    house.asSuperuser(
      `insert into user_role (tenant_id, user_id, role_id, granted_by, granted_at)
        values ($1, $2, $3, $4, clock_timestamp())`,
      [tenant_id, to.user_id, role, by.user_id],
    )
  await give(people.auditor, 'admin', owner)
  await give(people.user, 'approver', people.auditor)
  const refused = await call(people.user, 'POST', `/v1/requests/${id}/approve`, {})
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text)
  await house.asSuperuser('delete from user_role where granted_by = any($1)', [[owner.user_id, people.auditor.user_id]])
})

test('of two approvals at once, and a cancel, exactly one wins; the others get the current status (R1, R2)', async () => {
  const id = await ask(people.user, '100000000001')
  const replies = await Promise.all([
    call(people.approver, 'POST', `/v1/requests/${id}/approve`, {}),
    call(people.admin, 'POST', `/v1/requests/${id}/approve`, {}),
    call(people.user, 'DELETE', `/v1/requests/${id}`),
  ])
  const won = replies.filter((reply) => reply.status < 300)
  assert.equal(won.length, 1, replies.map((reply) => reply.text).join('\n'))
  for (const reply of replies.filter((lost) => lost.status >= 300)) {
    assert.equal(reply.status, 409)
    assert.ok(['request_not_pending', 'request_not_cancellable'].includes(String(reply.body.code)))
    assert.ok('status' in Object(reply.body.details))
  }
  const grants = await house.asSuperuser('select id from access_grant where request_id = $1', [id])
  assert.equal(grants.length, won[0]?.status === 204 ? 0 : 1)
  assert.equal((await eventsOf(id)).length, 2)
})

test('a request that a later rule forbids cannot be approved, and can still be denied', async () => {
  const account = '100000000009'
  await rule({ effect: 'permit', ...onAccount(account) })
  const id = await ask(people.user, account)
  await rule({ effect: 'forbid', ...onAccount(account), notice: 'closed since' })
  const refused = await call(people.approver, 'POST', `/v1/requests/${id}/approve`, {})
  assert.deepEqual([refused.status, refused.body.code, refused.body.notices], [403, 'policy_denied', ['closed since']])
  const denied = await call(people.approver, 'POST', `/v1/requests/${id}/deny`, {})
  assert.equal(denied.status, 200, denied.text)
})

test('a rule about approval sees the circumstances of the approval, not of the request', async () => {
  await rule({
    effect: 'forbid',
    action_scope_type: 'eq',
    action_ids: ['approve'],
    conditions: 'when { context.via == "api_key" && resource.action == "OnlyByHand" }',
  })
  const created = await call(people.user, 'POST', '/v1/requests', { ...asking('100000000001'), action: 'OnlyByHand' })
  const url = `/v1/requests/${created.body.id}/approve`
  const byKey = await house.call({ method: 'POST', url, api_key: people.approver.api_key, tenant_id, body: {} })
  assert.deepEqual([byKey.status, byKey.body.code], [403, 'policy_denied'])
  assert.equal((await call(people.approver, 'POST', url, {})).status, 200)
})

test('a denied request stays denied, and gives no access', async () => {
  const id = await ask(people.user, '100000000001')
  const denied = await call(people.approver, 'POST', `/v1/requests/${id}/deny`, { reasoning: 'not today' })
  assert.deepEqual([denied.status, denied.body.status, denied.body.decision_reasoning], [200, 'denied', 'not today'])
  const again = await call(people.admin, 'POST', `/v1/requests/${id}/approve`, {})
  assert.deepEqual([again.status, again.body.code], [409, 'request_not_pending'])
  assert.deepEqual(again.body.details, { status: 'denied', decided_by: people.approver.user_id })
  assert.deepEqual(await house.asSuperuser('select id from access_grant where request_id = $1', [id]), [])
})

test('a request is cancelled by the requester or by a user with the scope; others are forbidden', async () => {
  const id = await ask(people.user, '100000000001')
  assert.equal((await call(people.approver, 'DELETE', `/v1/requests/${id}`)).status, 403)
  const cancelled = await call(people.user, 'DELETE', `/v1/requests/${id}`)
  assert.deepEqual([cancelled.status, cancelled.text], [204, ''])
  const again = await call(people.user, 'DELETE', `/v1/requests/${id}`)
  assert.deepEqual([again.status, again.body.code], [409, 'request_not_cancellable'])
})

test('an expired request cannot be decided, even before the worker has expired it (R5)', async () => {
  const id = await ask(people.user, '100000000001')
  await house.asSuperuser('update access_request set next_look_at = clock_timestamp() where id = $1', [id])
  const reply = await call(people.approver, 'POST', `/v1/requests/${id}/approve`, {})
  assert.deepEqual(
    [reply.status, reply.body.code, reply.body.details],
    [409, 'request_not_pending', { status: 'expired' }],
  )
})

test('the database refuses a second decision, and a decision by the requester', async () => {
  const id = await ask(people.user, '100000000001')
  await assert.rejects(
    house.asSuperuser(
      `update access_request set status = 'approved', next_look_at = null, decided_by = requester_id where id = $1`,
      [id],
    ),
    /access_request_decided_by_ck/,
  )
  await call(people.user, 'DELETE', `/v1/requests/${id}`)
  await assert.rejects(
    house.asSuperuser(`update access_request set status = 'approved' where id = $1`, [id]),
    /never decided again/,
  )
})

test('a unit fans out: one grant for each account under it, all or nothing by policy', async () => {
  const unit = { organizational_unit_ids: ['ou-ab12-12345678'] }
  const resources = ['200000000001', '200000000002'].map((id) => ({ id, account_id: id, metadata: unit }))
  const cached = await call(owner, 'PUT', '/v1/cloud/accounts', { resources })
  assert.deepEqual(cached.body, { upserted: 2 })
  const body = { resource: { type: 'cloud_organizational_unit', id: 'ou-ab12-12345678' }, action: 'ReadOnly' }
  const created = await call(people.user, 'POST', '/v1/requests', body)
  assert.equal(created.status, 201, created.text)
  const approved = await call(people.approver, 'POST', `/v1/requests/${created.body.id}/approve`, {})
  assert.equal(approved.status, 200, approved.text)
  const status = await call(people.user, 'GET', `/v1/access/requests/${created.body.id}`)
  const names = (status.body.grants as { name: string }[]).map((grant) => grant.name)
  assert.deepEqual(names, ['ReadOnly on cloud_account 200000000001', 'ReadOnly on cloud_account 200000000002'])

  await rule({ effect: 'forbid', ...onAccount('200000000002'), notice: 'not this one' })
  const denied = await call(people.user, 'POST', '/v1/requests', body)
  assert.deepEqual([denied.status, denied.body.notices], [403, ['not this one']])
  assert.match(String(denied.body.message), /on an account of cloud_organizational_unit/)
  assert.doesNotMatch(String(denied.body.message), /200000000002/)
})

test('a user who may not see a request gets not_found', async () => {
  const id = await ask(owner, '100000000001')
  for (const url of [`/v1/requests/${id}`, `/v1/access/requests/${id}`]) {
    assert.equal((await call(people.user, 'GET', url)).status, 404)
    assert.equal((await call(people.auditor, 'GET', url)).status, 200)
  }
  const list = await call(people.user, 'GET', '/v1/requests?limit=200')
  const requesters = new Set((list.body.data as { requester_id: string }[]).map((request) => request.requester_id))
  assert.deepEqual([...requesters], [people.user.user_id])
})
