import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { RoleHolder } from '../../src/roles/holder.ts'
import type { UserGroup } from '../../src/users/user.ts'
import { openHouse } from '../support/house.ts'
import { callerOf, type ListedRow } from '../support/whole-list.ts'

/** The holders of a role, the groups of a user, and the lists of groups and roles. */
const house = await openHouse()
const ours = await house.tenant('holders')
const { send, create, keyWith, whole } = callerOf(house, ours)
const theirs = callerOf(house, await house.tenant('others'))

const newUser = (name: string) =>
  create('/v1/users', { name, email: `${name}@example.com`, auth_provider: 'oidc', roles: ['user'] })
const role = await create('/v1/roles', { name: 'Night Keeper', scopes: ['cloud_accounts:read'] })
const [anna, ben, chloe] = [await newUser('Anna'), await newUser('Ben'), await newUser('Chloe')]
const [first, empty, last] = [
  await create('/v1/groups', { name: 'Équipe One' }),
  await create('/v1/groups', { name: 'Empty' }),
  await create('/v1/groups', { name: 'team two' }),
]
for (const group of [first, empty, last]) {
  await send('PUT', `/v1/groups/${group}/role-mappings`, { role_ids: [role] })
}
for (const [group, user_id] of [
  [first, anna],
  [first, ben],
  [last, anna],
]) {
  await send('POST', `/v1/groups/${group}/members`, { user_id })
}
for (const user of [ben, chloe]) await send('PUT', `/v1/users/${user}/roles`, { roles: ['user', role] })
const theirRole = await theirs.create('/v1/roles', { name: 'Night Keeper', scopes: ['cloud_accounts:read'] })
const theirGroup = await theirs.create('/v1/groups', { name: 'Équipe One' })
const theirUser = await theirs.create('/v1/users', {
  ...{ name: 'Anna', email: 'anna@example.com', auth_provider: 'oidc', roles: ['user'] },
})
await theirs.send('POST', `/v1/groups/${theirGroup}/members`, { user_id: theirUser })

const holdersOf = (id: string, limit?: number, key?: string) => whole<RoleHolder>(`/v1/roles/${id}/holders`, limit, key)
const groupsOf = (id: string, limit?: number, key?: string) => whole<UserGroup>(`/v1/users/${id}/groups`, limit, key)
const own = { group_id: null, group_name: null }
const ways: RoleHolder[] = [
  { user_id: ben, user_name: 'Ben', ...own },
  { user_id: chloe, user_name: 'Chloe', ...own },
  { user_id: anna, user_name: 'Anna', group_id: first, group_name: 'Équipe One' },
  { user_id: ben, user_name: 'Ben', group_id: first, group_name: 'Équipe One' },
  { user_id: anna, user_name: 'Anna', group_id: last, group_name: 'team two' },
]

suite('the holders of a role', () => {
  test('are those who have it themselves, then the members of each group that gives it', async () => {
    for (const limit of [200, 4, 3, 2, 1]) assert.deepEqual(await holdersOf(role, limit), ways, `by ${limit}`)
    assert.deepEqual(await holdersOf(role.toUpperCase()), ways)
    assert.deepEqual(
      (await holdersOf('auditor')).map(({ user_name }) => user_name),
      ['auditor'],
    )
  })

  test('are all found behind more groups without members than a page reads', async () => {
    const many = await create('/v1/roles', { name: 'Many', scopes: [] })
    const groups = await house.asSuperuser<{ id: string }>(
      `with made as (insert into tenant_group (tenant_id, id, name, source)
          select $1::uuid, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'x', 'local'
          from generate_series(1, 1100) n returning id),
        given as (insert into group_role (tenant_id, group_id, role_id) select $1, id, $2 from made)
        select id from made order by id`,
      [ours.tenant_id, many],
    )
    const members = [499, 500, 999, 1099].map((at) => [String(groups[at]?.id), anna] as const)
    for (const [group, user_id] of members) await send('POST', `/v1/groups/${group}/members`, { user_id })
    for (const limit of [200, 1]) {
      const found = await holdersOf(many, limit)
      assert.deepEqual(
        found.map(({ group_id }) => group_id),
        members.map(([group]) => group),
      )
    }
  })

  test('are shown only to those who may read roles and users, and groups by name only to readers of groups', async () => {
    const few = await keyWith('roles:read', 'users:read')
    const nameless = ways.map((way) => ({ ...way, group_name: null }))
    assert.deepEqual(await holdersOf(role, 2, few), nameless)
    for (const scopes of [['roles:read'], ['users:read', 'groups:read'], ['roles:read', 'groups:read']]) {
      const key = await keyWith(...scopes)
      for (const id of [role, theirRole, 'nothing']) {
        const { status, body } = await send('GET', `/v1/roles/${id}/holders`, undefined, key)
        assert.deepEqual([status, body.code], [403, 'forbidden'], scopes.join())
      }
    }
    const [refused] = await house.asSuperuser<{ data: { operation: string } }>(
      `select data from event where tenant_id = $1 and type = 'access.refused' order by seq desc limit 1`,
      [ours.tenant_id],
    )
    assert.equal(refused?.data.operation, 'listRoleHolders')
  })

  test('of an unknown role and of one of another tenant are answered alike', async () => {
    const replies = await Promise.all(
      [theirRole, '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11', 'nothing'].map((id) =>
        send('GET', `/v1/roles/${id}/holders`),
      ),
    )
    assert.deepEqual(
      replies.map(({ status, text }) => [status, text]),
      replies.map(() => [404, replies[0]?.text]),
    )
  })
})

suite('the groups of a user', () => {
  test('come with their names and the source of the membership', async () => {
    const expected = [
      [first, 'Équipe One', 'local'],
      [last, 'team two', 'local'],
    ]
    const ofChloe = await groupsOf(chloe)
    for (const limit of [200, 1]) {
      const found = (await groupsOf(anna, limit)).filter(({ group_name }) => group_name !== 'x')
      assert.deepEqual(
        found.map(({ group_id, group_name, membership_source }) => [group_id, group_name, membership_source]),
        expected,
      )
    }
    assert.deepEqual(ofChloe, [])
  })

  test('are named only to those who may read groups', async () => {
    const named = await groupsOf(ben, 200, await keyWith('users:read'))
    assert.deepEqual(
      named.map(({ group_id, group_name }) => [group_id, group_name]),
      [[first, null]],
    )
    const refused = await send('GET', `/v1/users/${ben}/groups`, undefined, await keyWith('groups:read'))
    assert.equal(refused.status, 403)
  })

  test('of an unknown user, of a deleted one, and of one of another tenant are answered alike', async () => {
    const deleted = await newUser('Dilara')
    await send('POST', `/v1/groups/${first}/members`, { user_id: deleted })
    await send('DELETE', `/v1/users/${deleted}`)
    const ids = [theirUser, deleted, '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11']
    const replies = await Promise.all(ids.map((id) => send('GET', `/v1/users/${id}/groups`)))
    assert.deepEqual(
      replies.map(({ status, text }) => [status, text]),
      replies.map(() => [404, replies[0]?.text]),
    )
  })
})

suite('groups and roles', () => {
  const made = new Set([first, empty, last])
  const groups = async (query: string, limit?: number) =>
    (await whole(`/v1/groups${query}`, limit)).filter(({ id }) => made.has(id)).map(({ id }) => id)

  test('groups are in the order of creation, or as `sort` says, page by page', async () => {
    const orders: [string, string[]][] = [
      ['', [first, empty, last]],
      ['?sort=created_at', [first, empty, last]],
      ['?sort=-created_at', [last, empty, first]],
      ['?sort=name', [empty, first, last]],
      ['?source=local&sort=-name', [last, first, empty]],
      ['?source=scim', []],
    ]
    for (const [query, expected] of orders) {
      for (const limit of [200, 100]) assert.deepEqual(await groups(query, limit), expected, query)
    }
  })

  test('groups are found by words of their names, and by when they were created', async () => {
    assert.deepEqual(await groups('?q=equipe'), [first])
    assert.deepEqual(await groups('?q=TEAM%20tw&source=local'), [last])
    assert.deepEqual(await groups('?q=team&source=scim'), [])
    const created_at = (await whole('/v1/groups')).find(({ id }) => id === last)?.created_at
    const after = encodeURIComponent(String(created_at))
    assert.deepEqual(await groups(`?created_after=${after}`), [last])
    assert.deepEqual(await groups(`?created_after=${after}&sort=name`), [last])
    assert.deepEqual(await groups(`?created_before=${after}&sort=name`), [empty, first])
    await send('PATCH', `/v1/groups/${empty}`, { name: 'Renamed' })
    assert.deepEqual([await groups('?q=empty'), await groups('?q=renam')], [[], [empty]])
  })

  test('roles are found by words of their names', async () => {
    const found = async (q: string) => (await whole(`/v1/roles?q=${q}`, 1)).map(({ id }: ListedRow) => id)
    assert.deepEqual(await found('keeper%20night'), [role])
    assert.deepEqual(await found('a'), ['admin', 'approver', 'auditor'])
    await send('PATCH', `/v1/roles/${role}`, { name: 'Day keeper' })
    assert.deepEqual([await found('night'), await found('day')], [[], [role]])
    await send('PATCH', `/v1/roles/${role}`, { name: 'Night Keeper' })
  })

  test('each list is refused without its scope, whatever is searched', async () => {
    const key = await keyWith('requests:read')
    for (const url of ['/v1/groups?q=equipe', '/v1/roles?q=keeper', '/v1/users?q=anna', '/v1/cloud/accounts?q=a']) {
      const { status, body } = await send('GET', url, undefined, key)
      assert.deepEqual([status, body.code, 'data' in body, 'has_more' in body], [403, 'forbidden', false, false], url)
    }
  })
})
