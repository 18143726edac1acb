import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { newId } from '../../src/kernel/id.ts'
import { makeSessionSecret } from '../../src/sessions/session-secret.ts'
import { openHouse, type Person, type Reply } from '../support/house.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { openProviderOfAll, openSignInStage, redirect_uri } from '../support/sign-in-stage.ts'

/** A link makes its holder another user: every way to get more by one than the inviter may give (P37). */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp)
const { house, tenant, configure, signIn, asOwner } = stage
const password = 'four random words here'

const by = ({ token }: Person, method: string, url: string, body?: unknown) =>
  house.call({ method, url, token, tenant_id: tenant().tenant_id, ...(body !== undefined && { body }) })
const keyIn = ({ body }: Reply) => String(body.url).split('#k=')[1] ?? ''
const use = (key: string, more: object = { password }) =>
  house.call({ method: 'POST', url: '/v1/auth/invitation', body: { key, ...more } })

/** The desk may write users, and holds nothing else but the right to request. */
async function openDesk(): Promise<Person> {
  const role = await asOwner('POST', '/v1/roles', {
    name: 'Help desk',
    scopes: ['users:read', 'users:write', 'requests:create'],
  })
  const body = { email: `${newId()}@example.com`, name: 'Desk', roles: ['user'], auth_provider: 'oidc' }
  const user_id = String((await asOwner('POST', '/v1/users', body)).body.id)
  await asOwner('PUT', `/v1/users/${user_id}/roles`, { roles: [String(role.body.id)] })
  return house.person(tenant().tenant_id, user_id)
}
async function invite(inviter: Person, more: object = {}) {
  const body = { email: `${newId()}@example.com`, name: 'Ben', roles: ['user'], ...more }
  const reply = await by(inviter, 'POST', '/v1/invitations', body)
  assert.equal(reply.status, 201, reply.text)
  return { user_id: String(reply.body.user_id), id: String(reply.body.id), key: keyIn(reply), email: body.email }
}
const widen = async (user_id: string, roles: string[]) => {
  const reply = await asOwner('PUT', `/v1/users/${user_id}/roles`, { roles })
  assert.equal(reply.status, 200, reply.text)
}

suite('a help desk', () => {
  test('gives by an invitation no role that it lacks, and the attempt is on the record', async () => {
    const desk = await openDesk()
    const email = `${newId()}@example.com`
    const reply = await by(desk, 'POST', '/v1/invitations', { email, name: 'Ben', roles: ['user', 'approver'] })
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
    const users = await asOwner('GET', `/v1/users?q=${email}`)
    assert.deepEqual(users.body.data, [])
    const refused = await house.asSuperuser(
      `select from event where tenant_id = $1 and type = 'access.refused' and actor_id = $2`,
      [tenant().tenant_id, desk.user_id],
    )
    assert.equal(refused.length, 1)
  })

  test('invites nobody whom rules trust by a group, nor lets in a user of a provider with a password', async () => {
    const desk = await openDesk()
    const group = String((await asOwner('POST', '/v1/groups', { name: 'On call' })).body.id)
    const { user_id } = await invite(desk)
    await asOwner('POST', `/v1/groups/${group}/members`, { user_id })
    const refused = await by(desk, 'POST', `/v1/users/${user_id}/invitations`)
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    assert.match(refused.text, /groups:write/)
    const key = keyIn(await asOwner('POST', `/v1/users/${user_id}/invitations`))
    await house.asSuperuser(`update tenant_user set auth_provider = 'oidc' where id = $1`, [user_id])
    assert.equal((await use(key, { password: 'four random words here' })).status, 401)
  })

  test('keeps a link and waits until the user is given more: the link is over, own roles, a group and a wider role alike (P37)', async () => {
    const desk = await openDesk()
    const custom = String((await asOwner('POST', '/v1/roles', { name: 'Narrow', scopes: ['requests:create'] })).body.id)
    const group = String((await asOwner('POST', '/v1/groups', { name: 'Approvers' })).body.id)
    await asOwner('PUT', `/v1/groups/${group}/role-mappings`, { role_ids: ['approver'] })
    const ways: ((user_id: string) => Promise<unknown>)[] = [
      (user_id) => widen(user_id, ['user', 'admin']),
      (user_id) => asOwner('POST', `/v1/groups/${group}/members`, { user_id }),
      () => asOwner('PATCH', `/v1/roles/${custom}`, { scopes: ['requests:create', 'audit:read'] }),
    ]
    for (const way of ways) {
      const { user_id, key } = await invite(desk, { roles: [custom] })
      await way(user_id)
      assert.equal((await use(key)).status, 401)
      const mine = await by(desk, 'POST', `/v1/users/${user_id}/invitations`)
      assert.equal(mine.status, 403, mine.text)
      const fresh = await asOwner('POST', `/v1/users/${user_id}/invitations`)
      assert.equal(fresh.status, 201, fresh.text)
      assert.equal((await use(keyIn(fresh))).status, 200)
    }
  })

  test('keeps a link, and the owner replaces it: the kept one is over', async () => {
    const desk = await openDesk()
    const { user_id, key } = await invite(desk)
    await asOwner('POST', `/v1/users/${user_id}/invitations`)
    assert.equal((await use(key)).status, 401)
  })

  test('uses the link while its user is being given more or stopped, or it is being revoked: the use waits, and then sees it (P37)', async () => {
    const desk = await openDesk()
    const { tenant_id } = tenant()
    const changes = [
      (user_id: string) => sql`with locked as (
          select tenant_id, id from tenant_user where tenant_id = ${tenant_id} and id = ${user_id} for no key update)
        insert into user_role (tenant_id, user_id, role_id) select tenant_id, id, 'admin' from locked`,
      (user_id: string) => sql`update tenant_user set active = false
        where tenant_id = ${tenant_id} and id = ${user_id}`,
      (user_id: string) => sql`update invitation set ended_as = 'revoked', ended_at = clock_timestamp()
        where tenant_id = ${tenant_id} and user_id = ${user_id}`,
    ]
    for (const change of changes) {
      const { user_id, key } = await invite(desk)
      const uses: ReturnType<typeof use>[] = []
      await house.database.tenant(tenant_id).interactive(async (inside) => {
        await inside.write([change(user_id)])
        uses.push(use(key))
        await aLockIsWaitedFor(house, inside)
      })
      assert.deepEqual(
        (await Promise.all(uses)).map(({ status }) => status),
        [401],
      )
    }
  })

  test('uses the link at the moment at which the user is given more: never both (P37)', async () => {
    const desk = await openDesk()
    for (let round = 0; round < 6; round += 1) {
      const { user_id, key } = await invite(desk)
      const [used] = await Promise.all([use(key), widen(user_id, ['user', 'admin'])])
      const events = await house.asSuperuser<{ type: string }>(
        `select type from event where subject_id = $1 and type in ('user.joined', 'role.assigned') order by seq`,
        [user_id],
      )
      const types = events.map(({ type }) => type)
      // Before the change, which its maker then makes of a user who has joined; never after it.
      assert.deepEqual(types, used.status === 200 ? ['user.joined', 'role.assigned'] : ['role.assigned'])
    }
  })
})

suite('a link', () => {
  test('used and revoked, or used and its user stopped, at the same moment: one of the two (A25)', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { user_id, id, key } = await invite(tenant().owner)
      const end =
        round % 2 === 0
          ? asOwner('DELETE', `/v1/users/${user_id}/invitations/${id}`)
          : asOwner('PATCH', `/v1/users/${user_id}`, { active: false })
      const [used, ended] = await Promise.all([use(key), end])
      const [row] = await house.asSuperuser<{ ended_as: string }>('select ended_as from invitation where id = $1', [id])
      assert.equal(row?.ended_as, used.status === 200 ? 'used' : 'revoked')
      if (round % 2 === 0) assert.equal(ended.status, used.status === 200 ? 409 : 204)
      const sessions = await house.asSuperuser('select from user_session where user_id = $1', [user_id])
      assert.equal(sessions.length, used.status === 200 && round % 2 === 0 ? 1 : 0)
    }
  })

  test('of another tenant’s user is not made, listed or revoked: 404 as for an unknown one (T2)', async () => {
    const { user_id, id } = await invite(tenant().owner)
    const other = await house.tenant('other')
    const urls: [string, string][] = [
      ['POST', `/v1/users/${user_id}/invitations`],
      ['GET', `/v1/users/${user_id}/invitations`],
      ['DELETE', `/v1/users/${user_id}/invitations/${id}`],
    ]
    for (const [method, url] of urls) {
      const foreign = await asOwner(method, url, undefined, other)
      const unknown = await asOwner(method, url.replaceAll(user_id, newId()), undefined, other)
      assert.deepEqual([foreign.status, foreign.body], [404, unknown.body])
    }
  })

  test('is in no entry of the audit log, and in no list', async () => {
    const { user_id, key } = await invite(tenant().owner)
    assert.equal((await use(key)).status, 200)
    const list = await asOwner('GET', `/v1/users/${user_id}/invitations`)
    const audit = await asOwner('GET', '/v1/audit-events')
    for (const { text, status } of [list, audit]) {
      assert.equal(status, 200)
      assert.ok(!text.includes(key.slice(43)), text)
    }
  })

  test('is not guessed: wrong keys of one source are limited', async () => {
    const limited = await openHouse({ LIMIT_BY_SOURCE: 'on' })
    const guess = (key: string) =>
      limited.call({ method: 'POST', url: '/v1/auth/invitation/check', body: { key } }).then(({ status }) => status)
    const acme = await limited.tenant('Acme')
    const made = await limited.call({
      ...{ method: 'POST', url: '/v1/invitations', token: acme.owner.token, tenant_id: acme.tenant_id },
      body: { email: 'ben@example.com', name: 'Ben', roles: ['user'] },
    })
    assert.equal(await guess(keyIn(made)), 200)
    const key = () => makeSessionSecret(acme.tenant_id, String(made.body.id)).text
    const statuses = new Set<number>()
    for (let nth = 0; nth < 101; nth += 1) statuses.add(await guess(key()))
    assert.deepEqual([...statuses], [401, 429])
    assert.equal(await guess(keyIn(made)), 429)
  })
})

suite('in a tenant with a provider, a link', () => {
  const ben = { email: 'ben@example.com', email_verified: true, name: 'Ben' }

  test('signs nobody in: the provider says who the person is, and a forwarded link gives nothing (A25)', async () => {
    await configure()
    const { user_id, key } = await invite(tenant().owner, { email: ben.email, roles: ['user', 'approver'] })
    const used = await use(key, {})
    assert.equal(used.status, 200, used.text)
    assert.deepEqual(Object.keys(used.body), ['authorize_url'])
    const url = new URL(String(used.body.authorize_url))
    assert.deepEqual(Object.fromEntries(url.searchParams), { tenant: tenant().tenant_id, redirect_uri })
    const begun = await house.call({ method: 'GET', url: `${url.pathname}${url.search}` })
    assert.equal(begun.status, 302, begun.text)

    // Who was forwarded the link has another address: another user, without the roles.
    const eve = await signIn('eve', { email: 'eve@example.com', email_verified: true, name: 'Eve' })
    assert.equal(eve.status, 200, eve.text)
    await stage.assertRefused(await signIn('mallory', { ...ben, email_verified: false }), 'address_not_verified')
    const [before] = (await stage.usersOf()).filter(({ email }) => email === ben.email)
    assert.deepEqual(before, { email: ben.email, issuer: null, subject: null })

    // The person may also come later.
    assert.equal((await signIn('ben', ben)).status, 200)
    const { body } = await asOwner('GET', `/v1/users/${user_id}`)
    assert.deepEqual([body.auth_provider, body.roles, body.email_verified], ['oidc', ['approver', 'user'], true])
    assert.equal((await use(key, {})).status, 401)
  })

  test('takes no password, and no redirect URI but those of the provider', async () => {
    await configure()
    const { key } = await invite(tenant().owner)
    for (const more of [{ password }, { redirect_uri: 'https://evil.example/back' }]) {
      const reply = await use(key, more)
      assert.equal(reply.status, 400, reply.text)
    }
    assert.equal((await use(key, { redirect_uri })).status, 200)
  })

  test('used with a password while the provider is being enabled: the use waits, and sets none', async () => {
    await configure({ enabled: false })
    const { tenant_id } = tenant()
    const { key, user_id } = await invite(tenant().owner)
    const uses: ReturnType<typeof use>[] = []
    await house.database.tenant(tenant_id).interactive(async (inside) => {
      await inside.write([sql`update sign_in_setting set enabled = true where tenant_id = ${tenant_id}`])
      uses.push(use(key))
      await aLockIsWaitedFor(house, inside)
    })
    const [reply] = await Promise.all(uses)
    assert.deepEqual([reply?.status, reply?.body.code], [409, 'version_conflict'])
    assert.deepEqual(await house.asSuperuser('select from user_password where user_id = $1', [user_id]), [])
    assert.ok((await use(key, {})).body.authorize_url)
  })

  test('made before the provider was enabled leads there, and sets no password', async () => {
    const { key, email } = await invite(tenant().owner)
    await configure()
    assert.equal((await use(key)).status, 400)
    const used = await use(key, {})
    assert.ok(used.body.authorize_url, used.text)
    const body = { email, password }
    const login = await house.call({ method: 'POST', url: '/v1/auth/login', tenant_id: tenant().tenant_id, body })
    assert.equal(login.status, 401)
  })
})
