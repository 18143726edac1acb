import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Statement } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { resetOwner } from '../../src/tenants/operator.flow.ts'
import { noPrecondition, noteSignIn } from '../../src/users/provider-user-store.ts'
import { browsersOf, cookieSetBy, ownSessions, publicUrl, sessionOf } from '../support/browser.ts'
import { cheapPassword, openHouse, type TestTenant } from '../support/house.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/wait.ts'

/** A sign-in whose password was right, or whose provider said yes, and that is late: what ends the user’s sessions runs meanwhile. */
const house = await openHouse({ PUBLIC_URL: publicUrl })

let tenant: TestTenant
let user: { id: string; email: string }
beforeEach(async () => {
  tenant = await house.tenant('late sign-ins')
  user = { id: tenant.owner.user_id, email: 'owner@example.com' }
})

const byOwner = (method: string, url: string, body?: unknown) => {
  const call = { method, url, token: tenant.owner.token, tenant_id: tenant.tenant_id }
  return house.call({ ...call, ...(body !== undefined && { body }) })
}

/** A second user with a password, who may be deactivated. */
async function join(): Promise<void> {
  const email = `${newId()}@example.com`
  const made = await byOwner('POST', '/v1/users', { email, name: 'Late', roles: ['user'], auth_provider: 'oidc' })
  assert.equal(made.status, 201, made.text)
  user = { id: String(made.body.id), email }
  await house.asSuperuser(`update tenant_user set auth_provider = 'local' where id = $1`, [user.id])
  await house.asSuperuser('insert into user_password (tenant_id, user_id, hash) values ($1, $2, $3)', [
    ...[tenant.tenant_id, user.id, cheapPassword.hash],
  ])
}

const login = () =>
  house.call({
    ...{ method: 'POST', url: '/v1/auth/login', tenant_id: tenant.tenant_id },
    body: { email: user.email, password: cheapPassword.text },
  })

/** How many transactions wait for a lock of the house’s database. */
async function waiting(): Promise<number> {
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await house.asSuperuser(waits)).length
}

/** Begins the call, and returns when it waits for a lock as the `nth` one, or has ended because it takes none. */
async function begin<Result>(call: () => Promise<Result>, nth: number): Promise<{ result: Promise<Result> }> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  const result = call()
  void result.then(end, end)
  await until('it waits for the lock', async () => isOver || (await waiting()) >= nth)
  return { result }
}

/** Begins both calls while a transaction has the row. Both wait for it: the first gets it first, and the second waits for the first. */
async function inOrder<One, Other>(
  row: Statement,
  one: () => Promise<One>,
  other: () => Promise<Other>,
): Promise<[One, Other]> {
  const begun = await house.database.tenant(tenant.tenant_id).interactive(async (inside) => {
    await inside.write([row])
    return [await begin(one, 1), await begin(other, 2)] as const
  })
  return [await begun[0].result, await begun[1].result]
}

const userRow = () => sql`select from tenant_user where tenant_id = ${tenant.tenant_id} and id = ${user.id} for update`
const passwordRow = () =>
  sql`select from user_password where tenant_id = ${tenant.tenant_id} and user_id = ${user.id} for update`

test('sign-ins of one user wait for each other, so that they cannot put off what waits to stop the user (A6)', async () => {
  const shared = sql`select from tenant_user where tenant_id = ${tenant.tenant_id} and id = ${user.id} for share`
  const late = await house.database.tenant(tenant.tenant_id).interactive(async (inside) => {
    await inside.write([shared])
    const begun = await begin(login, 1)
    assert.equal(await waiting(), 1)
    return begun
  })
  assert.equal((await late.result).status, 200)
})

/** Everything that ends a user’s sessions, and the row for which a late sign-in waits. */
const endings: Record<string, { prepare?(): Promise<void>; row(): Statement; end(): Promise<unknown> }> = {
  'a changed password': {
    row: passwordRow,
    end: async () => {
      const body = { current_password: cheapPassword.text, new_password: 'another long password' }
      assert.equal((await byOwner('POST', '/v1/users/me/password', body)).status, 204)
    },
  },
  'a password that the operator resets': {
    row: passwordRow,
    end: () => resetOwner(house.database, { email: user.email, tenant_id: tenant.tenant_id }),
  },
  'a deactivation': {
    prepare: join,
    row: userRow,
    end: async () => assert.equal((await byOwner('PATCH', `/v1/users/${user.id}`, { active: false })).status, 200),
  },
  'a suspension': {
    prepare: join,
    row: userRow,
    end: async () => assert.equal((await byOwner('POST', `/v1/users/${user.id}/suspend`)).status, 200),
  },
  'a deletion': {
    prepare: join,
    row: userRow,
    end: async () => assert.equal((await byOwner('DELETE', `/v1/users/${user.id}`)).status, 204),
  },
}

/** The user’s living sessions, but the one of the owner who made the change. */
async function livingSessions(): Promise<unknown[]> {
  return house.asSuperuser('select id from user_session where user_id = $1 and id <> $2', [
    ...[user.id, sessionOf(tenant.owner.token)],
  ])
}

for (const [name, { prepare, row, end }] of Object.entries(endings)) {
  suite(`a sign-in during ${name}`, () => {
    test('that has checked the password before gets no session after it (A6)', async () => {
      await prepare?.()
      const [, reply] = await inOrder(row(), end, login)
      assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'], reply.text)
      assert.deepEqual(await livingSessions(), [])
    })

    test('that is recorded just before it is ended by it, token and all (A6)', async () => {
      await prepare?.()
      const [reply] = await inOrder(row(), login, end)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(await livingSessions(), [])
      const call = { method: 'GET', url: ownSessions, token: String(reply.body.token), tenant_id: tenant.tenant_id }
      assert.equal((await house.call(call)).status, 401)
      assert.equal((await browsersOf(house).start(String(reply.body.token))).status, 401)
    })
  })
}

suite('a sign-in by a provider during a deactivation', () => {
  const signIn = () => {
    const actor = { kind: 'user', user_id: user.id, api_key_id: null, scopes: new Set<string>() } as const
    const ctx = { tx: house.database.tenant(tenant.tenant_id), actor, request_id: 'test' }
    return noteSignIn(
      ctx,
      { user_id: user.id, verifies: true },
      { data: {}, session: aSession(), provider: noPrecondition },
    )
  }
  const deactivate = () => byOwner('PATCH', `/v1/users/${user.id}`, { active: false })

  test('is refused after it (A6)', async () => {
    await join()
    const [reply, at] = await inOrder(userRow(), deactivate, signIn)
    assert.deepEqual([reply.status, at], [200, undefined])
    assert.deepEqual(await livingSessions(), [])
  })

  test('has no session after it (A6)', async () => {
    await join()
    const [noted, reply] = await inOrder(userRow(), signIn, deactivate)
    assert.ok(noted?.now instanceof Date)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(await livingSessions(), [])
  })
})

test('a browser that asks for a session while it is being ended gets none (A6, A16)', async () => {
  const token = await house.tokenOf(tenant.tenant_id, user.id, new Date())
  const session_id = sessionOf(token)
  const row = sql`select from user_session where tenant_id = ${tenant.tenant_id} and id = ${session_id} for update`
  const [others, reply] = await inOrder(
    row,
    () => byOwner('DELETE', ownSessions),
    () => browsersOf(house).start(token),
  )
  assert.equal(others.status, 200)
  assert.deepEqual([reply.status, cookieSetBy(reply)], [401, undefined])
  assert.deepEqual(await livingSessions(), [])
})
