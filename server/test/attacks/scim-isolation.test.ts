import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { enterpriseSchema } from '../../src/scim/attribute.ts'
import type { TestTenant } from '../support/house.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** A SCIM key sees and writes the users and groups of its own directory: neither local ones, nor another directory's, nor another tenant's (T16). */
const { house, acme, directory, makeDirectory } = await openScimStage()
const other = await house.tenant('Other')
const [second, theirs] = [await makeDirectory(), await makeDirectory(other)]
const { call } = directory

const as = async ({ tenant_id, owner }: TestTenant, method: string, url: string, body: unknown) => {
  const reply = await house.call({ method, url, api_key: owner.api_key, tenant_id, body })
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}
const filter = (text: string) => `?filter=${encodeURIComponent(text)}`

/** By what nobody of ours is: users and groups whom the key must not reach. */
const users = new Map<string, string>()
const groups = new Map<string, string>()
let ours: string
let ourGroup: string

/** Everything that is kept of the users and groups that are not ours. */
const kept = () =>
  house.asSuperuser(
    `select 'user' as what, to_jsonb(u) as row from tenant_user u where u.id = any($1)
      union all select 'role', to_jsonb(r) from user_role r where r.user_id = any($1)
      union all select 'directory user', to_jsonb(d) from directory_user d where d.user_id = any($1)
      union all select 'group', to_jsonb(g) from tenant_group g where g.id = any($2)
      union all select 'member', to_jsonb(m) from group_member m where m.group_id = any($2) or m.user_id = any($1)
      union all select 'mapping', to_jsonb(m) from group_role m where m.group_id = any($2)
      order by 1, 2`,
    [[...users.values()], [...groups.values()]],
  )

before(async () => {
  const local = await as(acme, 'POST', '/v1/users', {
    email: 'local@example.com',
    name: 'Local',
    roles: ['user'],
    password: 'a long enough password',
  })
  users.set('a local user', String(local.id))
  users.set('the owner', acme.owner.user_id)
  users.set('an administrator', acme.people.admin.user_id)
  users.set(
    'a user of another directory',
    (await second.user({ userName: 'second@example.com', externalId: 'shared' })).id,
  )
  users.set(
    'a user of another tenant’s directory',
    (await theirs.user({ userName: 'theirs@example.com', externalId: 'shared' })).id,
  )
  users.set('another tenant’s owner', other.owner.user_id)

  const admins = await as(acme, 'POST', '/v1/groups', { name: 'Admins' })
  await as(acme, 'PUT', `/v1/groups/${admins.id}/role-mappings`, { role_ids: ['admin'] })
  await as(acme, 'POST', `/v1/groups/${admins.id}/members`, { user_id: local.id })
  groups.set('a local group', String(admins.id))
  groups.set(
    'a group of another directory',
    (await second.group('Second', [users.get('a user of another directory') ?? ''])).id,
  )
  groups.set('a group of another tenant’s directory', (await theirs.group('Theirs')).id)

  ours = (await directory.user({ userName: 'ours@example.com' })).id
  ourGroup = (await directory.group('Ours', [ours])).id
})

/** How the answer for an id differs from that for an id that nobody has. */
async function requireLikeNobody(
  id: string,
  method: string,
  path: (id: string) => string,
  body?: unknown,
): Promise<void> {
  const nobody = newId()
  const [reply, never] = await Promise.all([id, nobody].map((one) => call(method, path(one), body)))
  assert.equal(reply?.status, 404, `${method} ${path(id)} ${reply?.text}`)
  assert.equal(reply.text, never?.text)
}

const stop = { Operations: [{ op: 'replace', path: 'active', value: false }] }

suite('a user who is not of the directory', () => {
  test('is not found, read, changed, stopped or deleted, and looks like nobody', async () => {
    const former = await kept()
    for (const id of users.values()) {
      const path = (one: string) => `/Users/${one}`
      await requireLikeNobody(id, 'GET', path)
      await requireLikeNobody(id, 'PUT', path, { userName: 'taken@example.com', active: false })
      await requireLikeNobody(id, 'PATCH', path, stop)
      await requireLikeNobody(id, 'DELETE', path)
      await requireLikeNobody(id, 'GET', (one) => `/Groups/${one}`)
    }
    assert.deepEqual(await kept(), former)
  })

  test('is in no list, whatever is asked for', async () => {
    for (const query of [
      ...[
        '',
        '?count=200',
        '?sortBy=userName',
        filter('active eq true'),
        filter('not (userName eq "x")'),
        filter('id pr'),
      ],
      ...[filter('externalId ne "x"'), filter('meta.created gt "2000-01-01T00:00:00Z"')],
    ]) {
      const { body } = await call('GET', `/Users${query}`)
      assert.deepEqual(
        (body.Resources as { id: string }[]).map(({ id }) => id),
        [ours],
        query,
      )
      assert.equal(body.totalResults, 1, query)
    }
    for (const [who, id] of users) {
      for (const text of [
        `id eq "${id}"`,
        'externalId eq "shared"',
        'userName sw "second"',
        'emails.value co "theirs"',
        'userName sw "local"',
      ]) {
        assert.equal((await call('GET', `/Users${filter(text)}`)).body.totalResults, 0, `${who}: ${text}`)
      }
    }
    const all = await call('POST', '/.search', {})
    assert.deepEqual(
      (all.body.Resources as { id: string }[]).map(({ id }) => id),
      [ours, ourGroup],
    )
  })

  test('becomes no member', async () => {
    const former = await kept()
    for (const [who, id] of users) {
      for (const [method, path, body] of [
        ['PATCH', `/Groups/${ourGroup}`, { Operations: [{ op: 'add', path: 'members', value: [{ value: id }] }] }],
        ['PUT', `/Groups/${ourGroup}`, { displayName: 'Ours', members: [{ value: ours }, { value: id }] }],
        ['POST', '/Groups', { displayName: `With ${who}`, members: [{ value: id }] }],
      ] as const) {
        const reply = await call(method, path, body)
        assert.deepEqual(
          [reply.status, reply.body.detail],
          [400, `the directory has no user with the id \`${id}\``],
          who,
        )
      }
    }
    assert.deepEqual(await kept(), former)
    const { body } = await call('GET', `/Groups/${ourGroup}`)
    assert.deepEqual(
      (body.members as { value: string }[]).map(({ value }) => value),
      [ours],
    )
  })

  test('becomes nobody’s manager', async () => {
    const path = `${enterpriseSchema}:manager`
    for (const value of [...users.values(), 'shared']) {
      const reply = await call('PATCH', `/Users/${ours}`, { Operations: [{ op: 'replace', path, value }] })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(await house.asSuperuser('select manager_id from tenant_user where id = $1', [ours]), [
        { manager_id: null },
      ])
    }
    await call('PATCH', `/Users/${ours}`, { Operations: [{ op: 'remove', path }] })
  })

  test('is not taken over by their address, nor by their external id', async () => {
    const former = await kept()
    for (const [userName, status] of [
      ['local@example.com', 409],
      ['LOCAL@example.com', 409],
      ['second@example.com', 409],
      ['admin@example.com', 409],
    ] as const) {
      assert.equal((await call('POST', '/Users', { userName, externalId: 'mine' })).status, status, userName)
      const renamed = { Operations: [{ op: 'replace', value: { emails: [{ value: userName }] } }] }
      assert.equal((await call('PATCH', `/Users/${ours}`, renamed)).status, 409, userName)
    }
    // External ids, and addresses of another tenant, are each directory's and each tenant's own.
    const same = await call('POST', '/Users', { userName: 'theirs@example.com', externalId: 'shared' })
    assert.equal(same.status, 201, same.text)
    assert.ok(![...users.values()].includes(String(same.body.id)))
    assert.equal((await call('DELETE', `/Users/${same.body.id}`)).status, 204)
    assert.deepEqual(await kept(), former)
  })
})

suite('a group that is not of the directory', () => {
  test('is not found, read, changed or deleted, and looks like none', async () => {
    const former = await kept()
    for (const id of groups.values()) {
      const path = (one: string) => `/Groups/${one}`
      await requireLikeNobody(id, 'GET', path)
      await requireLikeNobody(id, 'PUT', path, { displayName: 'Taken', members: [{ value: ours }] })
      await requireLikeNobody(id, 'PATCH', path, {
        Operations: [{ op: 'add', path: 'members', value: [{ value: ours }] }],
      })
      await requireLikeNobody(id, 'PATCH', path, { Operations: [{ op: 'remove', path: 'members' }] })
      await requireLikeNobody(id, 'DELETE', path)
    }
    assert.deepEqual(await kept(), former)
  })

  test('is in no list', async () => {
    for (const query of [
      '',
      filter('displayName pr'),
      filter('not (members pr)'),
      filter('externalId eq null'),
      filter('displayName eq "Admins"'),
    ]) {
      const { Resources } = (await call('GET', `/Groups${query}`)).body as { Resources: { id: string }[] }
      assert.ok(
        Resources.every(({ id }) => id === ourGroup),
        query,
      )
    }
  })

  test('is not adopted by its name: the new one gives nobody its roles', async () => {
    const former = await kept()
    for (const displayName of ['Admins', 'admins', 'Second', 'Theirs']) {
      const made = await call('POST', '/Groups', { displayName, members: [{ value: ours }] })
      assert.equal(made.status, displayName === 'admins' ? 409 : 201, made.text)
      assert.ok(![...groups.values()].includes(String(made.body.id)))
      const patched = await call('PATCH', `/Groups/${ourGroup}`, {
        Operations: [{ op: 'replace', path: 'displayName', value: 'Admins' }],
      })
      assert.equal(patched.status, 409, 'the name is that of the group that was just made')
    }
    const rights = await house.asSuperuser(
      `select role_id from user_role where user_id = $1
        union all select gr.role_id from group_role gr join group_member m using (tenant_id, group_id)
        where m.user_id = $1`,
      [ours],
    )
    assert.deepEqual(rights, [{ role_id: 'user' }])
    assert.deepEqual(await kept(), former)
  })
})
