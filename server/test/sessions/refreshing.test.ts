import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { newId } from '../../src/kernel/id.ts'
import { makeRefreshToken } from '../../src/sessions/refresh-token.ts'
import { openHouse, type Reply, type TestTenant } from '../support/house.ts'
import { locksAreWaitedFor } from '../support/lock.ts'
import { type Program, programsOf, trustsTests } from '../support/program.ts'

/** A program stays signed in by refresh tokens, each of which it uses once. */
const house = await openHouse(trustsTests)
const programs = programsOf(house)
const { refresh, next, statusWith, usedAgo, usedNow } = programs

let tenant: TestTenant
beforeEach(async () => {
  tenant = await house.tenant('refreshing')
})
const signIn = () => programs.signIn(tenant.tenant_id, tenant.people.user)

/** What the audit log has of refreshing and signing out. */
const events = () =>
  house.asSuperuser<{ type: string; actor_kind: string; actor_id: string; subject_id: string; data: object }>(
    `select type, actor_kind, actor_id, subject_id, data from event
      where tenant_id = $1 and type in ('auth.session_started', 'auth.refreshed', 'user.refresh_token_reused')
      order by seq`,
    [tenant.tenant_id],
  )

const refused = ({ status, body, text }: Reply) => {
  assert.deepEqual([status, body.code], [401, 'unauthenticated'], text)
  assert.match(String(body.message), /used before, or its session is over/)
}

/** The session is over: its tokens are refused, and it is gone. */
async function isOver(...of: Program[]): Promise<void> {
  for (const program of of) {
    assert.equal(await statusWith(program), 401)
    refused(await refresh(program.refresh_token))
  }
  assert.deepEqual(await house.asSuperuser('select from user_session where id = $1', [of[0]?.session_id]), [])
}

suite('a refresh token', () => {
  test('is exchanged for a token of the same session and for its successor (R16)', async () => {
    const first = await signIn()
    const reply = await refresh(first.refresh_token)
    assert.deepEqual([reply.status, reply.headers['cache-control']], [200, 'no-store'])
    assert.deepEqual(Object.keys(reply.body).sort(), ['ends_at', 'expires_at', 'refresh_token', 'token'])
    const second = await next({ ...first, refresh_token: String(reply.body.refresh_token) })
    const tokens = [first.refresh_token, reply.body.refresh_token, second.refresh_token]
    assert.equal(new Set(tokens).size, 3)
    assert.deepEqual([await statusWith(first), await statusWith(second)], [200, 200])
    const [, payload] = second.token.split('.')
    const claims = JSON.parse(Buffer.from(String(payload), 'base64url').toString()) as Record<string, unknown>
    assert.deepEqual(
      [claims.sid, claims.sub, claims.tid],
      [first.session_id, tenant.people.user.user_id, first.tenant_id],
    )
  })

  test('that is used again within ten seconds by the same client gets the same successor (R16)', async () => {
    const first = await signIn()
    const second = await next(first)
    await usedNow(first)
    const again = await next(first)
    assert.equal(again.refresh_token, second.refresh_token)
    assert.notEqual(again.token, second.token)
    assert.deepEqual([await statusWith(second), await statusWith(again)], [200, 200])
    await next(again)
  })

  test('that is used again later ends the session, and with it its successor (R16)', async () => {
    const first = await signIn()
    const second = await next(first)
    await usedAgo(first, 11)
    refused(await refresh(first.refresh_token))
    await isOver(first, second)
  })

  test('that is used again by another address ends the session, however soon it is (R16)', async () => {
    const first = await signIn()
    const second = await next(first)
    refused(await refresh(first.refresh_token, '192.0.2.2'))
    await isOver(first, second)
  })

  test('may be used from another address than the one before it', async () => {
    const second = await next(await signIn(), '192.0.2.2')
    assert.equal(await statusWith(await next(second, '2001:db8::1')), 200)
  })

  test('that is repeated by another address of the same IPv6 network is repeated by the same client', async () => {
    const first = await signIn()
    const second = await next(first, '2001:db8:1:2::1')
    await usedNow(first)
    assert.equal((await next(first, '2001:db8:1:2:a:b:c:d')).refresh_token, second.refresh_token)
    refused(await refresh(first.refresh_token, '2001:db8:1:3::1'))
    await isOver(second)
  })

  test('from before the last use ends the session, even within ten seconds (R16)', async () => {
    const first = await signIn()
    const third = await next(await next(first))
    refused(await refresh(first.refresh_token))
    await isOver(third)
  })

  test('of another session changes nothing in this one', async () => {
    const [mine, other] = [await signIn(), await signIn()]
    await next(other)
    await usedAgo(other, 11)
    refused(await refresh(other.refresh_token))
    assert.equal(await statusWith(await next(mine)), 200)
  })
})

/** The program's token with a letter changed in what all tokens of its session have in common. */
function withOtherFamily({ refresh_token }: Program): string {
  const other = refresh_token[60] === 'A' ? 'B' : 'A'
  return refresh_token.slice(0, 60) + other + refresh_token.slice(61)
}

suite('a made-up refresh token', () => {
  test('ends nothing, whatever it names, and has the answer of one that is over (R16)', async () => {
    const program = await signIn()
    const forged = [
      makeRefreshToken(program.tenant_id, program.session_id).text,
      makeRefreshToken(program.tenant_id, newId()).text,
      makeRefreshToken(newId(), program.session_id).text,
      withOtherFamily(program),
      program.refresh_token.slice(0, -1),
      '',
      'spr_',
      program.token,
    ]
    for (const text of forged) refused(await refresh(text))
    const other = await house.tenant('other')
    const bytes = Buffer.from(program.refresh_token.slice(4), 'base64url')
    Buffer.from(other.tenant_id.replaceAll('-', ''), 'hex').copy(bytes)
    refused(await refresh(`spr_${bytes.toString('base64url')}`))
    assert.equal(await statusWith(await next(program)), 200)
  })

  test('with the family of the session but a secret that never was ends it: only who had a token can make it', async () => {
    const program = await signIn()
    const last = program.refresh_token.at(-1) === 'A' ? 'B' : 'A'
    refused(await refresh(program.refresh_token.slice(0, -1) + last))
    await isOver(program)
  })

  for (const [name, body] of Object.entries({
    absent: {},
    null: { refresh_token: null },
    'a number': { refresh_token: 1 },
    'too long': { refresh_token: 'x'.repeat(2_001) },
    'beside another field': { refresh_token: 'x', grant_type: 'refresh_token' },
  })) {
    test(`is refused before it is read where it is ${name}`, async () => {
      const reply = await house.call({ method: 'POST', url: '/v1/auth/refresh', body })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    })
  }
})

suite('two uses at once', () => {
  /** Holds the session's row until so many calls wait for it. */
  async function whileHeld(program: Program, begin: () => Promise<Reply>[]): Promise<Reply[]> {
    const replies: Promise<Reply>[] = []
    await house.database.tenant(program.tenant_id).interactive(async (inside) => {
      await inside.write([sql`select from user_session where id = ${program.session_id} for update`])
      replies.push(...begin())
      await locksAreWaitedFor(house, replies.length)
    })
    return Promise.all(replies)
  }

  test('of one token by one client get one successor (R16)', async () => {
    const program = await signIn()
    const { refresh_token } = program
    const replies = await whileHeld(program, () => [1, 2, 3].map(() => refresh(refresh_token)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
    const successors = new Set(replies.map(({ body }) => body.refresh_token))
    assert.equal(successors.size, 1)
    assert.equal(await statusWith(await next({ ...program, refresh_token: String([...successors][0]) })), 200)
  })

  test('of one token by two clients end the session: one of them stole it (R16)', async () => {
    const program = await signIn()
    const { refresh_token } = program
    const replies = await whileHeld(program, () => ['192.0.2.1', '192.0.2.2'].map((at) => refresh(refresh_token, at)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401])
    const won = replies.find(({ status }) => status === 200)
    await isOver({ ...program, token: String(won?.body.token), refresh_token: String(won?.body.refresh_token) })
  })

  test('of which one is a sign-out leave nothing (R16)', async () => {
    const program = await signIn()
    const { refresh_token, token } = program
    const replies = await whileHeld(program, () => [
      refresh(refresh_token),
      house.call({ method: 'POST', url: '/v1/auth/logout', token }),
    ])
    assert.equal(replies[1]?.status, 200)
    const held = { ...program, token: String(replies[0]?.body.token ?? token) }
    await isOver(held)
  })
})

suite('the tokens of one session', () => {
  test('are used 30 times at once, then every 20 seconds: neither load nor events grow with a loop', async () => {
    const other = await signIn()
    let program = await signIn()
    for (let use = 0; use < 30; use += 1) program = await next(program)
    const { status, body, headers } = await refresh(program.refresh_token)
    assert.deepEqual([status, body.code, (body.details as { limit: string }).limit], [429, 'rate_limited', 'refresh'])
    assert.ok(Number(headers['retry-after']) <= 20)
    const used = (await events()).filter(({ type }) => type === 'auth.refreshed')
    assert.equal(used.length, 30)
    assert.equal(await statusWith(program), 200, 'the session goes on')
    await next(other)
  })
})

suite('in the audit log', () => {
  test('each step of a session names it; who used a token again is not said to be its user', async () => {
    const first = await signIn()
    await next(first)
    await usedAgo(first, 11)
    await refresh(first.refresh_token, '192.0.2.9')
    const { user_id } = tenant.people.user
    const sid = first.session_id
    const found = await events()
    const { used_at, ...reused } = (found[2]?.data ?? {}) as Record<string, unknown>
    assert.deepEqual(
      [...found.slice(0, 2).map(({ type, actor_id, data }) => [type, actor_id, data]), [found[2]?.actor_kind, reused]],
      [
        ['auth.session_started', user_id, { sid, source_ip: '127.0.0.1', held_by: 'program' }],
        ['auth.refreshed', user_id, { sid, source_ip: '192.0.2.1' }],
        ['system', { sid, source_ip: '192.0.2.9', used_from: '192.0.2.1' }],
      ],
    )
    assert.ok(typeof used_at === 'string')
    for (const { subject_id } of found) assert.equal(subject_id, user_id)
  })

  test('a repeated use is no event', async () => {
    const first = await signIn()
    await next(first)
    await usedNow(first)
    await next(first)
    assert.equal((await events()).filter(({ type }) => type === 'auth.refreshed').length, 1)
  })

  test('no secret is written, and the database has only hashes (S9)', async () => {
    const first = await signIn()
    const second = await next(first)
    await usedNow(first)
    await next(first)
    const rows = await house.asSuperuser<{ text: string }>(
      `select s::text as text from user_session s where tenant_id = $1
        union all select e::text from event e where tenant_id = $1
        union all select k::text from kept_answer k where tenant_id = $1`,
      [tenant.tenant_id],
    )
    const kept = rows.map(({ text }) => text).join('\n')
    for (const { refresh_token } of [first, second]) {
      const bytes = Buffer.from(refresh_token.slice(4), 'base64url')
      for (const secret of [bytes.subarray(32, 64), bytes.subarray(64)]) {
        for (const spelling of ['base64url', 'base64', 'hex'] as const) {
          assert.ok(!kept.includes(secret.toString(spelling)), spelling)
        }
      }
    }
  })
})
