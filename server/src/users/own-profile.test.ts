import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'

/** The profile, the preferences and the password of the caller. */
const house = await openHouse()
const { tenant_id, owner, people } = await house.tenant('own')
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const call = (person: Person, method: string, url: string, body?: unknown) =>
  house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })

const eventsOf = (user_id: string, type: string) =>
  house.asSuperuser<{ data: unknown; actor_id: string }>(
    'select data, actor_id from event where subject_id = $1 and type = $2 order by seq',
    [user_id, type],
  )

async function make(more: object): Promise<Person> {
  const body = { email: 'oidc@example.com', name: 'Olga', roles: ['user'], auth_provider: 'oidc', ...more }
  const made = await call(owner, 'POST', '/v1/users', body)
  assert.equal(made.status, 201, made.text)
  return house.person(tenant_id, String(made.body.id))
}
const olga = await make({})

const mass = {
  roles: ['admin'],
  email: 'else@example.com',
  name: 'Else',
  email_verified: true,
  is_owner: true,
  active: true,
  auth_provider: 'saml',
  tenant_id,
  id: owner.user_id,
}

suite('the caller’s own profile', () => {
  const url = '/v1/users/me/profile'
  const empty = { first_name: null, last_name: null, display_name: null, avatar_base64: null }
  const user = { id: people.user.user_id, email: 'user@example.com', name: 'user', auth_provider: 'local' }

  test('has every field, null where it is empty', async () => {
    const reply = await call(people.user, 'GET', url)
    assert.deepEqual([reply.status, reply.body], [200, { ...user, ...empty }])
  })

  test('changes the sent fields, keeps the others, and emits the field names, never the values', async () => {
    const first = await call(people.user, 'PUT', url, { first_name: 'Zoe\u0308', avatar_base64: pixel })
    assert.deepEqual(first.body, { ...user, ...empty, first_name: 'Zo\u00eb', avatar_base64: pixel })
    const second = await call(people.user, 'PUT', url, { display_name: 'Z' })
    assert.deepEqual(second.body, { ...first.body, display_name: 'Z' })
    const third = await call(people.user, 'PUT', url, { first_name: '', avatar_base64: null })
    assert.deepEqual(third.body, { ...user, ...empty, display_name: 'Z' })
    assert.deepEqual((await call(people.user, 'GET', url)).body, third.body)
    const actor_id = people.user.user_id
    assert.deepEqual(await eventsOf(actor_id, 'user.updated'), [
      { actor_id, data: { fields: ['first_name', 'avatar_base64'] } },
      { actor_id, data: { fields: ['display_name'] } },
      { actor_id, data: { fields: ['first_name', 'avatar_base64'] } },
    ])
  })

  test('is not written and emits nothing when a change has no effect or no field', async () => {
    const before = await call(people.auditor, 'PUT', url, { display_name: 'A' })
    const row = `select updated_at, (select count(*) from event) as events from tenant_user
      where id = '${people.auditor.user_id}'`
    const [kept] = await house.asSuperuser(row)
    for (const body of [{ display_name: 'A', last_name: '' }, {}, undefined]) {
      const reply = await call(people.auditor, 'PUT', url, body)
      assert.deepEqual([reply.status, reply.body], [200, before.body])
    }
    assert.deepEqual(await house.asSuperuser(row), [kept])
  })

  for (const [field, value] of Object.entries(mass)) {
    test(`refuses ${field} (P11)`, async () => {
      const reply = await call(people.user, 'PUT', url, { display_name: 'changed', [field]: value })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      assert.match(reply.text, new RegExp(`"/${field}"`))
      assert.notEqual((await call(people.user, 'GET', url)).body.display_name, 'changed')
    })
  }

  test('of an oidc user has names from the provider, and the user can set the rest (P11)', async () => {
    const refused = await call(olga, 'PUT', url, { first_name: 'O', last_name: 'K', display_name: 'O' })
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_input'])
    const fields = (refused.body.details as { fields: { pointer: string }[] }).fields.map((field) => field.pointer)
    assert.deepEqual(fields, ['/first_name', '/last_name'])
    const taken = await call(olga, 'PUT', url, { display_name: 'O', avatar_base64: pixel })
    assert.deepEqual([taken.status, taken.body.display_name, taken.body.first_name], [200, 'O', null])
  })

  test('of an oidc user can be sent back as it was read, with another display name, but no other name (P11)', async () => {
    await house.asSuperuser(`update tenant_user set first_name = 'Olga', last_name = 'K' where id = $1`, [olga.user_id])
    const { body: read } = await call(olga, 'GET', url)
    const again = await call(olga, 'PUT', url, read)
    assert.deepEqual([again.status, again.body], [200, read])
    const renamed = await call(olga, 'PUT', url, { ...read, display_name: 'Ol' })
    assert.deepEqual([renamed.status, renamed.body], [200, { ...read, display_name: 'Ol' }])
    for (const field of ['first_name', 'last_name', 'email', 'name', 'id', 'auth_provider']) {
      const { status, body, text } = await call(olga, 'PUT', url, { ...read, [field]: 'local' })
      assert.deepEqual([status, body.code], [400, 'invalid_input'], field)
      assert.match(text, new RegExp(`"/${field}"`))
    }
  })

  const faulty: [string, object][] = [
    ['a name that is too long', { last_name: 'x'.repeat(101) }],
    ['a name that is too long once it is in NFC', { last_name: 'x\u0344'.repeat(51) }],
    ['a name without a visible character', { display_name: '\u200b' }],
    ['a name that changes the text direction', { display_name: 'a\u202eb' }],
    ['a number for a name', { display_name: 7 }],
    ['an avatar that is an SVG', { avatar_base64: 'data:image/svg+xml;base64,PHN2Zy8+' }],
    ['an avatar that is HTML', { avatar_base64: 'data:text/html;base64,PGI+' }],
    ['an avatar that only claims to be an image', { avatar_base64: 'data:image/png;base64,PGI+' }],
    ['an avatar that is too large', { avatar_base64: `${pixel}${'A'.repeat(256 * 1024)}` }],
    ['an avatar of 4 MB', { avatar_base64: `${pixel}${'A'.repeat(4_000_000)}` }],
    ['an avatar that is no base64', { avatar_base64: `${pixel}!` }],
  ]
  for (const [name, body] of faulty) {
    test(`refuses ${name} (I10)`, async () => {
      const before = await call(people.user, 'GET', url)
      const reply = await call(people.user, 'PUT', url, body)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
      assert.deepEqual((await call(people.user, 'GET', url)).body, before.body)
      assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    })
  }
})

suite('the caller’s own preferences', () => {
  const url = '/v1/users/me/preferences'
  const none = { locale: null, timezone: null, date_format: null, time_format: null }

  test('are four fields, null at first', async () => {
    const reply = await call(people.user, 'GET', url)
    assert.deepEqual([reply.status, reply.body], [200, none])
  })

  test('are cleared by null, and keep absent fields (I9)', async () => {
    const all = { locale: 'de-CH', timezone: 'Asia/Kolkata', date_format: 'DD/MM/YYYY', time_format: '24h' }
    assert.deepEqual((await call(people.user, 'PATCH', url, all)).body, all)
    const cleared = await call(people.user, 'PATCH', url, { timezone: null, time_format: '12h' })
    assert.deepEqual(cleared.body, { ...all, timezone: null, time_format: '12h' })
    for (const body of [{}, undefined]) {
      const reply = await call(people.user, 'PATCH', url, body)
      assert.deepEqual([reply.status, reply.body], [200, cleared.body])
    }
    assert.deepEqual((await call(people.user, 'GET', url)).body, cleared.body)
    assert.deepEqual((await call(people.admin, 'GET', url)).body, none, 'those of another user stay')
  })

  const faulty: [string, object][] = [
    ['a zone that is a path (I9)', { timezone: '../../etc/passwd' }],
    ['a zone that does not exist (I9)', { timezone: 'Etc/GMT+99' }],
    ['an offset (I9)', { timezone: '+01:00' }],
    ['no language (I9)', { locale: 'not-a-locale' }],
    ['an empty language (I9)', { locale: '' }],
    ['an unknown date format (I9)', { date_format: 'YYYY/MM/DD' }],
    ['an unknown time format (I9)', { time_format: '24H' }],
    ['a number (I9)', { timezone: 1 }],
    ...Object.entries(mass).map(([field, value]): [string, object] => [`${field} (P11)`, { [field]: value }]),
  ]
  for (const [name, body] of faulty) {
    test(`refuse ${name}`, async () => {
      const reply = await call(people.approver, 'PATCH', url, { time_format: '24h', ...body })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      assert.deepEqual((await call(people.approver, 'GET', url)).body, none)
    })
  }
})

suite('the caller’s own password', () => {
  const url = '/v1/users/me/password'
  const old = 'a long enough password'
  const fresh = 'quite another password'
  const signIn = (password: string) =>
    house.call({ method: 'POST', url: '/v1/auth/login', tenant_id, body: { email: 'owner@example.com', password } })
  const change = (person: Person, current_password: string, new_password: string) =>
    call(person, 'POST', url, { current_password, new_password })

  test('changes for a caller who knows it, and is not in the event', async () => {
    const reply = await change(owner, old, fresh)
    assert.deepEqual([reply.status, reply.text], [204, ''])
    assert.deepEqual([(await signIn(old)).status, (await signIn(fresh)).status], [401, 200])
    assert.deepEqual(await eventsOf(owner.user_id, 'user.password_changed'), [{ actor_id: owner.user_id, data: {} }])
  })

  test('does not change for a wrong one, which is recorded as a failed sign-in', async () => {
    const reply = await change(owner, 'a guess of mine', 'yet another password')
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    assert.match(reply.text, /"\/current_password"/)
    assert.equal((await signIn(fresh)).status, 200)
    const refusals = await eventsOf(owner.user_id, 'auth.refused')
    assert.ok(refusals.some(({ actor_id }) => actor_id === owner.user_id))
    assert.equal((await eventsOf(owner.user_id, 'user.password_changed')).length, 1)
  })

  test('must have the minimum length of the tenant, and not be a common one', async () => {
    await call(owner, 'PUT', '/v1/settings/auth.password_min_length', { value: '20' })
    for (const weak of ['password1', 'only nineteen chars']) {
      const reply = await change(owner, fresh, weak)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      assert.match(reply.text, /"\/new_password"/)
    }
    await call(owner, 'PUT', '/v1/settings/auth.password_min_length', { value: '8' })
  })

  test('cannot be set by an oidc user, or by a local user without one', async () => {
    assert.deepEqual((await change(olga, old, fresh)).status, 403)
    assert.deepEqual((await change(people.user, '', fresh)).status, 400)
    const kept = await house.asSuperuser('select from user_password where user_id = any($1)', [
      [olga.user_id, people.user.user_id],
    ])
    assert.deepEqual(kept, [])
  })

  test('changes once for two concurrent changes', async () => {
    const replies = await Promise.all([
      change(owner, fresh, 'the first of two'),
      change(owner, fresh, 'the second of two'),
    ])
    const statuses = replies.map((reply) => reply.status).sort()
    assert.ok(statuses[0] === 204 && [400, 409].includes(Number(statuses[1])), String(statuses))
    const works = await Promise.all(['the first of two', 'the second of two'].map(signIn))
    assert.deepEqual(works.map((reply) => reply.status).sort(), [200, 401])
  })
})
