import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const on = await requestStage(house, 'inbox')
const { tenant_id, owner, people } = on
const other = await house.tenant('another')

await on.cache({ '100000000001': {}, '100000000002': {}, '100000000003': { tags: { sensitivity: 'high' } } })
await on.rule('permit (principal, action, resource);')
await on.rule('@approval_mode("break_glass") permit (principal, action, resource);')
// Nobody decides about the second account.
await on.rule('forbid (principal, action == Action::"approve", resource in cloud_account::"100000000002");')

const ask = (id: string, more: object = {}, person = people.user) => on.ask(on.account(id, more), person)
const get = (person: Person, url: string) => on.call(person, 'GET', url)

/** The ids that the inbox of a person has, read by pages of `limit`. */
async function inbox(person: Person, query = '', limit = 2): Promise<string[]> {
  const ids: string[] = []
  let cursor = ''
  for (;;) {
    const { status, body, text } = await get(person, `/v1/requests?decidable_by=me&limit=${limit}${query}${cursor}`)
    assert.equal(status, 200, text)
    const data = body.data as { id: string }[]
    assert.ok(data.length <= limit, text)
    ids.push(...data.map(({ id }) => id))
    if (body.has_more !== true) return ids
    cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`
  }
}

const first = await ask('100000000001')
const undecidable = await ask('100000000002')
const sensitive = await ask('100000000003')
const admin = await ask('100000000001', { action: 'AdministratorAccess', reason: 'to fix the pipeline' })
const own = await ask('100000000001', {}, people.approver)
const last = await ask('100000000001', { duration_seconds: 600 })

suite('the inbox', () => {
  test('has what its owner may decide: a high risk first, then the oldest; never their own', async () => {
    assert.deepEqual(await inbox(people.approver), [sensitive, admin, first, last])
    assert.deepEqual(await inbox(people.approver, '', 1), [sensitive, admin, first, last])
    assert.deepEqual(await inbox(owner, '', 200), [sensitive, admin, first, own, last])
  })

  test('says the risk, and the names', async () => {
    const { data } = (await get(people.approver, '/v1/requests?decidable_by=me')).body as {
      data: Record<string, unknown>[]
    }
    const [shown] = data
    assert.deepEqual([shown?.risk, shown?.risk_reasons], ['high', ['sensitive_account']])
    assert.deepEqual([shown?.resource_name, typeof shown?.requester_name], ['account 100000000003', 'string'])
  })

  test('takes the filters of the list, but no other order or status', async () => {
    assert.deepEqual(await inbox(people.approver, '&resource_id=100000000003'), [sensitive])
    assert.deepEqual(await inbox(people.approver, '&break_glass=true'), [])
    assert.deepEqual(await inbox(owner, `&requester_id=${people.approver.user_id}`), [own])
    assert.deepEqual(await inbox(owner, '&requester_id=me'), [])
    assert.deepEqual(await inbox(owner, '&resource_type=cloud_storage_bucket'), [])
    assert.deepEqual(await inbox(owner, '&created_before=2020-01-01T00:00:00Z'), [])
    for (const query of ['status=pending', 'decided_by=me', 'q=account', 'sort=created_at']) {
      const { status, body } = await get(owner, `/v1/requests?decidable_by=me&${query}`)
      assert.deepEqual([status, body.code], [400, 'invalid_input'], query)
    }
  })

  test('is empty for those who may decide nothing, and those who may see nothing', async () => {
    for (const person of [people.user, people.auditor]) assert.deepEqual(await inbox(person), [])
    const role = await on.created(owner, '/v1/roles', { name: 'decides unseen', scopes: ['requests:approve'] })
    const blind = await newPerson([String(role.id)])
    assert.deepEqual(await inbox(blind), [])
  })

  test('needs the scope, whatever rules permit; a key has its own scopes at most', async () => {
    const remove = [
      await on.rule('permit (principal, action == Action::"approve", resource);'),
      await on.rule(
        'forbid (principal, action == Action::"approve", resource in cloud_account::"100000000003") unless { principal.scopes.contains("policies:write") };',
      ),
    ]
    assert.deepEqual(await inbox(people.auditor), [])
    assert.deepEqual(await inbox(owner), [sensitive, admin, first, own, last])
    for (const [scopes, seen] of [
      [['requests:read'], []],
      [
        ['requests:read', 'requests:approve'],
        [admin, first, own, last],
      ],
    ]) {
      const { key } = await on.created(owner, '/v1/api-keys', { name: 'some scopes', scopes })
      const url = '/v1/requests?decidable_by=me'
      const { body } = await house.call({ method: 'GET', url, api_key: String(key), tenant_id })
      assert.deepEqual(
        (body.data as { id: string }[]).map(({ id }) => id),
        seen,
      )
    }
    for (const one of remove) await one()
  })

  test('does not count rights that the requester gave after the request', async () => {
    const [giver, receiver] = [await newPerson(['admin', 'approver']), await newPerson(['user'])]
    const asked = await ask('100000000001', {}, giver)
    assert.equal(
      (await on.call(giver, 'PUT', `/v1/users/${receiver.user_id}/roles`, { roles: ['approver'] })).status,
      200,
    )
    const remove = await on.rule('permit (principal, action == Action::"approve", resource);')
    const seen = await inbox(receiver)
    await remove()
    assert.deepEqual([seen.includes(first), seen.includes(asked)], [true, false])
    const { body } = await get(receiver, `/v1/requests/${asked}`)
    assert.equal(body.may_decide, false)
    assert.match(String(body.why_not), /a role that the requester gave/)
    await on.call(giver, 'DELETE', `/v1/requests/${asked}`)
  })

  test('has nothing whose deadline is over, and nothing that was decided', async () => {
    const [late, decided] = [await ask('100000000001'), await ask('100000000001')]
    await house.asSuperuser(`update access_request set next_look_at = now() - interval '1 s' where id = $1`, [late])
    await on.approve(decided)
    const seen = await inbox(people.approver)
    assert.deepEqual([seen.includes(late), seen.includes(decided)], [false, false])
    const { body } = await get(people.approver, `/v1/requests/${late}`)
    assert.deepEqual([body.may_decide, body.why_not], [false, 'it is expired, and no longer waits for a decision'])
    assert.equal((await get(people.approver, `/v1/requests/${late}/deciders`)).body.count, 0)
  })

  test('never has a request of another tenant', async () => {
    assert.deepEqual(
      (
        await house.call({
          method: 'GET',
          url: '/v1/requests?decidable_by=me',
          token: other.owner.token,
          tenant_id: other.tenant_id,
        })
      ).body,
      { data: [], has_more: false },
    )
  })
})

suite('a request in detail', () => {
  test('says to those who may decide it which groups its requester is in, and which policy let them ask', async () => {
    const group = await on.created(owner, '/v1/groups', { name: 'Payments' })
    const joined = await on.call(owner, 'POST', `/v1/groups/${group.id}/members`, { user_id: people.user.user_id })
    assert.equal(joined.status, 201, joined.text)
    const { body } = await get(people.approver, `/v1/requests/${first}`)
    assert.deepEqual(
      [body.may_decide, body.why_not, body.requester_groups, body.policy_name],
      [true, null, ['Payments'], 'inbox'],
    )
  })

  const views: [string, () => Person, () => string, RegExp][] = [
    ['the requester', () => people.user, () => first, /your own request/],
    ['the requester who is an approver', () => people.approver, () => own, /your own request/],
    ['an auditor', () => people.auditor, () => first, /needs the scope/],
    ['an approver whom a rule forbids it', () => people.approver, () => undecidable, /forbid/],
  ]
  for (const [who, person, id, why] of views) {
    test(`says to ${who} why they may not, and nothing more`, async () => {
      const { status, body, text } = await get(person(), `/v1/requests/${id()}`)
      assert.deepEqual([status, body.may_decide], [200, false], text)
      assert.match(String(body.why_not), why)
      assert.ok(!('requester_groups' in body) && !('policy_name' in body))
    })
  }

  test('says what became of it', async () => {
    const { id } = await on.created(people.user, '/v1/requests', on.account('100000000001'))
    await on.approve(String(id))
    assert.match(String((await get(owner, `/v1/requests/${id}`)).body.why_not), /it is approved/)
  })
})

suite('who may decide', () => {
  test('is told to the requester by name: in the preview, and while the request waits', async () => {
    const preview = await on.call(people.user, 'POST', '/v1/requests/preview', on.account('100000000001'))
    const { body } = await get(people.user, `/v1/requests/${first}/deciders`)
    assert.deepEqual(preview.body.may_decide, body)
    const { names, count, is_complete } = body as { names: string[]; count: number; is_complete: boolean }
    assert.deepEqual([names.length, is_complete], [count, true])
    assert.deepEqual(
      names,
      names.toSorted((one, other) => one.localeCompare(other)),
    )
    const people_ = await house.asSuperuser<{ name: string }>('select name from tenant_user where id = $1', [
      people.approver.user_id,
    ])
    assert.ok(names.includes(people_[0]?.name ?? '?'))
  })

  test('is nobody where rules forbid it to all, and where the request is decided', async () => {
    const { body } = await get(people.user, `/v1/requests/${undecidable}/deciders`)
    assert.deepEqual(body, { names: [], count: 0, is_complete: true })
    const decided = await on.approve(await ask('100000000001'))
    assert.deepEqual((await get(people.user, `/v1/requests/${decided}/deciders`)).body, body)
    const preview = await on.call(people.user, 'POST', '/v1/requests/preview', on.account('100000000002'))
    assert.deepEqual(preview.body.may_decide, body)
    assert.deepEqual(
      (preview.body.warnings as { code: string }[]).map(({ code }) => code),
      ['nobody_may_approve'],
    )
  })

  test('is not told to those who may not see the request', async () => {
    const stranger = await newPerson(['user'])
    const answers = [
      await get(stranger, `/v1/requests/${first}/deciders`),
      await get(stranger, `/v1/requests/${newId()}/deciders`),
    ]
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.code]),
      [
        [404, 'not_found'],
        [404, 'not_found'],
      ],
    )
  })
})

suite('a preview', () => {
  test('of a refused request says nothing of the tags of the account', async () => {
    const remove = await on.rule('forbid (principal, action == Action::"Write", resource);')
    const { body } = await on.call(
      people.user,
      'POST',
      '/v1/requests/preview',
      on.account('100000000003', { action: 'Write' }),
    )
    assert.deepEqual([body.allowed, body.risk, body.risk_reasons], [false, 'normal', []])
    await remove()
  })

  test('names the longest duration that would be allowed', async () => {
    const remove = await on.rule(
      'forbid (principal, action == Action::"List", resource) when { context.duration_seconds > 5400 };',
    )
    const longest = async (more: object) =>
      (await on.call(people.user, 'POST', '/v1/requests/preview', on.account('100000000001', more))).body
        .max_duration_seconds
    assert.equal(await longest({ action: 'List' }), 5_400)
    assert.equal(await longest({ action: 'List', duration_seconds: 600 }), 5_400)
    assert.equal(await longest({ action: 'List', duration_seconds: 6_000 }), null)
    assert.equal(await longest({ action: 'Write' }), 43_200)
    await remove()
  })

  test('names the live grant of the same access', async () => {
    const body = on.account('100000000001', { action: 'List' })
    const preview = async (person = people.user) =>
      (await on.call(person, 'POST', '/v1/requests/preview', body)).body.live_grant
    assert.equal(await preview(), null)
    const id = await on.approve(await on.ask(body))
    const [grant] = await on.grantsOf(id)
    assert.deepEqual(await preview(), { id: grant?.id, status: 'pending', expires_at: null })
    assert.equal(await preview(people.admin), null)
    const revoked = await on.call(people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
    assert.equal(revoked.status, 200, revoked.text)
    assert.equal(await preview(), null)
  })
})

async function newPerson(roles: string[]): Promise<Person> {
  const email = `${newId()}@example.com`
  const { id } = await on.created(owner, '/v1/users', {
    email,
    name: 'Somebody',
    roles: ['user'],
    auth_provider: 'oidc',
  })
  const given = await on.call(owner, 'PUT', `/v1/users/${id}/roles`, { roles })
  assert.equal(given.status, 200, given.text)
  return house.person(tenant_id, String(id))
}
