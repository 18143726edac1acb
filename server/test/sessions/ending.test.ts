import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { resetOwner } from '../../src/tenants/operator.flow.ts'
import { type Browser, browsersOf, cookieSetBy, ownSessions, publicUrl } from '../support/browser.ts'
import { cheapPassword, openHouse, type Person, type TestTenant } from '../support/house.ts'

/** What ends sessions before their time: the cookie and the token are refused from the next call on. */
const house = await openHouse({ PUBLIC_URL: publicUrl })
const browsers = browsersOf(house)

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('ending')
})
const signIn = (person: Person) => browsers.signIn(tenant.tenant_id, person.user_id)

/** The status of a read with the cookie, and of one with the session’s token. */
async function statusesOf(browser: Browser): Promise<[number, number]> {
  const call = { method: 'GET', url: ownSessions, token: browser.token, tenant_id: tenant.tenant_id }
  return [await browser.status(), (await house.call(call)).status]
}
const alive = [200, 200]
const over = [401, 401]

async function byOwner(method: string, url: string, body?: unknown): Promise<void> {
  const call = { method, url, token: tenant.owner.token, tenant_id: tenant.tenant_id }
  const reply = await house.call({ ...call, ...(body !== undefined && { body }) })
  assert.ok(reply.status < 300, reply.text)
}

suite('a sign-out', () => {
  test('by the cookie ends cookie and token at once, and removes the cookie (A6)', async () => {
    const [browser, other] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const reply = await browser.send('POST', '/v1/auth/logout')
    assert.deepEqual([reply.status, reply.body], [200, { provider_logout_url: null }])
    assert.equal(cookieSetBy(reply), '__Host-sallyport=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure')
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.deepEqual([await statusesOf(browser), await statusesOf(other)], [over, alive])
    assert.equal((await browser.send('POST', '/v1/auth/logout')).status, 401)
  })

  test('by the token ends the browser’s session too (A6), and removes the cookie of that session alone', async () => {
    const [ours, another] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const outWith = (token: string, headers: Record<string, string>) =>
      house.call({ method: 'POST', url: '/v1/auth/logout', token, headers })
    const kept = await outWith(ours.token, { cookie: another.cookie })
    assert.deepEqual([kept.status, cookieSetBy(kept)], [200, undefined])
    assert.deepEqual([await statusesOf(ours), await statusesOf(another)], [over, alive])
    const removed = await outWith(another.token, { cookie: another.cookie })
    assert.equal(removed.status, 200)
    assert.match(String(cookieSetBy(removed)), /^__Host-sallyport=; Max-Age=0;/)
    assert.deepEqual(await statusesOf(another), over)
  })

  test('of a token that no browser has sets no cookie', async () => {
    const token = await house.tokenOf(tenant.tenant_id, tenant.owner.user_id, new Date())
    const reply = await house.call({ method: 'POST', url: '/v1/auth/logout', token })
    assert.deepEqual([reply.status, cookieSetBy(reply)], [200, undefined])
  })

  test('with an API key is refused', async () => {
    const { api_key } = tenant.owner
    const reply = await house.call({ method: 'POST', url: '/v1/auth/logout', api_key, tenant_id: tenant.tenant_id })
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
    const refused = await house.asSuperuser(
      `select data from event where type = 'access.refused' and tenant_id = $1 and subject_id = 'logout'`,
      [tenant.tenant_id],
    )
    assert.equal(refused.length, 1, 'it is on record')
  })
})

suite('a user’s own sessions', () => {
  test('are listed, the newest first, with the one of the call marked and without a secret', async () => {
    const [first, second] = [await signIn(tenant.people.user), await signIn(tenant.people.user)]
    const { body, text } = await second.send('GET', ownSessions)
    const sessions = body.data as Record<string, unknown>[]
    assert.deepEqual(sessions.map(({ id, browser, current }) => ({ id, browser, current })).slice(0, 2), [
      { id: second.session_id, browser: true, current: true },
      { id: first.session_id, browser: true, current: false },
    ])
    assert.deepEqual(sessions.filter(({ current }) => current).length, 1)
    assert.ok(
      sessions.some(({ browser }) => browser === false),
      'the token that the user got first',
    )
    for (const field of ['cookie_hash', 'provider_sub_hash', 'token']) assert.ok(!text.includes(field))
    const page = await second.send('GET', `${ownSessions}?limit=1`)
    const next = await second.send('GET', `${ownSessions}?limit=1&cursor=${page.body.next_cursor}`)
    assert.deepEqual((next.body.data as { id: string }[])[0]?.id, first.session_id)
  })

  test('end one by one: the ended one is refused at once, the others are not (A6)', async () => {
    const [mine, other] = [await signIn(tenant.people.user), await signIn(tenant.people.user)]
    assert.equal((await mine.send('DELETE', `${ownSessions}/${other.session_id}`)).status, 204)
    assert.deepEqual([await statusesOf(mine), await statusesOf(other)], [alive, over])
    assert.equal((await mine.send('DELETE', `${ownSessions}/${other.session_id}`)).status, 404)
    assert.equal((await mine.send('DELETE', `${ownSessions}/${mine.session_id}`)).status, 204)
    assert.deepEqual(await statusesOf(mine), over)
  })

  test('all end but the one of the call (A6)', async () => {
    const [mine, other] = [await signIn(tenant.people.user), await signIn(tenant.people.user)]
    const colleague = await signIn(tenant.people.approver)
    const reply = await mine.send('DELETE', ownSessions)
    // The third is the one of the token that the user got first.
    assert.deepEqual([reply.status, reply.body], [200, { ended: 2 }])
    assert.deepEqual([await statusesOf(mine), await statusesOf(other)], [alive, over])
    assert.deepEqual(await statusesOf(colleague), alive)
    assert.deepEqual((await mine.send('DELETE', ownSessions)).body, { ended: 0 })
  })

  test('are nobody else’s: the id of another user’s session is unknown, even to the owner (T2)', async () => {
    const other = await house.tenant('other')
    const stranger = await browsers.signIn(other.tenant_id, other.people.user.user_id)
    const [mine, theirs] = [await signIn(tenant.owner), await signIn(tenant.people.user)]
    const unknown = await mine.send('DELETE', `${ownSessions}/${newId()}`)
    for (const id of [theirs.session_id, stranger.session_id]) {
      const reply = await mine.send('DELETE', `${ownSessions}/${id}`)
      assert.deepEqual([reply.status, reply.text], [404, unknown.text])
    }
    assert.equal(await stranger.status(), 200)
    assert.deepEqual(await statusesOf(theirs), alive)
    const listed = (await mine.send('GET', ownSessions)).body.data as { id: string }[]
    assert.ok(listed.every(({ id }) => id !== theirs.session_id))
  })
})

suite('a changed password', () => {
  const change = (current_password: string, new_password: string) => ({ current_password, new_password })
  const url = '/v1/users/me/password'

  test('ends all other sessions and keeps the caller’s own (A6)', async () => {
    const [mine, other] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const colleague = await signIn(tenant.people.user)
    const body = change(cheapPassword.text, 'another long password')
    assert.equal((await mine.send('POST', url, { body })).status, 204)
    assert.deepEqual([await statusesOf(mine), await statusesOf(other)], [alive, over])
    assert.deepEqual(await statusesOf(colleague), alive)
    const first = { method: 'GET', url: ownSessions, token: tenant.owner.token, tenant_id: tenant.tenant_id }
    assert.equal((await house.call(first)).status, 401)
  })

  test('ends them too with an `Idempotency-Key`, whose answer is given again', async () => {
    const [mine, other] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const body = change(cheapPassword.text, 'another long password')
    const keyed = { body, headers: { 'idempotency-key': newId() } }
    assert.deepEqual(
      [(await mine.send('POST', url, keyed)).status, (await mine.send('POST', url, keyed)).status],
      [204, 204],
    )
    assert.deepEqual([await statusesOf(mine), await statusesOf(other)], [alive, over])
  })

  test('ends none when the current password is wrong', async () => {
    const [mine, other] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const body = change('a wrong password', 'another long password')
    assert.equal((await mine.send('POST', url, { body })).status, 400)
    assert.deepEqual([await statusesOf(mine), await statusesOf(other)], [alive, alive])
  })

  test('of an owner, by the operator, ends all of them (A6)', async () => {
    const [one, other] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const colleague = await signIn(tenant.people.user)
    await resetOwner(house.database, { email: 'owner@example.com', tenant_id: tenant.tenant_id })
    assert.deepEqual([await statusesOf(one), await statusesOf(other)], [over, over])
    assert.deepEqual(await statusesOf(colleague), alive)
  })
})

suite('a user who leaves', () => {
  const left: Record<string, { leave(id: string): Promise<void>; back?(id: string): Promise<void> }> = {
    'is deactivated': {
      leave: (id) => byOwner('PATCH', `/v1/users/${id}`, { active: false }),
      back: (id) => byOwner('PATCH', `/v1/users/${id}`, { active: true }),
    },
    'is suspended': {
      leave: (id) => byOwner('POST', `/v1/users/${id}/suspend`),
      back: (id) => byOwner('POST', `/v1/users/${id}/unsuspend`),
    },
    'is deleted': { leave: (id) => byOwner('DELETE', `/v1/users/${id}`) },
  }
  for (const [name, { leave, back }] of Object.entries(left)) {
    const revives = back === undefined ? '' : ', and has none again after coming back'
    test(`and ${name} has no session any more${revives} (A6)`, async () => {
      const { user_id } = tenant.people.user
      const [browser, colleague] = [await signIn(tenant.people.user), await signIn(tenant.people.approver)]
      await leave(user_id)
      assert.deepEqual(await statusesOf(browser), over)
      const rows = () => house.asSuperuser('select from user_session where user_id = $1', [user_id])
      assert.deepEqual(await rows(), [])
      await back?.(user_id)
      assert.deepEqual(await statusesOf(browser), over)
      assert.deepEqual(await statusesOf(colleague), alive)
      if (back === undefined) return
      assert.deepEqual(await statusesOf(await signIn(tenant.people.user)), alive, 'a new sign-in is another session')
    })
  }

  test('and whose row alone says so is refused as well: no session has to be ended first (A6)', async () => {
    const { user_id } = tenant.people.user
    for (const [gone, back] of [
      ['active = false', 'active = true'],
      [`suspended_until = clock_timestamp() + interval '1 hour'`, 'suspended_until = null'],
    ]) {
      const browser = await signIn(tenant.people.user)
      await house.asSuperuser(`update tenant_user set ${gone} where id = $1`, [user_id])
      assert.deepEqual(await statusesOf(browser), over, gone)
      await house.asSuperuser(`update tenant_user set ${back} where id = $1`, [user_id])
      // This process has seen the cookie's session end, and asks no more.
      assert.deepEqual(await statusesOf(browser), [401, 200], back)
    }
  })
})
