import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { sessionOf } from '../support/browser.ts'
import { operations, type Reply } from '../support/house.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { factorsUrl, type Member, openFactorStage, password } from '../support/second-factor-stage.ts'
import { totpApp } from '../support/totp-app.ts'

/** Changes of one's own that were admitted, and whose session ends, or whose user leaves, while they wait. */
const stage = await openFactorStage()
const { house, member, withPassword, withFactor, begin, addApp, as } = stage
const { tenant_id, ...tenant } = await house.tenant('late own changes')

type By = { user: Member; token: string }
type Change = [method: string, url: string, body?: unknown]

/** Two sessions of a user with an app; both are strong. */
async function twoSessions() {
  const { user, codes, factor_id } = await addApp(await withPassword(await member({ tenant_id, ...tenant })))
  const strong = (nth: number) => withFactor(user, { recovery_code: codes[nth] })
  return { user, factor_id, by: await strong(0), other: await strong(1) }
}

/** Each change waits for the lock of the user, or of the password. */
const changes: Record<string, (by: By, factor_id: string) => Promise<Change>> = {
  'of the password': async () => [
    'POST',
    '/v1/users/me/password',
    { current_password: password, new_password: 'another long enough password' },
  ],
  'that begins a second factor': async () => ['POST', factorsUrl, { kind: 'totp' }],
  'that confirms a second factor': async (by) => {
    const { id, totp } = await begin(by, 'totp')
    return ['POST', `${factorsUrl}/${id}/confirm`, { totp: totpApp(totp.secret).code() }]
  },
  'that removes a second factor': async (_by, factor_id) => ['DELETE', `${factorsUrl}/${factor_id}`],
  'that replaces the recovery codes': async () => ['POST', '/v1/users/me/recovery-codes'],
  'of the profile': async () => ['PUT', '/v1/users/me/profile', { display_name: 'Another name' }],
}

/** Everything of the user that these changes could change. */
const pictureOf = ({ id }: Member) =>
  house.asSuperuser(
    `select u.name, u.display_name, (select json_agg(p) from user_password p where p.user_id = u.id) as passwords,
      (select json_agg(f order by f.id) from second_factor f where f.user_id = u.id) as factors,
      (select json_agg(r.hash order by r.hash) from recovery_code r where r.user_id = u.id) as codes
    from tenant_user u where u.id = $1`,
    [id],
  )

/** Sends the call, has it wait for a lock on the user, does `meanwhile`, and returns the answer. */
async function waiting(
  { id }: Member,
  call: () => Promise<Reply>,
  meanwhile: { statements?: readonly Statement[]; act?: () => Promise<void> },
): Promise<Reply> {
  const replies: Promise<Reply>[] = []
  await house.database.tenant(tenant_id).interactive(async (inside) => {
    await inside.write([
      sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${id} for update`,
      sql`select from user_password where tenant_id = ${tenant_id} and user_id = ${id} for update`,
    ])
    replies.push(call())
    await aLockIsWaitedFor(house, inside)
    await meanwhile.act?.()
    await inside.write([...(meanwhile.statements ?? [])])
  })
  return (await Promise.all(replies))[0] ?? assert.fail('nothing was sent')
}

const refusalsOf = async ({ id }: Member) =>
  house.asSuperuser(`select data ->> 'code' as code from event where type = 'access.refused' and actor_id = $1`, [id])
const endOthers = async (other: By) => {
  const reply = await as(other, 'DELETE', '/v1/users/me/sessions')
  assert.equal(reply.status, 200, reply.text)
}

suite('a change of one’s own that waits', () => {
  for (const [name, change] of Object.entries(changes)) {
    for (const keyed of [false, true]) {
      test(`${name} changes nothing after its session was ended${keyed ? ', with an idempotency key' : ''} (A22)`, async () => {
        const { user, factor_id, by, other } = await twoSessions()
        const [method, url, body] = await change(by, factor_id)
        const before = await pictureOf(user)
        const headers = keyed ? { 'idempotency-key': newId() } : {}
        const reply = await waiting(user, () => as(by, method, url, body, headers), { act: () => endOthers(other) })
        assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'], reply.text)
        assert.match(String(reply.body.message), /changed nothing/)
        assert.deepEqual(await pictureOf(user), before)
        assert.deepEqual(await refusalsOf(user), [{ code: 'unauthenticated' }])
      })
    }

    test(`${name} changes nothing for a user who was deactivated, although the session is still there (A6)`, async () => {
      const { user, factor_id, by } = await twoSessions()
      const [method, url, body] = await change(by, factor_id)
      const before = await pictureOf(user)
      const statements = [sql`update tenant_user set active = false where tenant_id = ${tenant_id} and id = ${user.id}`]
      const reply = await waiting(user, () => as(by, method, url, body), { statements })
      assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'], reply.text)
      assert.deepEqual(await pictureOf(user), before)
    })

    test(`${name} is carried out where another session was ended, and a scope lost`, async () => {
      const { user, factor_id, by, other } = await twoSessions()
      const [method, url, body] = await change(by, factor_id)
      const statements = [sql`delete from user_role where tenant_id = ${tenant_id} and user_id = ${user.id}`]
      const act = async () => {
        await house.asSuperuser(`delete from user_session where user_id = $1 and id <> $2`, [
          user.id,
          sessionOf(by.token),
        ])
      }
      const reply = await waiting(user, () => as(by, method, url, body), { act, statements })
      assert.ok(reply.status < 300, reply.text)
      assert.equal((await as(other, 'GET', factorsUrl)).status, 401)
      assert.equal((await as(by, 'GET', factorsUrl)).status, 200)
    })
  }

  test('that ends the other sessions ends none after its own was ended', async () => {
    const { user, by, other } = await twoSessions()
    const third = await as(other, 'GET', '/v1/users/me/sessions')
    assert.ok((third.body.data as object[]).length >= 3)
    const replies: Promise<Reply>[] = []
    await house.database.tenant(tenant_id).interactive(async (inside) => {
      await inside.write([
        sql`delete from user_session where tenant_id = ${tenant_id} and user_id = ${user.id}
          and id <> ${sessionOf(other.token)}`,
      ])
      replies.push(as(by, 'DELETE', '/v1/users/me/sessions'))
      await aLockIsWaitedFor(house, inside)
    })
    const [reply] = await Promise.all(replies)
    assert.equal(reply?.status, 401, reply?.text)
    assert.equal((await as(other, 'GET', factorsUrl)).status, 200)
  })
})

test('every change of one’s own is confirmed, but for the few that are of no use to a thief', () => {
  const unconfirmed = Object.entries(operations)
    .filter(([, { method, credential, confirms }]) => method !== 'GET' && credential === 'user' && !confirms)
    .map(([operationId]) => operationId)
  assert.deepEqual(unconfirmed.sort(), [
    ...['addFavourite', 'logout', 'markAllNotificationsRead', 'markNotificationRead', 'removeFavourite'],
    'updateOwnPreferences',
  ])
})
