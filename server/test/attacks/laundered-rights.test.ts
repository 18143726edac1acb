import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from '../support/house.ts'
import { possibleDeciders } from '../support/possible-deciders.ts'

/**
 * A requester gives rights to a go-between after the request, the go-between makes an approver, and the requester withdraws what the
 * go-between got. The approver still does not count (P8).
 */
const house = await openHouse()
const { tenant_id, owner: requester, people } = await house.tenant('laundered rights')
const { admin: other, user: helper } = people

async function must(by: Person, method: string, url: string, body?: unknown): Promise<string> {
  const reply = await house.call({ method, url, token: by.token, tenant_id, ...(body !== undefined && { body }) })
  assert.ok(reply.status < 300, `${method} ${url}: ${reply.text}`)
  return String(reply.body.id)
}

const policy = await must(requester, 'POST', '/v1/policies', { name: 'everybody may ask' })
await must(requester, 'POST', `/v1/policies/${policy}/rules`, { effect: 'permit' })
const deciding = await must(other, 'POST', '/v1/roles', { name: 'deciding', scopes: ['requests:approve'] })
const rights = ['users:write', 'requests:approve']

const ask = () =>
  must(requester, 'POST', '/v1/requests', { resource: { type: 'cloud_account', id: '123456789012' }, action: 'Any' })
const setRoles = (by: Person, { user_id }: Person, roles: string[]) =>
  must(by, 'PUT', `/v1/users/${user_id}/roles`, { roles })
const setScopes = (by: Person, role: string, scopes: string[]) => must(by, 'PATCH', `/v1/roles/${role}`, { scopes })
const map = (by: Person, group: string, role_ids: string[]) =>
  must(by, 'PUT', `/v1/groups/${group}/role-mappings`, { role_ids })
const join = (by: Person, group: string, { user_id }: Person) =>
  must(by, 'POST', `/v1/groups/${group}/members`, { user_id })
const leave = (by: Person, group: string, { user_id }: Person) =>
  must(by, 'DELETE', `/v1/groups/${group}/members/${user_id}`)
const remove = (by: Person, path: string) => must(by, 'DELETE', path)

async function newPerson(): Promise<Person> {
  const email = `${crypto.randomUUID()}@example.com`
  const body = { email, name: 'Go-between', roles: ['user'], auth_provider: 'oidc' }
  return house.person(tenant_id, await must(other, 'POST', '/v1/users', body))
}

/** What others prepared before the request: `role` can make approvers, `weak` cannot, `group` gives neither. */
type Prepared = { between: Person; role: string; weak: string; group: string }

async function prepare(): Promise<Prepared> {
  const named = async (url: string, more: object) => must(other, 'POST', url, { name: crypto.randomUUID(), ...more })
  return {
    between: await newPerson(),
    role: await named('/v1/roles', { scopes: rights }),
    weak: await named('/v1/roles', { scopes: ['requests:read'] }),
    group: await named('/v1/groups', {}),
  }
}

/** How the requester gives the go-between the rights, and withdraws them. */
type Way = {
  before?: (prepared: Prepared) => Promise<unknown>
  give: (prepared: Prepared) => Promise<unknown>
  withdraw: (prepared: Prepared) => Promise<unknown>
}

const give = ({ between, role }: Prepared) => setRoles(requester, between, ['user', role])
const joinGroup: Pick<Way, 'before' | 'give'> = {
  before: ({ group, role }) => map(other, group, [role]),
  give: ({ group, between }) => join(requester, group, between),
}
const mapGroup: Pick<Way, 'before' | 'give'> = {
  before: ({ group, between }) => join(other, group, between),
  give: ({ group, role }) => map(requester, group, [role]),
}
const addScope: Pick<Way, 'before' | 'give'> = {
  before: ({ between, weak }) => setRoles(other, between, ['user', weak]),
  give: ({ weak }) => setScopes(requester, weak, ['requests:read', ...rights]),
}
const addScopeOfGroup: Pick<Way, 'before' | 'give'> = {
  async before({ group, between, weak }) {
    await join(other, group, between)
    await map(other, group, [weak])
  },
  give: addScope.give,
}

const ways: Record<string, Way> = {
  'a role, taken back': { give, withdraw: ({ between }) => setRoles(requester, between, ['user']) },
  'a role, of a user who is deleted': {
    give,
    withdraw: ({ between }) => remove(requester, `/v1/users/${between.user_id}`),
  },
  'a role that is deleted': {
    give,
    async withdraw({ between, role }) {
      await setRoles(requester, between, ['user'])
      await remove(requester, `/v1/roles/${role}`)
    },
  },
  'a membership, ended': { ...joinGroup, withdraw: ({ group, between }) => leave(requester, group, between) },
  'a membership in a group that is deleted': {
    ...joinGroup,
    withdraw: ({ group }) => remove(requester, `/v1/groups/${group}`),
  },
  'the role of a group, taken back': { ...mapGroup, withdraw: ({ group }) => map(requester, group, []) },
  'the role of a group, left by the member': {
    ...mapGroup,
    withdraw: ({ group, between }) => leave(requester, group, between),
  },
  'the role of a group that is deleted': {
    ...mapGroup,
    withdraw: ({ group }) => remove(requester, `/v1/groups/${group}`),
  },
  'a scope of a role': { ...addScope, withdraw: async () => undefined },
  'a scope of a role, taken back': {
    ...addScope,
    withdraw: ({ weak }) => setScopes(requester, weak, ['requests:read']),
  },
  'a scope of a role that the holder loses': {
    ...addScope,
    withdraw: ({ between }) => setRoles(requester, between, ['user']),
  },
  'a scope of a group’s role': { ...addScopeOfGroup, withdraw: async () => undefined },
  'a scope of a group’s role, of a group that is deleted': {
    ...addScopeOfGroup,
    withdraw: ({ group }) => remove(requester, `/v1/groups/${group}`),
  },
}

/** The result of an approval by the helper, and whether the helper was to be notified of the request. */
async function approve(request: string): Promise<[number, unknown, boolean]> {
  const notified = await possibleDeciders(house.database.tenant(tenant_id), request)
  const url = `/v1/requests/${request}/approve`
  const reply = await house.call({ method: 'POST', url, token: helper.token, tenant_id, body: {} })
  return [reply.status, reply.body.code, notified.includes(helper.user_id)]
}

const refused = [403, 'forbidden', false]
const approved = [200, undefined, true]

for (const [name, { before, give, withdraw }] of Object.entries(ways)) {
  test(`${name}, given after the request, makes no approver through its receiver (P8)`, async () => {
    await setRoles(other, helper, ['user'])
    const prepared = await prepare()
    await before?.(prepared)
    const request = await ask()
    await give(prepared)
    await setRoles(prepared.between, helper, ['user', deciding])
    assert.deepEqual(await approve(request), refused, 'before it is withdrawn')
    await withdraw(prepared)
    assert.deepEqual(await approve(request), refused, 'afterwards')
    assert.deepEqual(await approve(await ask()), approved, 'a later request')
  })
}

test('a receiver who had left the group before the requester gave it a role makes approvers who count', async () => {
  await setRoles(other, helper, ['user'])
  const { between, group, role } = await prepare()
  await join(other, group, between)
  await setRoles(other, between, ['user', role])
  const request = await ask()
  await leave(other, group, between)
  await map(requester, group, [role])
  await setRoles(between, helper, ['user', deciding])
  assert.deepEqual(await approve(request), approved)
})
