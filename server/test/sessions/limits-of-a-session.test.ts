import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { touchSession } from '../../src/sessions/session-store.ts'
import { type Browser, browsersOf, cookieSetBy, publicUrl, sessionOf } from '../support/browser.ts'
import { testDatabase } from '../support/database.ts'
import { houseOn, openHouse, type TestTenant } from '../support/house.ts'
import { until } from '../support/wait.ts'

/** How long a browser's session lives: by the settings, and by its use. */
const house = await houseOn(await testDatabase(), {
  env: { PUBLIC_URL: publicUrl },
  rootKey: Buffer.alloc(32, 'l'),
  // Sessions must end on time while what they prove is cached.
  follows: true,
})
const browsers = browsersOf(house)
await until('credentials are cached', async () => house.app.followsChanges())

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('limits')
})
const signIn = () => browsers.signIn(tenant.tenant_id, tenant.people.user.user_id)

async function set(key: string, value: string): Promise<void> {
  const { tenant_id, owner } = tenant
  const call = { method: 'PUT', url: `/v1/settings/${key}`, token: owner.token, tenant_id, body: { value } }
  const reply = await house.call(call)
  assert.equal(reply.status, 200, reply.text)
}

type Lifetimes = { lifetime: number; idle: number | null; left: number; live: boolean }

/** A session's lifetimes in whole seconds, as stored. `left`: until it ends if it is not used again. */
async function lifetimesOf(session_id: string): Promise<Lifetimes> {
  const [row] = await house.asSuperuser<Lifetimes>(
    `select round(extract(epoch from ends_at - created_at))::int as lifetime, idle_seconds as idle,
        round(extract(epoch from live_until - clock_timestamp()))::int as left, live_until > clock_timestamp() as live
      from user_session where id = $1`,
    [session_id],
  )
  assert.ok(row)
  return row
}

const change = (browser: Browser, columns: string) =>
  house.asSuperuser(`update user_session set ${columns} where id = $1`, [browser.session_id])

suite('a browser’s session lives', () => {
  test('for 12 hours, and 4 hours unused, where the tenant says nothing', async () => {
    const browser = await signIn()
    const { lifetime, idle, left } = await lifetimesOf(browser.session_id)
    assert.deepEqual([lifetime, idle], [43_200, 14_400])
    assert.ok(left <= 14_400 && left > 14_300, String(left))
  })

  test('as long as the settings say when it begins', async () => {
    const before = await signIn()
    await set('auth.session_max_seconds', '7200')
    await set('auth.session_idle_seconds', '600')
    const token = await house.tokenOf(tenant.tenant_id, tenant.people.user.user_id, new Date())
    const reply = await browsers.start(token)
    assert.equal(reply.body.idle_seconds, 600)
    assert.match(String(cookieSetBy(reply)), /; Max-Age=7(200|1\d\d);/)
    const after = await lifetimesOf(String(reply.body.id))
    assert.deepEqual([after.lifetime, after.idle], [7_200, 600])
    assert.deepEqual((await lifetimesOf(before.session_id)).lifetime, 43_200, 'an older one keeps its own')
  })

  test('never past its absolute end, even if it might stay unused for longer', async () => {
    await set('auth.session_max_seconds', '300')
    const { lifetime, left } = await lifetimesOf((await signIn()).session_id)
    assert.equal(lifetime, 300)
    assert.ok(left <= 300 && left > 200, String(left))
  })

  test('counted from the sign-in, not from the moment when the browser gets it', async () => {
    const token = await house.tokenOf(tenant.tenant_id, tenant.people.user.user_id, new Date())
    await house.asSuperuser(`update user_session set created_at = created_at - interval '30 seconds' where id = $1`, [
      sessionOf(token),
    ])
    assert.equal((await browsers.start(token)).status, 201)
    assert.equal((await lifetimesOf(sessionOf(token))).lifetime, 43_200)
  })

  test('for an hour at most on loopback, whatever the settings say (A18)', async () => {
    const url = 'http://127.0.0.1:8080'
    const local = await openHouse({ PUBLIC_URL: url })
    const { tenant_id, owner } = await local.tenant('local')
    for (const [value, expected] of [
      ['604800', 3_600],
      ['900', 900],
    ] as const) {
      for (const key of ['max', 'idle']) {
        const setting = `/v1/settings/auth.session_${key}_seconds`
        const put = { method: 'PUT', url: setting, token: owner.token, tenant_id, body: { value } }
        assert.equal((await local.call(put)).status, 200)
      }
      const reply = await browsersOf(local, url).start(await local.tokenOf(tenant_id, owner.user_id, new Date()))
      assert.equal(reply.body.idle_seconds, expected)
      const form = /^sallyport-8080=[\w-]{86}; Max-Age=(\d+); Path=\/; HttpOnly; SameSite=Lax$/
      const seconds = Number(form.exec(String(cookieSetBy(reply)))?.[1])
      assert.ok(seconds <= expected && seconds > expected - 100, String(seconds))
    }
  })
})

suite('the use of a session', () => {
  /** As if it had been used two minutes ago for the last time. */
  const leave = (browser: Browser, more = '') =>
    change(browser, `last_used_at = clock_timestamp() - interval '2 minutes'${more}`)
  const left = async (browser: Browser) => (await lifetimesOf(browser.session_id)).left

  test('lets it live on for as long as it may go unused', async () => {
    const browser = await signIn()
    await leave(browser, `, live_until = clock_timestamp() + interval '5 minutes'`)
    assert.equal(await browser.status(), 200)
    await until('it lives longer', async () => (await left(browser)) > 14_000)
    assert.ok((await left(browser)) <= 14_400)
  })

  test('never lets it live past its absolute end', async () => {
    const browser = await signIn()
    const ends = `ends_at = clock_timestamp() + interval '10 minutes'`
    await leave(browser, `, live_until = clock_timestamp() + interval '5 minutes', ${ends}`)
    assert.equal(await browser.status(), 200)
    await until('it lives longer', async () => (await left(browser)) > 400)
    assert.ok((await left(browser)) <= 600)
  })

  test('by its token counts like its use by the cookie', async () => {
    const browser = await signIn()
    await leave(browser, `, live_until = clock_timestamp() + interval '5 minutes'`)
    const call = { method: 'GET', url: '/v1/users/me/sessions', token: browser.token, tenant_id: tenant.tenant_id }
    assert.equal((await house.call(call)).status, 200)
    await until('it lives longer', async () => (await left(browser)) > 14_000)
  })

  test('is recorded once a minute', async () => {
    const browser = await signIn()
    const lastUse = async () => {
      const rows = await house.asSuperuser('select last_used_at, live_until from user_session where id = $1', [
        browser.session_id,
      ])
      return JSON.stringify(rows)
    }
    const before = await lastUse()
    for (let call = 0; call < 5; call += 1) assert.equal(await browser.status(), 200)
    assert.equal(await lastUse(), before)
  })

  test('does not prolong a token that no browser has', async () => {
    const token = await house.tokenOf(tenant.tenant_id, tenant.people.user.user_id, new Date())
    const ago = `update user_session set last_used_at = clock_timestamp() - interval '2 minutes' where id = $1
      returning live_until`
    const [before] = await house.asSuperuser<{ live_until: Date }>(ago, [sessionOf(token)])
    const call = { method: 'GET', url: '/v1/users/me/sessions', token, tenant_id: tenant.tenant_id }
    assert.equal((await house.call(call)).status, 200)
    const used = `select live_until from user_session
      where id = $1 and last_used_at > clock_timestamp() - interval '1 minute'`
    const [after] = await until('the use is recorded', async () => {
      const rows = await house.asSuperuser<{ live_until: Date }>(used, [sessionOf(token)])
      return rows.length > 0 && rows
    })
    assert.deepEqual(after?.live_until, before?.live_until)
  })
})

suite('a session ends', () => {
  /** Uses it until the database's clock says that it is over, then once more. */
  async function usedToTheEnd(browser: Browser): Promise<number> {
    await until('its end has come', async () => {
      await browser.status()
      return !(await lifetimesOf(browser.session_id)).live
    })
    return browser.status()
  }

  test('when it was not used for long enough, also while what it proves is cached (A6)', async () => {
    const browser = await signIn()
    await change(browser, `live_until = clock_timestamp() + interval '2 seconds'`)
    assert.equal(await usedToTheEnd(browser), 401)
    const call = { method: 'GET', url: '/v1/users/me/sessions', token: browser.token, tenant_id: tenant.tenant_id }
    assert.equal((await house.call(call)).status, 401, 'its token ends with it')
  })

  test('at its absolute end, however much it is used (A6)', async () => {
    const browser = await signIn()
    const end = `now() + interval '2 seconds'`
    await change(browser, `ends_at = ${end}, live_until = ${end}, last_used_at = now() - interval '2 minutes'`)
    assert.equal(await usedToTheEnd(browser), 401)
  })

  test('for good: an ended one is neither listed nor ended again, and no use revives it', async () => {
    const [ended, other] = [await signIn(), await signIn()]
    await change(
      ended,
      `live_until = clock_timestamp() - interval '1 second', last_used_at = now() - interval '1 hour'`,
    )
    assert.equal(await ended.status(), 401)
    const listed = (await other.send('GET', '/v1/users/me/sessions')).body.data as { id: string }[]
    assert.ok(listed.some(({ id }) => id === other.session_id))
    assert.ok(listed.every(({ id }) => id !== ended.session_id))
    assert.equal((await other.send('DELETE', `/v1/users/me/sessions/${ended.session_id}`)).status, 404)
    // A use that was permitted just before the end may be recorded after it.
    await touchSession(house.database.tenant(tenant.tenant_id), ended.session_id)
    assert.equal((await lifetimesOf(ended.session_id)).live, false)
  })
})
