import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person, type Reply, type TestTenant } from '../support/house.ts'

/** Rules that name users and resources of another tenant, and texts of rules that reach other users than intended. */
const house = await openHouse()
const ours = await house.tenant('ours')
const theirs = await house.tenant('theirs')

function call({ tenant_id }: TestTenant, { token }: Person, method: string, url: string, body?: unknown) {
  return house.call({ method, url, token, tenant_id, ...(body !== undefined && { body }) })
}

async function made(tenant: TestTenant, method: string, url: string, body: unknown): Promise<Reply> {
  const reply = await call(tenant, tenant.owner, method, url, body)
  assert.ok(reply.status < 300, reply.text)
  return reply
}

/** A policy of the tenant with exactly these rules. */
async function withRules(tenant: TestTenant, ...rules: object[]): Promise<string> {
  const policy = await made(tenant, 'POST', '/v1/policies', { name: 'for this test' })
  for (const rule of rules) await made(tenant, 'POST', `/v1/policies/${policy.body.id}/rules`, rule)
  return `/v1/policies/${policy.body.id}`
}

const ask = (tenant: TestTenant, person: Person, type: string, id: string) =>
  call(tenant, person, 'POST', '/v1/requests', { resource: { type, id }, action: 'ReadOnly' })

const unit = 'ou-ab12-12345678'
const account = '123456789012'
const theirGroup = String((await made(theirs, 'POST', '/v1/groups', { name: 'theirs' })).body.id)
await made(theirs, 'POST', `/v1/groups/${theirGroup}/members`, { user_id: theirs.people.user.user_id })
const theirRole = String(
  (await made(theirs, 'POST', '/v1/roles', { name: 'theirs', scopes: ['requests:create'] })).body.id,
)
await made(theirs, 'PUT', `/v1/users/${theirs.people.user.user_id}/roles`, { roles: ['user', theirRole] })
await made(theirs, 'PUT', '/v1/cloud/accounts', {
  resources: [
    {
      ...{ id: 'a', account_id: account, name: 'their account' },
      metadata: { env: 'prod', organizational_unit_ids: [unit] },
    },
  ],
})

suite('a rule of ours that names', () => {
  const principals: [string, string, string, string][] = [
    ['their person', 'eq', 'User', theirs.people.user.user_id],
    ['their group', 'in', 'Group', theirGroup],
    ['their role', 'in', 'Role', theirRole],
  ]
  for (const [what, scope, type, id] of principals) {
    test(`${what} permits nothing, here or there (T10)`, async () => {
      const rule = { principal_scope_type: scope, principal_entity_type: type, principal_entity_id: id }
      const policy = await withRules(ours, { effect: 'permit', approval_mode: 'auto', ...rule })
      for (const [tenant, person] of [
        [ours, ours.people.user],
        [ours, ours.owner],
        [theirs, theirs.people.user],
      ] as const) {
        assert.equal((await ask(tenant, person, 'cloud_account', account)).body.code, 'policy_denied')
      }
      await call(ours, ours.owner, 'DELETE', policy)
    })
  }

  test('every user and resource forbids nothing there (T10)', async () => {
    const here = await withRules(ours, { effect: 'permit' }, { effect: 'forbid' })
    const there = await withRules(theirs, { effect: 'permit' })
    assert.equal((await ask(ours, ours.people.user, 'cloud_account', account)).body.code, 'policy_denied')
    assert.equal((await ask(theirs, theirs.people.user, 'cloud_account', account)).status, 201)
    await call(ours, ours.owner, 'DELETE', here)
    await call(theirs, theirs.owner, 'DELETE', there)
  })

  const known: [string, object][] = [
    [
      'by its unit',
      { resource_scope_type: 'in', resource_entity_type: 'cloud_organizational_unit', resource_entity_id: unit },
    ],
    ['by its name', { conditions: 'when { resource is cloud_account && resource.name == "their account" }' }],
    ['by its tag', { conditions: 'when { resource.hasTag("env") && resource.getTag("env") == "prod" }' }],
  ]
  for (const [how, rule] of known) {
    test(`an account ${how}, as they have it, does not mean it here (T10)`, async () => {
      const here = await withRules(ours, { effect: 'permit', ...rule })
      const there = await withRules(theirs, { effect: 'permit', ...rule })
      assert.equal((await ask(theirs, theirs.people.user, 'cloud_account', account)).status, 201)
      assert.equal((await ask(ours, ours.people.user, 'cloud_account', account)).body.code, 'policy_denied')
      await call(ours, ours.owner, 'DELETE', here)
      await call(theirs, theirs.owner, 'DELETE', there)
    })
  }

  test('their unit reaches none of its accounts: here it has none (T10)', async () => {
    const here = await withRules(ours, { effect: 'permit' })
    const reply = await ask(ours, ours.people.user, 'cloud_organizational_unit', unit)
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    assert.ok(!reply.text.includes(account))
    await call(ours, ours.owner, 'DELETE', here)
  })
})

suite('the notices of a denial', () => {
  test('are only of the caller’s tenant, and of the rules that decided (D5)', async () => {
    const forbid = (notice: string, id: string) => ({
      ...{ effect: 'forbid', notice, resource_scope_type: 'eq', resource_entity_type: 'cloud_account' },
      resource_entity_id: id,
    })
    const here = await withRules(
      ours,
      { effect: 'permit' },
      forbid('ours, here', account),
      forbid('ours, elsewhere', '1'),
    )
    const there = await withRules(theirs, { effect: 'permit' }, forbid('theirs', account))
    const denied = await ask(ours, ours.people.user, 'cloud_account', account)
    assert.deepEqual([denied.body.code, denied.body.notices], ['policy_denied', ['ours, here']])
    assert.deepEqual((await ask(theirs, theirs.people.user, 'cloud_account', account)).body.notices, ['theirs'])
    await call(ours, ours.owner, 'DELETE', here)
    await call(theirs, theirs.owner, 'DELETE', there)
  })
})

suite('the shown risk of a role', () => {
  test('depends on its own scopes, and not on what other users have (D6)', async () => {
    const scopes = ['requests:create']
    const mine = await made(ours, 'POST', '/v1/roles', { name: 'the same', scopes })
    await made(theirs, 'POST', '/v1/roles', { name: 'the same', scopes: ['requests:create', 'policies:write'] })
    const again = await call(ours, ours.people.auditor, 'GET', `/v1/roles/${mine.body.id}`)
    assert.deepEqual(again.body.blast_radius, mine.body.blast_radius)
    assert.equal((mine.body.blast_radius as { level: string }).level, 'low')
  })
})
