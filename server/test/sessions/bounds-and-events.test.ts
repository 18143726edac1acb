import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text as textFrom } from 'node:stream/consumers'
import { beforeEach, suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { isPlainLine } from '../../src/kernel/one-line-name.ts'
import { sessionCleanup } from '../../src/sessions/session-store.ts'
import { browsersOf, ownSessions, publicUrl, sessionOf } from '../support/browser.ts'
import { cheapPassword, openHouse, type Person, type TestTenant } from '../support/house.ts'

/** How many sessions are kept, what they say about a program, and what the audit log says about them. */
const house = await openHouse({ PUBLIC_URL: publicUrl })
const browsers = browsersOf(house)

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('bounds')
})

/** Signs the owner in with the password; returns the token. */
async function login(headers: Record<string, string> = {}): Promise<string> {
  const body = { email: 'owner@example.com', password: cheapPassword.text }
  const call = { method: 'POST', url: '/v1/auth/login', tenant_id: tenant.tenant_id, body, headers }
  const reply = await house.call(call)
  assert.equal(reply.status, 200, reply.text)
  return String(reply.body.token)
}

/** Replaces a user’s sessions with so many, of which the nth was used n minutes ago. Returns their ids. */
async function give(person: Person, count: number, live = '1 hour', of = tenant.tenant_id): Promise<string[]> {
  await house.asSuperuser('delete from user_session where user_id = $1', [person.user_id])
  const rows = await house.asSuperuser<{ id: string }>(
    `insert into user_session
        (tenant_id, id, user_id, amr, auth_time, source_ip, created_at, last_used_at, ends_at, live_until)
      select $1, gen_random_uuid(), $2, '{pwd}', now(), '192.0.2.1', now() - interval '1 day',
        now() - make_interval(mins => n), now() + interval '1 day', now() + $4::interval
      from generate_series(1, $3::int) as n returning id`,
    [of, person.user_id, count, live],
  )
  return rows.map(({ id }) => id)
}

async function sessionsOf({ user_id }: Person): Promise<Set<string>> {
  const rows = await house.asSuperuser<{ id: string }>('select id from user_session where user_id = $1', [user_id])
  return new Set(rows.map(({ id }) => id))
}

suite('of the sessions of one user', () => {
  test('the one used longest ago ends with the 1,001st, and no other user’s does (F6)', async () => {
    const ids = await give(tenant.owner, 1_000)
    await give(tenant.people.user, 1_000)
    const made = sessionOf(await login())
    const kept = await sessionsOf(tenant.owner)
    assert.deepEqual([kept.size, kept.has(made), kept.has(ids.at(-1) ?? '')], [1_000, true, false])
    assert.ok(ids.slice(0, -1).every((id) => kept.has(id)))
    assert.equal((await sessionsOf(tenant.people.user)).size, 1_000)
  })

  test('those that stay are not locked by a sign-in: it would write a thousand rows', async () => {
    const ids = await give(tenant.owner, 1_001)
    await house.database.tenant(tenant.tenant_id).interactive(async (inside) => {
      await inside.write(sessionCleanup(inside, tenant.owner.user_id) as [Statement, Statement])
      const free = await house.asSuperuser('select from user_session where user_id = $1 for update skip locked', [
        tenant.owner.user_id,
      ])
      assert.equal(free.length, ids.length - 1)
    })
  })

  test('one that another call has is left for the next sign-in, which waits for nothing', async () => {
    const ids = await give(tenant.owner, 1_000)
    await house.database.tenant(tenant.tenant_id).interactive(async (inside) => {
      await inside.write([sql`select from user_session where tenant_id = ${tenant.tenant_id} for update`])
      await login()
    })
    assert.equal((await sessionsOf(tenant.owner)).size, 1_001)
    await login()
    const kept = await sessionsOf(tenant.owner)
    assert.equal(kept.size, 1_000)
    assert.ok([ids.at(-1), ids.at(-2)].every((id) => !kept.has(id ?? '')))
  })
})

suite('sessions that have ended by themselves', () => {
  test('are deleted at a later sign-in in their tenant, a hundred at a time', async () => {
    const other = await house.tenant('other')
    await give(tenant.people.user, 150, '-1 second')
    await give(other.people.user, 5, '-1 second', other.tenant_id)
    const living = await sessionsOf(tenant.people.approver)
    await login()
    assert.equal((await sessionsOf(tenant.people.user)).size, 50)
    await login()
    assert.equal((await sessionsOf(tenant.people.user)).size, 0)
    assert.equal((await sessionsOf(other.people.user)).size, 5)
    assert.deepEqual(await sessionsOf(tenant.people.approver), living)
  })
})

suite('the user agent of a sign-in', () => {
  const shownFor = async (token: string) => {
    const listed = await house.call({ method: 'GET', url: ownSessions, token, tenant_id: tenant.tenant_id })
    const sessions = listed.body.data as { id: string; user_agent: string | null }[]
    return sessions.find(({ id }) => id === sessionOf(token))?.user_agent
  }

  test('is shown on one line of at most 200 characters, whatever it contains', async () => {
    assert.equal(await shownFor(await login({ 'user-agent': 'curl/8.5.0' })), 'curl/8.5.0')
    for (const header of ['a\x7fb\x9bc', '\u202egnp.exe', `${'x'.repeat(300)}`, 'a\tb', `<b>"';--`, '🦊'.repeat(300)]) {
      const shown = await shownFor(await login({ 'user-agent': header }))
      assert.ok(typeof shown === 'string' && isPlainLine(shown) && [...shown].length <= 200, String(shown))
    }
    assert.equal(await shownFor(await login({ 'user-agent': ' ' })), null)
  })

  test('of 20 KB is refused with its request (A13)', async () => {
    const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nUser-Agent: ${'x'.repeat(20_000)}\r\n\r\n`)
    assert.match(await textFrom(socket), /^HTTP\/1\.1 431 /)
  })
})

suite('in the audit log', () => {
  type Seen = { type: string; actor_id: string; subject_id: string; data: Record<string, unknown> }
  const events = () =>
    house.asSuperuser<Seen>(
      `select type, actor_id, subject_id, data from event where tenant_id = $1 and type like 'auth.%' order by seq`,
      [tenant.tenant_id],
    )

  test('a sign-in, the start and the end of its session name the session, and what ended it', async () => {
    const { user_id } = tenant.owner
    const token = await login()
    const browser = browsers.browserWith(await browsers.start(token), token)
    const other = sessionOf(await login())
    await browser.send('DELETE', `${ownSessions}/${other}`)
    await browser.send('DELETE', ownSessions)
    await browser.send('POST', '/v1/auth/logout')
    const sid = browser.session_id
    const source_ip = '127.0.0.1'
    assert.deepEqual(
      (await events()).map(({ type, data }) => [type, data]),
      [
        ['auth.signed_in', { source_ip, sid }],
        ['auth.session_started', { source_ip, sid, held_by: 'browser' }],
        ['auth.signed_in', { source_ip, sid: other }],
        ['auth.signed_out', { sid: other, cause: 'ended' }],
        ['auth.signed_out', { cause: 'ended_others', kept: sid }],
        ['auth.signed_out', { sid, cause: 'signed_out' }],
      ],
    )
    for (const { actor_id, subject_id } of await events()) assert.deepEqual([actor_id, subject_id], [user_id, user_id])
  })

  test('nothing is written for what did not happen', async () => {
    const browser = await browsers.signIn(tenant.tenant_id, tenant.owner.user_id)
    await browser.send('DELETE', ownSessions)
    const before = await events()
    assert.equal((await browsers.start(browser.token)).status, 401)
    assert.equal((await browser.send('DELETE', `${ownSessions}/${tenant.tenant_id}`)).status, 404)
    assert.deepEqual((await browser.send('DELETE', ownSessions)).body, { ended: 0 })
    assert.deepEqual(await events(), before)
  })

  test('no secret is written: no token, no cookie, no password, no hash (S9)', async () => {
    const token = await login()
    const browser = browsers.browserWith(await browsers.start(token), token)
    await browsers.signIn(tenant.tenant_id, tenant.owner.user_id, browser.cookie)
    await browser.send('GET', ownSessions)
    const [{ hash } = { hash: '' }] = await house.asSuperuser<{ hash: string }>(
      `select string_agg(encode(cookie_hash, 'hex'), '') as hash from user_session where tenant_id = $1`,
      [tenant.tenant_id],
    )
    const rows = await house.asSuperuser<{ text: string }>('select e::text as text from event e where tenant_id = $1', [
      tenant.tenant_id,
    ])
    const log = rows.map(({ text }) => text).join('\n')
    const value = browser.cookie.split('=')[1] ?? ''
    const secret = Buffer.from(value, 'base64url').subarray(32)
    const signature = token.split('.')[2] ?? ''
    for (const one of [
      value,
      secret.toString('hex'),
      secret.toString('base64url'),
      signature,
      cheapPassword.text,
      hash,
    ]) {
      assert.ok(one !== '' && !log.includes(one))
    }
  })
})
