import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { nothingLeft, rehearsalStage } from '../../test/support/rehearsal-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { goLiveWith } from '../rehearsal/go-live.flow.ts'
import { endAccessOfAll } from '../requests/transition-store.ts'
import { setLive } from '../tenants/operator.flow.ts'

/** Going live, by hand, by the operator and with a provisioner: what it ends, and what stays. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const goLive = goLiveWith(endAccessOfAll)
type Stage = Awaited<ReturnType<typeof rehearsalStage>>

const provisioner = {
  ...{ name: 'Door system', provisioner_type: 'webhook', config: { url: 'http://127.0.0.1:9/' } },
  serves: [{ resource_type: 'cloud_account' }],
}

/** The three ways, each with the actor of its event. */
const ways: Record<string, { go(stage: Stage): Promise<unknown>; cause: string }> = {
  'by hand': { go: (stage) => stage.goLive(), cause: 'owner' },
  'by the operator': { go: (stage) => setLive(house.database, stage.tenant_id, goLive), cause: 'operator' },
  'with a provisioner': {
    go: (stage) => stage.call(stage.owner, 'POST', '/v1/provisioners', provisioner),
    cause: 'provisioner',
  },
}

for (const [way, { go, cause }] of Object.entries(ways)) {
  test(`going live ${way} removes people, sessions, rules and accounts, and another tenant’s stay`, async () => {
    const [stage, other] = [await rehearsalStage(house, way), await rehearsalStage(house, `other than ${way}`)]
    const [ada, theirs] = [await stage.become('ada'), await other.become('ada')]
    const waiting = await stage.request(ada, stage.accountOf('production'))
    const given = await stage.request(ada, stage.accountOf('staging'))
    const mine = await stage.request(stage.owner, stage.accountOf('sandbox'), 'AdministratorAccess')
    const held = await stage.request(stage.owner, stage.accountOf('sandbox'))
    await go(stage)
    assert.equal(await stage.modeNow(), 'live')
    assert.deepEqual(await stage.left(), nothingLeft)
    assert.deepEqual(
      [await stage.statusOf('access_request', waiting.body.id), await stage.statusOf('access_request', mine.body.id)],
      ['cancelled', 'cancelled'],
    )
    const grants = await stage.rows<{ request_id: string; status: string; end_reason: string }>(
      'select request_id, status, end_reason from access_grant where tenant_id = $1 order by request_id',
    )
    assert.deepEqual(
      grants,
      [given, held].map(({ body }) => ({
        ...{ request_id: body.id, status: 'revoked', end_reason: 'the rehearsal is over' },
      })),
    )
    assert.equal((await stage.call(ada, 'GET', '/v1/users/me')).status, 401)
    const { people, accounts, policy_id } = stage.made
    const removed = {
      user_ids: people.map(({ id }) => id),
      account_ids: accounts.map(({ id }) => id),
      policy_id,
    }
    assert.deepEqual(
      (await stage.eventsOf('tenant.went_live')).map(({ data }) => data),
      [{ cause, removed }],
    )
    assert.deepEqual(
      (await stage.eventsOf('user.deleted')).map(({ subject_id }) => subject_id),
      removed.user_ids,
    )
    assert.equal((await stage.eventsOf('policy.deleted')).length, 1)
    assert.deepEqual(
      (await stage.eventsOf('cloud_accounts.updated')).map(({ data }) => data.removed),
      [undefined, 3],
    )
    assert.equal(await other.modeNow(), 'rehearsal')
    assert.deepEqual(await other.left(), { people: 2, sessions: 1, policies: 1, rules: 2, accounts: 3 })
    assert.equal((await other.call(theirs, 'GET', '/v1/users/me')).status, 200)
  })
}

suite('going live', () => {
  test('leaves what happened on record, and takes away what the sandbox held', async () => {
    const stage = await rehearsalStage(house, 'on record')
    const work = startWorkers(house)
    const ada = await stage.become('ada')
    const { body } = await stage.request(ada, stage.accountOf('staging'))
    const asked = await stage.request(stage.owner, stage.accountOf('production'))
    const ben = await stage.become('ben')
    await stage.call(ben, 'POST', `/v1/requests/${asked.body.id}/approve`, {})
    const states = () =>
      stage.rows<{ status: string; provisioning_status: string }>(
        'select status, provisioning_status from access_grant where tenant_id = $1',
      )
    await until('both have access', async () => (await states()).every(({ status }) => status === 'active'))
    assert.equal((await stage.goLive()).status, 200)
    await until('the sandbox holds nothing', async () =>
      (await states()).every((grant) => grant.provisioning_status === 'deprovisioned'),
    )
    await work.stop()
    const shown = await stage.call(stage.people.auditor, 'GET', `/v1/requests/${body.id}`)
    assert.deepEqual([shown.status, shown.body.requester_id], [200, ada.user_id])
    const decided = await stage.call(stage.people.auditor, 'GET', `/v1/requests/${asked.body.id}`)
    assert.deepEqual([decided.body.status, decided.body.decided_by], ['approved', ben.user_id])
    const log = await stage.call(stage.people.auditor, 'GET', `/v1/audit-events?actor=${ada.user_id}`)
    assert.ok((log.body.data as { type: string }[]).some(({ type }) => type === 'request.created'))
  })

  test('leaves what is the tenant’s own: users, rules, accounts, requests, and references to people who are gone', async () => {
    const stage = await rehearsalStage(house, 'own')
    const { call, owner, people } = stage
    const account = { id: 'own', account_id: '123456789012', name: 'own' }
    assert.equal((await call(owner, 'PUT', '/v1/cloud/accounts', { resources: [account] })).status, 200)
    const policy = await call(owner, 'POST', '/v1/policies', { name: 'Own' })
    assert.equal((await call(owner, 'POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })).status, 201)
    const own = await stage.request(people.user, account.account_id)
    const group = await call(owner, 'POST', '/v1/groups', { name: 'both' })
    const ada = stage.idOf('ada')
    for (const user_id of [ada, people.user.user_id]) {
      assert.equal((await call(owner, 'POST', `/v1/groups/${group.body.id}/members`, { user_id })).status, 201)
    }
    // As if Ada had added the other member and mapped a role.
    await stage.rows('update group_member set added_by = $2 where tenant_id = $1 and user_id <> $2', ada)
    await stage.rows(
      `insert into group_role (tenant_id, group_id, role_id, mapped_by) values ($1, $2, 'user', $3)`,
      group.body.id,
      ada,
    )
    const before = await stage.rows('select id from policy where tenant_id = $1 and rehearsal is null order by id')
    assert.equal((await stage.goLive()).status, 200)
    assert.equal(await stage.statusOf('access_request', own.body.id), 'pending')
    const members = await stage.rows('select user_id, added_by from group_member where tenant_id = $1')
    assert.deepEqual(members, [{ user_id: people.user.user_id, added_by: ada }])
    assert.deepEqual(await stage.rows('select mapped_by from group_role where tenant_id = $1'), [{ mapped_by: ada }])
    assert.deepEqual(await stage.rows('select id from policy where tenant_id = $1 order by id'), before)
    assert.deepEqual(await stage.rows('select id from cloud_account where tenant_id = $1'), [{ id: 'own' }])
    const active = await stage.rows<{ count: number }>(
      'select count(*)::int from tenant_user where tenant_id = $1 and active',
    )
    assert.equal(active[0]?.count, 5)
  })

  test('takes a rule of the rehearsal that its owner changed, and one that the owner added to its policy', async () => {
    const stage = await rehearsalStage(house, 'changed')
    const { call, owner, made } = stage
    const url = `/v1/policies/${made.policy_id}`
    const rules = ((await call(owner, 'GET', url)).body.rules ?? []) as { id: string }[]
    assert.equal((await call(owner, 'PATCH', `${url}/rules/${rules[0]?.id}`, { notice: 'Mine now.' })).status, 200)
    assert.equal((await call(owner, 'POST', `${url}/rules`, { effect: 'forbid' })).status, 201)
    assert.equal((await call(owner, 'PATCH', url, { name: 'Kept?' })).status, 200)
    assert.equal((await stage.goLive()).status, 200)
    assert.deepEqual(await stage.rows(`select id from policy where tenant_id = $1 and name = 'Kept?'`), [])
  })

  test('is refused, and changes nothing, where a required case needs a rule of the rehearsal', async () => {
    const stage = await rehearsalStage(house, 'required')
    const resource = { type: 'cloud_account', id: stage.accountOf('staging') }
    const needed = { case: 'Ada reads', asks: 'ReadOnlyAccess', resource, expect: 'permit', required: true }
    const tags = { env: 'staging', rehearsal: 'true' }
    const body = { cases: [{ ...needed, resource: { ...resource, tags } }] }
    const put = await stage.call(stage.owner, 'PUT', '/v1/policies/cases', body)
    assert.equal(put.status, 200, put.text)
    const refused = await stage.goLive()
    assert.deepEqual([refused.status, refused.body.code], [409, 'case_broken'], refused.text)
    const saved = await stage.call(stage.owner, 'POST', '/v1/provisioners', provisioner)
    assert.deepEqual([saved.status, saved.body.code], [409, 'case_broken'])
    await assert.rejects(setLive(house.database, stage.tenant_id, goLive), /required case/)
    assert.equal(await stage.modeNow(), 'rehearsal')
    assert.deepEqual(await stage.left(), { people: 2, sessions: 0, policies: 1, rules: 2, accounts: 3 })
  })

  test('changes nothing when an error comes in between', async () => {
    const stage = await rehearsalStage(house, 'an error')
    const ada = await stage.become('ada')
    const { body } = await stage.request(ada, stage.accountOf('production'))
    const failing = goLiveWith(async (...args) => {
      await endAccessOfAll(...args)
      throw new Error('the process ends here')
    })
    await assert.rejects(setLive(house.database, stage.tenant_id, failing), /ends here/)
    assert.equal(await stage.modeNow(), 'rehearsal')
    assert.equal(await stage.statusOf('access_request', body.id), 'pending')
    assert.deepEqual(await stage.left(), { people: 2, sessions: 1, policies: 1, rules: 2, accounts: 3 })
    assert.deepEqual(await stage.eventsOf('user.deleted'), [])
    assert.equal((await stage.call(ada, 'GET', '/v1/users/me')).status, 200)
  })

  test('is refused by the database where something of the rehearsal would be left', async () => {
    const stage = await rehearsalStage(house, 'by the database')
    const bare = stage.rows(`update tenant set mode = 'live', live_since = now() where id = $1`)
    await assert.rejects(bare, /goes live without its rehearsal/)
  })

  test('is an owner’s, who types the name of the tenant after a recent sign-in; once', async () => {
    const stage = await rehearsalStage(house, 'Acme')
    const admin = await stage.goLive('Acme', stage.people.admin)
    assert.deepEqual([admin.status, admin.body.code], [403, 'forbidden'])
    const typo = await stage.goLive('acme')
    assert.deepEqual([typo.status, typo.body.code], [400, 'invalid_input'])
    await stage.rows(`update user_session set auth_time = now() - interval '2 hours' where tenant_id = $1`)
    const stale = await stage.goLive('Acme')
    assert.deepEqual([stale.status, stale.body.code], [403, 'sign_in_again'])
    assert.equal(await stage.modeNow(), 'rehearsal')
    const recent = await house.signInAgain(stage.tenant_id, stage.owner)
    const [first, second] = await Promise.all([stage.goLive('Acme', recent), stage.goLive('Acme', recent)])
    assert.deepEqual([first?.status, second?.status, second?.body], [200, 200, first?.body])
    assert.deepEqual((await stage.goLive('Acme', recent)).body, first?.body)
    assert.equal((await stage.eventsOf('tenant.went_live')).length, 1)
    assert.equal((await stage.eventsOf('user.deleted')).length, 2)
  })

  test('removes nothing of a tenant without a rehearsal, whatever names it uses', async () => {
    const { tenant_id, owner } = await house.tenant('earlier')
    const send = (method: string, url: string, body: unknown) =>
      house.call({ method, url, token: owner.token, tenant_id, body })
    await send('POST', '/v1/policies', { name: 'Rehearsal' })
    await send('POST', '/v1/users', {
      email: 'ada@rehearsal.invalid',
      name: 'Ada',
      roles: [],
      auth_provider: 'oidc',
    })
    const counted = () =>
      house.asSuperuser(
        `select (select count(*) from policy where tenant_id = $1) as policies,
          (select count(*) from tenant_user where tenant_id = $1 and active) as users`,
        [tenant_id],
      )
    const before = await counted()
    assert.equal((await send('POST', '/v1/tenant/go-live', { confirm: 'earlier' })).status, 200)
    assert.deepEqual(await counted(), before)
  })
})
