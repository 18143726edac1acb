import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Reply, type TestTenant } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'
import { makeSessionSecret } from '../sessions/session-secret.ts'

/** A person joins by a link that works once, as the user that was made for them. */
const public_url = 'https://sallyport.example.com'
const house = await openHouse({ PUBLIC_URL: public_url })
const acme = await house.tenant('Acme')
const passphrase = 'four random words here'

const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, token: owner.token, tenant_id, ...(body !== undefined && { body }) })
const keyIn = (reply: Reply) => {
  const [address, key] = String(reply.body.url).split('#k=')
  assert.equal(address, `${public_url}/console/invitation`)
  return String(key)
}
const someone = (more: object = {}) => ({ email: `${newId()}@example.com`, name: 'Ben', roles: ['user'], ...more })

/** Invites somebody; `key` is that of the link. */
async function invite(more: object = {}, tenant = acme) {
  const reply = await as(tenant, 'POST', '/v1/invitations', someone(more))
  assert.equal(reply.status, 201, reply.text)
  const { id, user_id, email } = reply.body as { id: string; user_id: string; email: string }
  return { id, user_id, email, key: keyIn(reply), body: reply.body, url: `/v1/users/${user_id}/invitations` }
}
const check = (key: string) => house.call({ method: 'POST', url: '/v1/auth/invitation/check', body: { key } })
const use = (key: string, more: object = {}) =>
  house.call({ method: 'POST', url: '/v1/auth/invitation', body: { key, password: passphrase, ...more } })
const login = (email: string, password = passphrase) =>
  house.call({ method: 'POST', url: '/v1/auth/login', tenant_id: acme.tenant_id, body: { email, password } })
const statesOf = async (url: string) =>
  ((await as(acme, 'GET', url)).body.data as { state: string }[]).map(({ state }) => state)
const eventsOf = async (user_id: string) =>
  house.asSuperuser<{ type: string; actor_id: string | null; data: Record<string, unknown> }>(
    `select type, actor_id, data from event where subject_id = $1 and type <> 'auth.refused' order by seq`,
    [user_id],
  )

suite('an invitation', () => {
  test('makes a user who cannot sign in, and a link by which the person joins and is signed in', async () => {
    const { body, key, email, user_id, url } = await invite({ roles: ['user', 'approver'] })
    assert.deepEqual(body.mail, { state: 'not_set_up' })
    assert.equal(body.created_by, acme.owner.user_id)
    const left = Date.parse(String(body.expires_at)) - Date.parse(String(body.created_at))
    assert.equal(Math.round(left / 3_600_000), 72)
    assert.equal((await login(email)).status, 401)

    const { body: link } = await check(key)
    const { expires_at: _, ...shown } = link
    const tenant = { id: acme.tenant_id, name: 'Acme' }
    assert.deepEqual(shown, { tenant, email, name: 'Ben', leads_to: 'password', password_min_length: 15 })

    const used = await use(key, { name: 'Benjamin', timezone: 'europe/berlin' })
    assert.equal(used.status, 200, used.text)
    const call = { token: String(used.body.token), tenant_id: acme.tenant_id }
    const { body: me } = await house.call({ method: 'GET', url: '/v1/users/me', ...call })
    const { id, name, preferences } = me as { id: string; name: string; preferences: { timezone: string } }
    assert.deepEqual([id, name, preferences.timezone], [user_id, 'Benjamin', 'Europe/Berlin'])
    assert.equal((await login(email)).status, 200)
    const { body: user } = await as(acme, 'GET', `/v1/users/${user_id}`)
    assert.deepEqual([user.roles, user.email_verified], [['approver', 'user'], false])
    assert.deepEqual(await statesOf(url), ['used'])
    const events = await eventsOf(user_id)
    assert.deepEqual(
      events.map(({ type, actor_id }) => [type, actor_id === user_id ? 'the person' : 'the owner']),
      [
        ['user.created', 'the owner'],
        ['user.invited', 'the owner'],
        ['user.joined', 'the person'],
        ['auth.signed_in', 'the person'],
        ['auth.signed_in', 'the person'],
      ],
    )
    assert.deepEqual(events[2]?.data, { invitation_id: body.id, way: 'password', proves_address: false })
  })

  test('works once, however many use it at the same moment (A25)', async () => {
    const { key, user_id } = await invite()
    const replies = await Promise.all(Array.from({ length: 6 }, (_, nth) => use(key, { name: `Ben ${nth}` })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401])
    const types = (await eventsOf(user_id)).map(({ type }) => type)
    assert.deepEqual(types, ['user.created', 'user.invited', 'user.joined', 'auth.signed_in'])
  })

  test('that is over is refused in the same words, whatever the cause (A25)', async () => {
    const [used, revoked, replaced, expired, suspended, inactive, deleted, unknown] = await Promise.all(
      Array.from({ length: 8 }, () => invite()),
    )
    assert.ok(used && revoked && replaced && expired && suspended && inactive && deleted && unknown)
    assert.equal((await use(used.key)).status, 200)
    assert.equal((await as(acme, 'DELETE', `${revoked.url}/${revoked.id}`)).status, 204)
    const again = await as(acme, 'POST', replaced.url)
    assert.equal(again.status, 201, again.text)
    await house.asSuperuser('update invitation set expires_at = clock_timestamp() where id = $1', [expired.id])
    assert.equal((await as(acme, 'POST', `/v1/users/${suspended.user_id}/suspend`)).status, 200)
    assert.equal((await as(acme, 'PATCH', `/v1/users/${inactive.user_id}`, { active: false })).status, 200)
    assert.equal((await as(acme, 'DELETE', `/v1/users/${deleted.user_id}`)).status, 204)
    const forged = [makeSessionSecret(acme.tenant_id, unknown.id).text, makeSessionSecret(newId(), unknown.id).text]
    const texts = new Set<string>()
    const over = [used, revoked, replaced, expired, suspended, inactive, deleted].map(({ key }) => key)
    for (const key of [...over, ...forged, 'wrong', '', 'x'.repeat(200)]) {
      for (const { status, body } of [await check(key), await use(key)]) {
        assert.equal(status, 401, key)
        texts.add(JSON.stringify({ ...body, request_id: undefined }))
      }
    }
    assert.equal(texts.size, 1, [...texts].join('\n'))
    assert.equal((await use(keyIn(again))).status, 200)
    assert.deepEqual(await statesOf(replaced.url), ['used', 'replaced'])
    assert.deepEqual(await statesOf(expired.url), ['expired'])
    assert.deepEqual(await statesOf(inactive.url), ['revoked'])
  })

  test('stays ended when the user is active again, and a new one works', async () => {
    const one = await invite()
    await as(acme, 'POST', `/v1/users/${one.user_id}/suspend`)
    assert.equal((await as(acme, 'POST', one.url)).status, 422)
    await as(acme, 'POST', `/v1/users/${one.user_id}/unsuspend`)
    assert.equal((await use(one.key)).status, 401)
    assert.equal((await use(keyIn(await as(acme, 'POST', one.url)))).status, 200)
    const types = (await eventsOf(one.user_id)).map(({ type }) => type)
    assert.equal(types.filter((type) => type === 'user.invitation_revoked').length, 1)
  })

  test('still works after an entry that is refused', async () => {
    const { key } = await invite()
    const refused: [object, string][] = [
      [{ password: undefined }, '/password'],
      [{ password: 'too short' }, '/password'],
      [{ name: '\u202eben' }, '/name'],
      [{ timezone: '../etc/passwd' }, '/timezone'],
      [{ redirect_uri: 'https://app.example.com/back' }, '/redirect_uri'],
    ]
    for (const [more, pointer] of refused) {
      const reply = await use(key, more)
      assert.equal(reply.status, 400, reply.text)
      assert.ok(reply.text.includes(pointer), reply.text)
    }
    assert.equal((await use(key)).status, 200)
  })

  test('is stored as a hash, and in no event', async () => {
    const { key, id, email } = await invite({ name: 'Benedikt' })
    assert.equal((await use(key)).status, 200)
    const secret = Buffer.from(key, 'base64url').subarray(32)
    const rows = await house.asSuperuser<{ text: string }>(
      `select i::text as text from invitation i where id = $1 union all select e::text from event e
        where tenant_id = $2`,
      [id, acme.tenant_id],
    )
    for (const { text } of rows) {
      for (const form of ['hex', 'base64', 'base64url'] as const) assert.ok(!text.includes(secret.toString(form)))
      assert.ok(!text.includes(email) && !text.includes('Benedikt'), text)
    }
  })
})

suite('who may be invited', () => {
  test('a custom role may be given; an unknown role, a bad address and an address in use are refused', async () => {
    const custom = await as(acme, 'POST', '/v1/roles', { name: 'Reader', scopes: ['grants:read'] })
    const { user_id } = await invite({ roles: [custom.body.id] })
    assert.deepEqual((await as(acme, 'GET', `/v1/users/${user_id}`)).body.roles, [custom.body.id])
    const refused: [object, number, RegExp][] = [
      [{ roles: [newId()] }, 422, /no such role/],
      [{ email: 'ben' }, 400, /\/email/],
      [{ email: 'ben@example.com\r\nBcc: all@example.com' }, 400, /\/email/],
      [{ name: 'Ben\nBcc: all@example.com' }, 400, /\/name/],
      [{ email: 'owner@example.com' }, 409, /user_exists/],
    ]
    for (const [more, status, why] of refused) {
      const reply = await as(acme, 'POST', '/v1/invitations', someone(more))
      assert.equal(reply.status, status, reply.text)
      assert.match(reply.text, why)
    }
  })

  test('a user who could ever sign in gets no link, nor does one of a provider where none is enabled', async () => {
    const local = await as(acme, 'POST', '/v1/users', { ...someone(), password: passphrase })
    const refused = await as(acme, 'POST', `/v1/users/${local.body.id}/invitations`)
    assert.deepEqual([refused.status, refused.body.code], [409, 'already_joined'])
    const waiting = await as(acme, 'POST', '/v1/users', { ...someone(), auth_provider: 'oidc' })
    const made = await as(acme, 'POST', `/v1/users/${waiting.body.id}/invitations`)
    assert.deepEqual([made.status, made.body.code], [422, 'unprocessable'])
    await house.asSuperuser(`update tenant_user set issuer = 'https://id.example.com', subject = 'x' where id = $1`, [
      waiting.body.id,
    ])
    assert.equal((await as(acme, 'POST', `/v1/users/${waiting.body.id}/invitations`)).status, 409)
  })

  test('an invitation that was used is not revoked, and one that has ended is not found', async () => {
    const [used, ended] = [await invite(), await invite()]
    await use(used.key)
    const url = (one: typeof used) => `${one.url}/${one.id}`
    assert.equal((await as(acme, 'DELETE', url(used))).body.code, 'already_joined')
    assert.equal((await as(acme, 'DELETE', url(ended))).status, 204)
    assert.equal((await as(acme, 'DELETE', url(ended))).status, 404)
    assert.equal((await as(acme, 'DELETE', `${used.url}/${ended.id}`)).status, 404)
    const { type, data } = (await eventsOf(ended.user_id)).at(-1) ?? {}
    assert.deepEqual([type, data], ['user.invitation_revoked', { invitation_id: ended.id }])
  })

  test('of a user’s invitations twenty are kept, and they are listed page by page', async () => {
    const one = await invite()
    const made = [one.id]
    for (let nth = 0; nth < 21; nth += 1) made.push(String((await as(acme, 'POST', one.url)).body.id))
    const first = (await as(acme, 'GET', `${one.url}?limit=15`)).body as { data: { id: string }[]; next_cursor: string }
    const { body } = await as(acme, 'GET', `${one.url}?limit=15&cursor=${first.next_cursor}`)
    const listed = [...first.data, ...(body.data as { id: string }[])].map(({ id }) => id)
    assert.deepEqual(listed, made.toReversed().slice(0, 20))
    assert.equal(body.has_more, false)
  })
})
