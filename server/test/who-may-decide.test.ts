import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from './support/house.ts'
import { possibleDeciders } from './support/possible-deciders.ts'

/**
 * No requester makes their own approver (P8): rights that the requester of a request gives after requesting it do not count
 * for deciding it, however a right is given. Rights given by another user, or before the request, count.
 */
const house = await openHouse()
const tenant = await house.tenant('whose word counts')
const { tenant_id, owner, people } = tenant
const other = people.admin
const helper = people.user

/** By token, or by key if there is no token. */
async function call({ token, api_key }: Person, method: string, url: string, body?: unknown) {
  const credential = token === '' ? { api_key } : { token }
  return house.call({ method, url, ...credential, tenant_id, ...(body !== undefined && { body }) })
}

async function must(person: Person, method: string, url: string, body?: unknown): Promise<string> {
  const reply = await call(person, method, url, body)
  assert.ok(reply.status < 300, `${method} ${url}: ${reply.text}`)
  return String(reply.body.id)
}

const policy = await must(owner, 'POST', '/v1/policies', { name: 'everybody may ask' })
await must(owner, 'POST', `/v1/policies/${policy}/rules`, { effect: 'permit' })

const ask = () =>
  must(owner, 'POST', '/v1/requests', { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly' })

/** The result of an approval by the helper. */
async function approve(request: string): Promise<[number, unknown]> {
  const reply = await call(helper, 'POST', `/v1/requests/${request}/approve`, {})
  return [reply.status, reply.body.code]
}

/** Whether the helper would be notified of it as an approver. */
async function isNotified(request: string): Promise<boolean> {
  return (await possibleDeciders(house.database.tenant(tenant_id), request)).includes(helper.user_id)
}

const approved: [number, unknown] = [200, undefined]
const forbidden: [number, unknown] = [403, 'forbidden']

/**
 * A way to give the helper the right to decide: `prepare` sets it up and returns a function that gives it, which returns one
 * that takes it away.
 */
type WayToGive = { prepare(): Promise<(giver: Person) => Promise<unknown>> }

const roles = (giver: Person, ...ids: string[]) =>
  must(giver, 'PUT', `/v1/users/${helper.user_id}/roles`, { roles: ['user', ...ids] })
const newGroup = () => must(other, 'POST', '/v1/groups', { name: 'approvers' })
const mapping = (giver: Person, id: string) =>
  must(giver, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids: ['approver'] })
const joining = (giver: Person, id: string) =>
  must(giver, 'POST', `/v1/groups/${id}/members`, { user_id: helper.user_id })

const waysToGive: Record<string, WayToGive> = {
  'a role': { prepare: async () => (giver) => roles(giver, 'approver') },
  'membership in a group that gives the role': {
    async prepare() {
      const id = await newGroup()
      await mapping(other, id)
      return (giver) => joining(giver, id)
    },
  },
  'the role to a group of theirs': {
    async prepare() {
      const id = await newGroup()
      await joining(other, id)
      return (giver) => mapping(giver, id)
    },
  },
  'the scope to a role of theirs': {
    async prepare() {
      const id = await must(other, 'POST', '/v1/roles', { name: 'helper', scopes: ['requests:read'] })
      await roles(other, id)
      return (giver) => must(giver, 'PATCH', `/v1/roles/${id}`, { scopes: ['requests:read', 'requests:approve'] })
    },
  },
}

/** Asserts that the helper has only a user's rights, and is in no group. */
async function bare(): Promise<void> {
  await roles(other)
  await house.asSuperuser('delete from group_member where user_id = $1', [helper.user_id])
}

for (const [name, { prepare }] of Object.entries(waysToGive)) {
  test(`${name}, given by the requester after the request, counts only for other requests`, async () => {
    await bare()
    const give = await prepare()
    const request = await ask()
    await give(owner)
    assert.equal(await isNotified(request), false)
    assert.deepEqual(await approve(request), forbidden)
    assert.deepEqual(await approve(await ask()), approved, 'a request made afterwards')
  })

  test(`${name}, given by the requester with a key, does not count either (P5)`, async () => {
    await bare()
    const give = await prepare()
    const request = await ask()
    await give({ ...owner, token: '' })
    assert.deepEqual(await approve(request), forbidden)
  })

  test(`${name}, given by another user, counts`, async () => {
    await bare()
    const give = await prepare()
    const request = await ask()
    assert.equal(await isNotified(request), false)
    await give(other)
    assert.equal(await isNotified(request), true)
    assert.deepEqual(await approve(request), approved)
  })

  test(`${name}, given again by another user after the requester gave it, stays the requester’s`, async () => {
    await bare()
    const give = await prepare()
    const request = await ask()
    await give(owner)
    await give(other).catch(() => undefined)
    assert.deepEqual(await approve(request), forbidden)
  })
}

test('one right that counts is enough', async () => {
  await bare()
  const request = await ask()
  const [mine, theirs] = [await newGroup(), await newGroup()]
  for (const id of [mine, theirs]) await mapping(other, id)
  await joining(owner, mine)
  assert.deepEqual(await approve(request), forbidden)
  await joining(other, theirs)
  assert.deepEqual(await approve(request), approved)
})

test('a rule about a group ignores users whom the requester added after the request', async () => {
  await bare()
  await roles(other, 'approver')
  const id = await newGroup()
  for (const { id: starting } of (await call(owner, 'GET', '/v1/policies')).body.data as { id: string }[]) {
    if (starting !== policy) await must(owner, 'PATCH', `/v1/policies/${starting}`, { enabled: false })
  }
  await must(owner, 'POST', `/v1/policies/${policy}/rules`, {
    effect: 'permit',
    principal_scope_type: 'in',
    principal_entity_type: 'Group',
    principal_entity_id: id,
    action_scope_type: 'eq',
    action_ids: ['approve'],
  })
  const request = await ask()
  await joining(owner, id)
  assert.deepEqual(await approve(request), [403, 'policy_denied'])
  assert.deepEqual(await approve(await ask()), approved)
})
