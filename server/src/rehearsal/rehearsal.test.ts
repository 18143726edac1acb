import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { rehearsalStage } from '../../test/support/rehearsal-stage.ts'

/** What a rehearsal makes, and that it makes it once. */
const house = await openHouse()

suite('the rehearsal', () => {
  test('is created once: people, accounts, and a policy with two rules, each marked and on record', async () => {
    const stage = await rehearsalStage(house, 'made')
    const { made } = stage
    assert.deepEqual([made.mode, made.live_since], ['rehearsal', null])
    assert.deepEqual(
      made.people.map(({ name, active, roles }) => [name, active, roles]),
      ['Ada', 'Ben'].map((name) => [name, true, ['approver', 'user']]),
    )
    assert.deepEqual(
      made.accounts.map(({ name }) => name),
      ['production', 'staging', 'sandbox'].map((name) => `Rehearsal: ${name}`),
    )
    for (const { id } of made.accounts) assert.match(id, /^[0-9]{12}$/)
    assert.deepEqual(await stage.create(), made)
    assert.deepEqual(await stage.shown(), made)
    assert.deepEqual(await stage.left(), { people: 2, sessions: 0, policies: 1, rules: 2, accounts: 3 })
    const account_ids = made.accounts.map(({ id }) => id)
    assert.deepEqual(await stage.eventsOf('tenant.rehearsal_created'), [
      {
        ...{ actor_kind: 'user', actor_id: stage.owner.user_id, subject_id: stage.tenant_id },
        data: { user_ids: made.people.map(({ id }) => id), account_ids, policy_id: made.policy_id },
      },
    ])
    assert.equal((await stage.eventsOf('policy.created')).length, 1)
    assert.deepEqual(
      (await stage.eventsOf('cloud_accounts.updated')).map(({ data }) => data.ids),
      [account_ids],
    )
    const created = (await stage.eventsOf('user.created')).map(({ subject_id }) => subject_id)
    for (const { id } of made.people) assert.ok(created.includes(id))
  })

  test('is created once by calls at the same moment', async () => {
    const stage = await rehearsalStage(house, 'at once')
    await stage.rows(`update cloud_account set rehearsal = null where tenant_id = $1`)
    await Promise.all([1, 2, 3, 4].map(() => stage.create()))
    assert.deepEqual(await stage.left(), { people: 2, sessions: 0, policies: 1, rules: 2, accounts: 3 })
  })

  test('creates again what was deleted, and nothing else', async () => {
    const stage = await rehearsalStage(house, 'again')
    const { call, owner, made } = stage
    assert.equal((await call(owner, 'DELETE', `/v1/users/${stage.idOf('ada')}`)).status, 204)
    assert.equal((await call(owner, 'DELETE', `/v1/policies/${made.policy_id}`)).status, 204)
    const again = await stage.create()
    assert.deepEqual([again.people.length, again.people[1], again.accounts], [2, made.people[1], made.accounts])
    assert.notEqual(again.people[0]?.id, stage.idOf('ada'))
    assert.notEqual(again.policy_id, made.policy_id)
  })

  test('leaves an account and an address of the tenant alone, and takes others', async () => {
    const other = await rehearsalStage(house, 'other')
    const of = await house.tenant('collides')
    const send = (method: string, url: string, body: unknown) =>
      house.call({ method, url, token: of.owner.token, tenant_id: of.tenant_id, body })
    const [first, second] = other.made.accounts
    const resources = [
      { id: String(first?.id), account_id: '111111111111', name: 'ours' },
      { id: 'ours too', account_id: String(second?.id), name: 'ours too' },
    ]
    await send('PUT', '/v1/cloud/accounts', { resources })
    const email = 'ada@rehearsal.invalid'
    await send('POST', '/v1/users', { email, name: 'A', roles: [], auth_provider: 'oidc' })
    const reply = await send('POST', '/v1/rehearsal', {})
    assert.equal(reply.status, 200, reply.text)
    const ids = (reply.body.accounts as { id: string }[]).map(({ id }) => id)
    assert.equal(new Set([...ids, first?.id, second?.id]).size, 5)
    const rows = await house.asSuperuser<{ email: string }>(
      `select email from tenant_user where tenant_id = $1 and rehearsal = 'ada'`,
      [of.tenant_id],
    )
    assert.match(String(rows[0]?.email), /^ada-[0-9a-f-]{36}@rehearsal\.invalid$/)
  })

  test('decides as its rules say: reading outside of production at once, more by a colleague, the rest not at all', async () => {
    const stage = await rehearsalStage(house, 'rules')
    const { request, accountOf, owner, become } = stage
    const read = await request(owner, accountOf('staging'))
    assert.deepEqual([read.status, read.body.status], [201, 'approved'], read.text)
    for (const [account, action] of [
      ['production', 'ReadOnlyAccess'],
      ['sandbox', 'AdministratorAccess'],
    ] as const) {
      const asked = await request(owner, accountOf(account), action)
      assert.deepEqual([asked.status, asked.body.status], [201, 'pending'], asked.text)
      const ben = await become('ben')
      const approved = await stage.call(ben, 'POST', `/v1/requests/${asked.body.id}/approve`, {})
      assert.deepEqual([approved.status, approved.body.decided_by], [200, ben.user_id], approved.text)
    }
    assert.equal((await request(owner, accountOf('sandbox'), 'DeleteEverything')).status, 403)
    assert.equal((await request(owner, '123456789012')).status, 403)
    const own = await request(await become('ada'), accountOf('production'))
    assert.equal(own.body.status, 'pending')
    assert.equal((await stage.call(await become('ada'), 'POST', `/v1/requests/${own.body.id}/approve`, {})).status, 403)
  })

  test('is shown in the list of users, where it made them', async () => {
    const stage = await rehearsalStage(house, 'listed')
    const { body } = await stage.call(stage.owner, 'GET', '/v1/users')
    const marked = (body.data as { id: string; rehearsal?: boolean }[]).filter((user) => 'rehearsal' in user)
    assert.deepEqual(
      marked.map(({ id, rehearsal }) => [id, rehearsal]),
      stage.made.people.map(({ id }) => [id, true]),
    )
    const { body: own } = await stage.call(await stage.become('ada'), 'GET', '/v1/users/me')
    assert.equal((own.tenant as { mode: string }).mode, 'rehearsal')
  })

  test('gives an account that the tenant writes to the tenant', async () => {
    const stage = await rehearsalStage(house, 'taken over')
    const id = stage.accountOf('staging')
    const resources = [{ id, account_id: id, name: 'ours now' }]
    assert.equal((await stage.call(stage.owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
    assert.ok(!(await stage.shown()).accounts.some((account) => account.id === id))
    assert.equal((await stage.goLive()).status, 200)
    const rows = await stage.rows<{ name: string }>('select name from cloud_account where tenant_id = $1')
    assert.deepEqual(rows, [{ name: 'ours now' }])
  })

  test('is an owner’s, with the rights to create users, rules and accounts', async () => {
    const { tenant_id, owner, people } = await house.tenant('not theirs')
    const send = (credential: object) =>
      house.call({ method: 'POST', url: '/v1/rehearsal', tenant_id, body: {}, ...credential })
    const admin = await send({ token: people.admin.token })
    assert.deepEqual([admin.status, admin.body.code], [403, 'forbidden'])
    const key = { method: 'POST', url: '/v1/api-keys', tenant_id, token: owner.token }
    const made = await house.call({ ...key, body: { name: 'few', scopes: ['settings:write', 'users:write'] } })
    const lacking = await send({ api_key: String(made.body.key) })
    assert.deepEqual(lacking.body.details, { scopes: ['policies:write', 'cloud_accounts:write'] })
    assert.deepEqual(
      await house.asSuperuser('select id from tenant_user where tenant_id = $1 and rehearsal is not null', [tenant_id]),
      [],
    )
    assert.equal((await send({ api_key: owner.api_key })).status, 200)
  })

  test('is over in a live tenant: 409 with the mode', async () => {
    const stage = await rehearsalStage(house, 'over')
    assert.equal((await stage.goLive()).status, 200)
    for (const [url, body] of [
      ['/v1/rehearsal', {}],
      ['/v1/rehearsal/token', { user_id: stage.idOf('ada') }],
    ] as const) {
      const reply = await stage.call(stage.owner, 'POST', url, body)
      assert.deepEqual([reply.status, reply.body.code, reply.body.details], [409, 'not_in_rehearsal', { mode: 'live' }])
    }
    const { live_since, ...rest } = await stage.shown()
    assert.notEqual(live_since, null)
    assert.deepEqual(rest, { mode: 'live', people: [], accounts: [], policy_id: null })
  })
})
