import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { browsersOf, ownSessions } from '../support/browser.ts'
import { openClaimsStage } from '../support/claims-stage.ts'
import { cheapPassword, type Person, type TestTenant } from '../support/house.ts'
import { openLogoutStage } from '../support/logout-stage.ts'
import { programsOf } from '../support/program.ts'
import { rehearsalStage } from '../support/rehearsal-stage.ts'
import { openFactorStage, origin } from '../support/second-factor-stage.ts'

/** What a refreshed token may do: what its user may at that moment, in the sign-in of then. */
const stage = await openFactorStage()
const { house, goLive } = stage
const claims = await openClaimsStage()
const programs = programsOf(house)
const { refresh, next, statusWith } = programs

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('refreshed')
})
const signIn = (person: Person = tenant.people.user) => programs.signIn(tenant.tenant_id, person)
const as = (token: string, method: string, url: string, body?: unknown) =>
  house.call({ method, url, token, tenant_id: tenant.tenant_id, ...(body !== undefined && { body }) })
const byOwner = (method: string, url: string, body?: unknown) => as(tenant.owner.token, method, url, body)

/** A session's lifetimes in whole seconds, as stored. `left`: until it ends if it is not used again. */
async function lifetimesOf(session_id: string) {
  const [row] = await house.asSuperuser<{ lifetime: number; idle: number; left: number }>(
    `select round(extract(epoch from ends_at - created_at))::int as lifetime, idle_seconds as idle,
        round(extract(epoch from live_until - clock_timestamp()))::int as left
      from user_session where id = $1`,
    [session_id],
  )
  assert.ok(row)
  return row
}
const change = (session_id: string, columns: string) =>
  house.asSuperuser(`update user_session set ${columns} where id = $1`, [session_id])

suite('a program stays signed in', () => {
  test('for 7 days, and 72 hours unused, where the tenant says nothing (A6)', async () => {
    const { session_id } = await signIn()
    const { lifetime, idle, left } = await lifetimesOf(session_id)
    assert.deepEqual([lifetime, idle], [604_800, 259_200])
    assert.ok(left <= 259_200 && left > 259_000, String(left))
  })

  test('as long as the settings say when it signs in, counted from the sign-in', async () => {
    const set = (key: string, value: string) => byOwner('PUT', `/v1/settings/auth.refresh_${key}_seconds`, { value })
    assert.deepEqual([(await set('max', '7200')).status, (await set('idle', '600')).status], [200, 200])
    const token = await house.tokenOf(tenant.tenant_id, tenant.people.user.user_id, new Date())
    const reply = await programs.issue(token)
    assert.equal(reply.body.idle_seconds, 600)
    const { lifetime, idle } = await lifetimesOf(String(reply.body.id))
    assert.deepEqual([lifetime, idle], [7_200, 600])
  })

  test('longer by each use, of a token or of a refresh token, and never past its end (A6)', async () => {
    const program = await signIn()
    const left = async () => (await lifetimesOf(program.session_id)).left
    await change(program.session_id, `live_until = clock_timestamp() + interval '5 minutes'`)
    const second = await next(program)
    assert.ok((await left()) > 250_000)
    await change(
      program.session_id,
      `live_until = clock_timestamp() + interval '5 minutes', ends_at = clock_timestamp() + interval '10 minutes'`,
    )
    const reply = await refresh(second.refresh_token)
    assert.ok((await left()) <= 600)
    assert.ok(Date.parse(String(reply.body.expires_at)) <= Date.parse(String(reply.body.ends_at)), reply.text)
  })

  test('until it was not used for long enough, or its end has come (A6)', async () => {
    const [idle, old] = [await signIn(), await signIn()]
    await change(idle.session_id, `live_until = clock_timestamp()`)
    await change(old.session_id, `live_until = now(), ends_at = now()`)
    for (const program of [idle, old]) {
      assert.equal((await refresh(program.refresh_token)).status, 401)
      assert.equal(await statusWith(program), 401)
    }
  })

  test('once for each sign-in, and only within a minute of it: it is a program’s or a browser’s (A16)', async () => {
    const browsers = browsersOf(house, origin)
    const token = await house.tokenOf(tenant.tenant_id, tenant.people.user.user_id, new Date())
    const program = programs.programWith(await programs.issue(token), tenant.tenant_id, token)
    assert.equal((await programs.issue(token)).status, 401)
    assert.equal((await browsers.start(token)).status, 401)
    assert.equal((await programs.issue((await next(program)).token)).status, 401, 'a refreshed token is no sign-in')
    const inBrowser = await house.tokenOf(tenant.tenant_id, tenant.people.user.user_id, new Date())
    assert.equal((await browsers.start(inBrowser)).status, 201)
    assert.equal((await programs.issue(inBrowser)).status, 401)
    const late = await signIn()
    await change(
      late.session_id,
      `created_at = created_at - interval '61 seconds', family_hash = null, refresh_hash = null`,
    )
    assert.equal((await programs.issue(late.token)).status, 401)
  })

  test('and sees the session in the list, where it can be ended (A6)', async () => {
    const program = await next(await signIn())
    const { body, text } = await as(program.token, 'GET', ownSessions)
    const mine = (body.data as Record<string, unknown>[]).find(({ id }) => id === program.session_id)
    assert.deepEqual([mine?.program, mine?.browser, mine?.current], [true, false, true])
    assert.ok(!/hash|salt/.test(text))
    const other = await signIn()
    assert.equal((await as(other.token, 'DELETE', `${ownSessions}/${program.session_id}`)).status, 204)
    assert.deepEqual([await statusWith(program), (await refresh(program.refresh_token)).status], [401, 401])
  })
})

suite('a refresh token is not given', () => {
  test('to an API key, or for the cookie of a browser (A16)', async () => {
    const { api_key, user_id } = tenant.people.user
    const byKey = { method: 'POST', url: '/v1/auth/refresh-token', api_key, tenant_id: tenant.tenant_id }
    assert.deepEqual((await house.call(byKey)).status, 403)
    const browser = await browsersOf(house, origin).signIn(tenant.tenant_id, user_id)
    const reply = await browser.send('POST', '/v1/auth/refresh-token')
    assert.deepEqual([reply.status, reply.body.refresh_token], [403, undefined])
  })

  test('to a person of the rehearsal, whose token is for a quarter of an hour', async () => {
    const rehearsal = await rehearsalStage(house, 'rehearsal')
    const reply = await programs.issue((await rehearsal.become('ada')).token)
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
  })

  test('for a sign-in without the second factor that its user must have (A22)', async () => {
    const { token } = await stage.withPassword(await stage.member(tenant, ['approver']))
    await goLive(tenant)
    const reply = await programs.issue(token)
    assert.deepEqual([reply.status, reply.body.code], [403, 'sign_in_again'])
  })
})

suite('the person is read again each time', () => {
  test('what they may do is what they may at that moment', async () => {
    const program = await signIn(tenant.people.approver)
    const may = async ({ token }: { token: string }) => (await as(token, 'GET', '/v1/users/me')).body.scopes as string[]
    assert.ok((await may(program)).includes('requests:approve'))
    const body = { roles: ['user'] }
    assert.equal((await byOwner('PUT', `/v1/users/${tenant.people.approver.user_id}/roles`, body)).status, 200)
    assert.ok(!(await may(await next(program))).includes('requests:approve'))
  })

  const ends: [string, string, string, unknown][] = [
    ['deactivated', 'PATCH', '', { active: false }],
    ['suspended', 'POST', '/suspend', undefined],
    ['deleted', 'DELETE', '', undefined],
  ]
  for (const [name, method, path, body] of ends) {
    test(`a user who is ${name} gets nothing, even where the session were left (A6)`, async () => {
      const program = await signIn()
      const { user_id } = tenant.people.user
      // As if an end of the session were lost: the user alone decides.
      const [kept] = await house.asSuperuser('select * from user_session where id = $1', [program.session_id])
      assert.ok((await byOwner(method, `/v1/users/${user_id}${path}`, body)).status < 300)
      assert.deepEqual(await house.asSuperuser('select from user_session where id = $1', [program.session_id]), [])
      await house.asSuperuser(
        'insert into user_session select * from jsonb_populate_record(null::user_session, $1::jsonb)',
        [JSON.stringify(asColumns(kept ?? {}))],
      )
      assert.equal((await refresh(program.refresh_token)).status, 401)
      const left = await house.asSuperuser('select from user_session where id = $1', [program.session_id])
      assert.equal(left.length, 1, 'it is not the token that is at fault')
    })
  }

  test('a changed password ends every refresh token, that of the program that changed it too; its token stays (A6)', async () => {
    const [mine, other] = [await signIn(tenant.owner), await signIn(tenant.owner)]
    const body = { current_password: cheapPassword.text, new_password: 'another long password' }
    assert.equal((await as(mine.token, 'POST', '/v1/users/me/password', body)).status, 204)
    assert.deepEqual(
      [(await refresh(other.refresh_token)).status, (await refresh(mine.refresh_token)).status],
      [401, 401],
    )
    assert.deepEqual([await statusWith(other), await statusWith(mine)], [401, 200])
  })

  test('a sign-out ends the program’s own session (A6)', async () => {
    const program = await next(await signIn())
    assert.equal((await as(program.token, 'POST', '/v1/auth/logout')).status, 200)
    assert.deepEqual([await statusWith(program), (await refresh(program.refresh_token)).status], [401, 401])
  })
})

suite('how and when the person signed in', () => {
  test('stays as it was: what needs a sign-in within the hour asks for one, however often the token is refreshed', async () => {
    await goLive(tenant)
    const name = () => ({ name: `role ${newId()}`, scopes: [] })
    const program = await signIn(tenant.owner)
    assert.equal((await as(program.token, 'POST', '/v1/roles', name())).status, 201)
    await change(program.session_id, `auth_time = auth_time - interval '2 hours'`)
    const before = await signInOf(program.session_id)
    const refreshed = await next(await next(program))
    const reply = await as(refreshed.token, 'POST', '/v1/roles', name())
    assert.deepEqual([reply.status, reply.body.code], [403, 'sign_in_again'])
    assert.deepEqual(await signInOf(program.session_id), before)
    const me = (await as(refreshed.token, 'GET', '/v1/users/me')).body.sign_in as Record<string, unknown>
    assert.deepEqual(me.amr, ['pwd', 'otp', 'mfa'])
  })

  const signInOf = (session_id: string) =>
    house.asSuperuser('select amr, auth_time, created_at, provider from user_session where id = $1', [session_id])
})

suite('a session by a provider', () => {
  test('ends with the sign-out that the provider reports (O16)', async () => {
    const signOuts = await openLogoutStage()
    const ofStage = programsOf(signOuts.house)
    const provider = await signOuts.provider(await signOuts.tenant())
    const signedIn = await provider.signIn('anna', { sid: 'one' })
    const other = await provider.signIn('anna', { sid: 'two' })
    const hold = async ({ token, tenant_id }: typeof signedIn) =>
      ofStage.programWith(await ofStage.issue(token), tenant_id, token)
    const [ended, kept] = [await ofStage.next(await hold(signedIn)), await hold(other)]
    assert.equal((await signOuts.send(provider.id, provider.logoutToken({ sub: 'anna', sid: 'one' }))).status, 200)
    assert.equal((await ofStage.refresh(ended.refresh_token)).status, 401)
    assert.equal(await ofStage.statusWith(await ofStage.next(kept)), 200)
  })

  test('has the groups of its claim for as long after the sign-in as any: no refresh prolongs them (O11)', async () => {
    const ofStage = programsOf(claims.house)
    const { group_id } = await claims.makeGroup(await claims.open(), ['groups:read'])
    await claims.map([{ value: 'eng', group_id }])
    const { id, token } = await claims.enter('anna', { groups: ['eng'] })
    const program = ofStage.programWith(await ofStage.issue(token), claims.tenant().tenant_id, token)
    const until = () =>
      claims.house.asSuperuser('select expires_at from group_member where user_id = $1 and group_id = $2', [
        id,
        group_id,
      ])
    const before = await until()
    const refreshed = await ofStage.next(program)
    assert.deepEqual(await until(), before)
    assert.equal((await claims.by(refreshed.token, 'GET', '/v1/groups')).status, 200)
    await claims.expire(id)
    const later = await ofStage.next(refreshed)
    assert.equal((await claims.by(later.token, 'GET', '/v1/groups')).status, 403)
  })
})

/** A row as JSON that the database reads back: bytes in its own spelling. */
function asColumns(row: Record<string, unknown>): Record<string, unknown> {
  const spelled = (value: unknown) => (Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, spelled(value)]))
}
