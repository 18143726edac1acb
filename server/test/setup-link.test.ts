import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { makeSessionSecret } from '../src/sessions/session-secret.ts'
import { makeSetupLink } from '../src/tenants/setup-link.flow.ts'
import { firstOwnerEmail } from '../src/users/owner-store.ts'
import { type Member, openFactorStage, password } from './support/second-factor-stage.ts'

/** The first owner becomes a person with a name, an address and a password of their own, by a link that works once. */
const stage = await openFactorStage()
const { house, member, login, withPassword, addApp, as, eventsOf } = stage
const public_url = 'https://sallyport.example.com'
let made = 0

/** A tenant as the first start leaves it. */
async function firstStart(): Promise<Member> {
  made += 1
  const tenant = await house.tenant(`started ${made}`)
  const owner = { ...(await member(tenant, ['admin'])), email: firstOwnerEmail }
  await house.asSuperuser('update tenant_user set is_owner = true, email = $2, email_key = $2 where id = $1', [
    owner.id,
    firstOwnerEmail,
  ])
  return owner
}

async function keyFor({ tenant_id }: Member): Promise<string> {
  const { url } = await makeSetupLink(house.database, { public_url, tenant_id })
  const [address, key] = url.split('#k=')
  assert.equal(address, `${public_url}/console/setup`)
  return String(key)
}

const anna = { name: 'Anna Owner', email: 'anna@acme.example', password: 'four random words here' }
const check = (key: string) => house.call({ method: 'POST', url: '/v1/auth/setup-link/check', body: { key } })
const use = (key: string, more: object = {}) =>
  house.call({ method: 'POST', url: '/v1/auth/setup-link', body: { key, ...anna, ...more } })
const expire = ({ id }: Member) =>
  house.asSuperuser('update setup_link set expires_at = clock_timestamp() where user_id = $1', [id])

suite('a setup link', () => {
  test('gives the first owner a name, an address and a password of their own, and signs them in', async () => {
    const owner = await firstStart()
    const key = await keyFor(owner)
    const { body } = await check(key)
    assert.deepEqual([body.tenant, body.password_min_length], [{ id: owner.tenant_id, name: `started ${made}` }, 15])
    const left = Date.parse(String(body.expires_at)) - Date.now()
    assert.ok(left > 3_500_000 && left <= 3_600_000, `${left} ms`)

    const used = await use(key, { tenant_name: 'Acme', timezone: 'europe/berlin' })
    assert.equal(used.status, 200, used.text)
    const by = { user: owner, token: String(used.body.token) }
    const profile = await as(by, 'GET', '/v1/users/me/profile')
    assert.deepEqual([profile.body.id, profile.body.name, profile.body.email], [owner.id, anna.name, anna.email])
    assert.equal((await as(by, 'GET', '/v1/users/me/preferences')).body.timezone, 'Europe/Berlin')
    assert.equal((await login({ ...owner, email: anna.email }, anna.password)).status, 200)
    const [tenant] = await house.asSuperuser('select name from tenant where id = $1', [owner.tenant_id])
    assert.deepEqual(tenant, { name: 'Acme' })
  })

  test('gives the tenant the zone of the owner’s browser, unless it has set one', async () => {
    const settingOf = async (owner: Member, token: unknown) =>
      (await as({ user: owner, token: String(token) }, 'GET', '/v1/settings/timezone.default')).body.value
    const [first, second, third] = [await firstStart(), await firstStart(), await firstStart()]
    const used = await use(await keyFor(first), { timezone: 'europe/berlin', tenant_name: 'Zoned' })
    assert.equal(await settingOf(first, used.body.token), 'Europe/Berlin')
    const events = await house.asSuperuser(
      `select actor_id, subject_id, data from event where tenant_id = $1 and type = 'setting.updated'`,
      [first.tenant_id],
    )
    const data = { old: null, new: 'Europe/Berlin' }
    assert.deepEqual(events, [{ actor_id: first.id, subject_id: 'timezone.default', data }])

    const key = await keyFor(second)
    await house.asSuperuser(
      `insert into setting (tenant_id, key, value) values ($1, 'timezone.default', 'Asia/Tokyo')`,
      [second.tenant_id],
    )
    const kept = await use(key, { timezone: 'Europe/Berlin' })
    assert.equal(await settingOf(second, kept.body.token), 'Asia/Tokyo')

    const none = await use(await keyFor(third))
    assert.equal(await settingOf(third, none.body.token), 'UTC')
  })

  test('ends what proved who the owner was: the password, sessions and second factors, but no API key', async () => {
    const owner = await firstStart()
    const before = await addApp(await withPassword(owner))
    const { body } = await as(before, 'POST', '/v1/api-keys', { name: 'scripts', scopes: ['users:read'] })
    assert.equal((await use(await keyFor(owner))).status, 200)
    assert.equal((await as(before, 'GET', '/v1/users/me/profile')).status, 401)
    assert.equal((await login({ ...owner, email: anna.email }, password)).status, 401)
    assert.equal((await login(owner, password)).status, 401)
    assert.equal((await login({ ...owner, email: anna.email }, anna.password)).status, 200)
    const byKey = await house.call({
      ...{ method: 'GET', url: '/v1/users', api_key: String(body.key), tenant_id: owner.tenant_id },
    })
    assert.equal(byKey.status, 200, byKey.text)
  })

  test('works once, however many use it at the same moment (A24)', async () => {
    const owner = await firstStart()
    const key = await keyFor(owner)
    const addresses = Array.from({ length: 8 }, (_, nth) => `anna${nth}@acme.example`)
    const replies = await Promise.all(addresses.map((email) => use(key, { email })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401, 401, 401])
    const events = (await eventsOf(owner)).map(({ type }) => type)
    assert.deepEqual(events, ['user.setup_link_created', 'user.set_up', 'auth.signed_in'])
  })

  test('works once, also for an owner who keeps the address', async () => {
    const key = await keyFor(await firstStart())
    assert.equal((await use(key, { email: firstOwnerEmail })).status, 200)
    assert.equal((await use(key)).status, 401)
  })

  test('that is used, replaced, expired, forged or of an owner who was set up is refused in the same words (A24)', async () => {
    const used = await firstStart()
    const replaced = await firstStart()
    const expired = await firstStart()
    const forged = await firstStart()
    const renamed = await firstStart()
    const inactive = await firstStart()
    const keys: string[] = []
    for (const owner of [used, replaced, expired, renamed, inactive]) keys.push(await keyFor(owner))
    assert.equal((await use(String(keys[0]))).status, 200)
    const last = await keyFor(replaced)
    await expire(expired)
    await keyFor(forged)
    await house.asSuperuser('update tenant_user set email_key = $2 where id = $1', [renamed.id, 'b@example.com'])
    await house.asSuperuser('update tenant_user set active = false where id = $1', [inactive.id])
    const { text } = makeSessionSecret(forged.tenant_id, forged.id)
    const texts = new Set<string>()
    for (const key of [...keys, text, 'wrong', '', 'x'.repeat(200)]) {
      for (const { status, body } of [await check(key), await use(key)]) {
        assert.equal(status, 401, key)
        texts.add(JSON.stringify({ ...body, request_id: undefined }))
      }
    }
    assert.equal(texts.size, 1, [...texts].join('\n'))
    assert.equal((await use(last)).status, 200)
  })

  test('still works after an entry that is refused', async () => {
    const owner = await firstStart()
    const key = await keyFor(owner)
    const refused: [object, number, string][] = [
      [{ password: 'too short' }, 400, '/password'],
      [{ email: 'anna' }, 400, '/email'],
      [{ name: '\u202eanna' }, 400, '/name'],
      [{ tenant_name: ' ' }, 400, '/tenant_name'],
      [{ timezone: '../etc/passwd' }, 400, '/timezone'],
      [{ email: 'user@example.com' }, 409, 'user_exists'],
    ]
    for (const [more, status, why] of refused) {
      const reply = await use(key, more)
      assert.equal(reply.status, status, reply.text)
      assert.ok(reply.text.includes(why), reply.text)
    }
    assert.equal((await use(key)).status, 200)
  })

  test('is on the record without a name or a secret, and stored as a hash', async () => {
    const owner = await firstStart()
    const key = await keyFor(owner)
    const [row] = await house.asSuperuser<{ text: string }>(
      'select l::text as text from setup_link l where user_id = $1',
      [owner.id],
    )
    const secret = Buffer.from(key, 'base64url').subarray(32)
    for (const form of ['hex', 'base64', 'base64url'] as const) assert.ok(!row?.text.includes(secret.toString(form)))
    await use(key, { tenant_name: 'Acme' })
    const events = await house.asSuperuser<{ type: string; actor_kind: string; all: string }>(
      `select type, actor_kind, e::text as all from event e where tenant_id = $1
        and type in ('user.setup_link_created', 'user.set_up', 'tenant.renamed') order by type`,
      [owner.tenant_id],
    )
    assert.deepEqual(
      events.map(({ type, actor_kind }) => [type, actor_kind]),
      [
        ['tenant.renamed', 'user'],
        ['user.set_up', 'user'],
        ['user.setup_link_created', 'operator'],
      ],
    )
    for (const { all } of events) assert.doesNotMatch(all, /Anna|acme|Acme/)
  })

  test('is not made for an owner with an address of their own, nor where several tenants have a first owner', async () => {
    const owner = await firstStart()
    await firstStart()
    await assert.rejects(makeSetupLink(house.database, { public_url }), /more than one tenant.*--tenant/)
    await use(await keyFor(owner))
    await assert.rejects(keyFor(owner), /set up already.*owner reset/)
  })
})
