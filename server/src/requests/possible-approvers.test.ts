import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { seedManyApprovers } from '../../test/support/many-approvers.ts'
import { ofEach, possibleDeciders } from '../../test/support/possible-deciders.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import type { Database } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { whoMayDecide, whoMayDecideEach } from './possible-approvers.flow.ts'

/** The number of statements that were read for a tenant. */
let trips = 0
const counted = (tx: Tx): Tx => ({
  ...tx,
  read(statement) {
    trips += 1
    return tx.read(statement)
  },
})
const through = (database: Database): Database => ({ ...database, tenant: (id) => counted(database.tenant(id)) })

const house = await openHouse({}, through)
const on = await requestStage(house, 'who may decide')
const { tenant_id, owner, people } = on
const everybody = [owner, people.admin, people.approver]
const tx = counted(house.database.tenant(tenant_id))
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')

const mayDecide = async (id: string, at = new Date()) => (await Array.fromAsync(whoMayDecide(tx, id, at))).flat()
const ids = (...some: { user_id: string }[]) => some.map(({ user_id }) => user_id).sort()

/** Functions that remove the rules of one test. */
let rules: (() => Promise<void>)[] = []
beforeEach(async () => {
  for (const remove of rules) await remove()
  rules = []
})
const withRule = async (text: string) => rules.push(await on.rule(text))

suite('the possible approvers of a request', () => {
  test('are the users with the scope whom policy permits, never the requester', async () => {
    assert.deepEqual(await mayDecide(await on.ask(on.account('100000000001'))), ids(...everybody))
    const own = await on.ask(on.account('100000000001'), people.approver)
    assert.deepEqual(await mayDecide(own), ids(owner, people.admin))
  })

  for (const [who, leave, comeBack] of [
    ['deactivated', 'active = false', 'active = true'],
    ['suspended', `suspended_until = now() + interval '1 hour'`, 'suspended_until = now()'],
  ]) {
    test(`include no ${who} user (P35)`, async () => {
      const id = await on.ask(on.account('100000000001'))
      await house.asSuperuser(`update tenant_user set ${leave} where id = $1`, [people.approver.user_id])
      const may = await mayDecide(id)
      await house.asSuperuser(`update tenant_user set ${comeBack} where id = $1`, [people.approver.user_id])
      assert.deepEqual(may, ids(owner, people.admin))
      assert.deepEqual(await mayDecide(id), ids(...everybody))
    })
  }

  test('have the manager whom they had at the request, among other requests too', async () => {
    const manager = newId()
    await house.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        values ($1, $2, 'm@x.example', 'm@x.example', 'm', 'local')`,
      [tenant_id, manager],
    )
    await withRule(
      `forbid (principal, action == Action::"approve", resource)
        when { principal has manager && principal.manager == User::"${manager}" };`,
    )
    const set = (change: string, id: string) =>
      house.asSuperuser(`update tenant_user set ${change} where id = $1`, [id])
    await set(`manager_id = '${manager}'`, people.approver.user_id)
    const before = await on.ask(on.account('100000000001'))
    await set('active = false, deleted_at = clock_timestamp()', manager)
    const since = await on.ask(on.account('100000000001'))
    const found = [await possibleDeciders(tx, before), await possibleDeciders(tx, since)]
    await set('manager_id = null', people.approver.user_id)
    assert.deepEqual(found, [ids(owner, people.admin), ids(...everybody)])
  })

  test('are none for a request that does not exist', async () => {
    assert.deepEqual(await mayDecide(on.tenant_id), [])
  })

  for (const [what, text] of [
    ['a person', `forbid (principal == User::"${people.admin.user_id}", action == Action::"approve", resource);`],
    ['a role', 'forbid (principal in Role::"admin", action == Action::"approve", resource);'],
    ['an account', 'forbid (principal, action == Action::"approve", resource in cloud_account::"100000000002");'],
    ['an owner', 'forbid (principal, action == Action::"approve", resource) when { principal.is_owner };'],
    [
      'a scope',
      'forbid (principal, action == Action::"approve", resource) when { principal.scopes.contains("roles:write") };',
    ],
  ] as const) {
    test(`are exactly the users whose decision is accepted, if a rule tests ${what}`, async () => {
      await withRule(text)
      const approvers = await mayDecide(await on.ask(on.account('100000000002')))
      for (const person of [...everybody, people.auditor]) {
        const id = await on.ask(on.account('100000000002'))
        const { status } = await on.call(person, 'POST', `/v1/requests/${id}/deny`, {})
        assert.equal(approvers.includes(person.user_id), status === 200, `${person.user_id}: ${status}`)
      }
    })
  }

  test('depend on the given time', async () => {
    await withRule(
      'forbid (principal, action == Action::"approve", resource) when { context.now < datetime("2100-01-01") };',
    )
    const id = await on.ask(on.account('100000000003'))
    assert.deepEqual(await mayDecide(id), [])
    assert.deepEqual(await mayDecide(id, new Date('2100-01-02T00:00:00Z')), ids(...everybody))
  })

  test('do not depend on the API key of the request: people decide by token', async () => {
    await withRule('forbid (principal, action == Action::"approve", resource) when { context.via == "api_key" };')
    const url = '/v1/requests'
    const { api_key } = people.user
    const { body } = await house.call({ method: 'POST', url, api_key, tenant_id, body: on.account('100000000003') })
    assert.deepEqual(await mayDecide(String(body.id)), ids(...everybody))
  })

  test('are read in one round trip per 500 users', async () => {
    const id = await on.ask(on.account('100000000004'))
    await mayDecide(id)
    trips = 0
    assert.equal((await mayDecide(id)).length, 3)
    assert.equal(trips, 1)

    await seedManyApprovers(house.asSuperuser, tenant_id, 620)
    trips = 0
    const may = await mayDecide(id)
    assert.equal(trips, 2)
    assert.equal(new Set(may).size, 623)
    assert.deepEqual(may, may.toSorted())
  })

  test('of many requests are those of each, read in the same round trips for all of them', async () => {
    await withRule(
      'forbid (principal in Role::"admin", action == Action::"approve", resource in cloud_account::"100000000005");',
    )
    await withRule(
      'forbid (principal, action == Action::"approve", resource) when { context.now > datetime("2100-01-01") };',
    )
    const later = new Date('2100-01-02T00:00:00Z')
    const asked: { request_id: string; at: Date }[] = [
      { request_id: await on.ask(on.account('100000000005')), at: new Date() },
      { request_id: await on.ask(on.account('100000000006'), people.approver), at: new Date() },
      { request_id: tenant_id, at: new Date() },
      { request_id: await on.ask(on.account('100000000006'), people.admin), at: new Date() },
    ]
    asked.push({ request_id: asked[0]?.request_id ?? '', at: later })
    const given = await on.ask(on.account('100000000006'), owner)
    const expected = await Promise.all(asked.map(({ request_id, at }) => mayDecide(request_id, at)))
    trips = 0
    const found = ofEach(await Array.fromAsync(whoMayDecideEach(tx, asked)), asked.length)
    assert.equal(trips, 2)
    assert.deepEqual(found, expected)
    assert.deepEqual(
      found.map((one) => one.length),
      [621, 622, 0, 622, 0],
    )

    // What the owner gave since counts for the others' requests alone.
    const made = await on.call(owner, 'PUT', `/v1/users/${people.auditor.user_id}/roles`, { roles: ['approver'] })
    assert.equal(made.status, 200, made.text)
    const both = [...asked.slice(1, 2), { request_id: given, at: new Date() }]
    const [ofOther, ofGiver] = ofEach(await Array.fromAsync(whoMayDecideEach(tx, both)), 2)
    assert.equal(ofOther?.includes(people.auditor.user_id), true)
    assert.equal(ofGiver?.includes(people.auditor.user_id), false)
    assert.deepEqual(ofGiver, await mayDecide(given))
  })
})
