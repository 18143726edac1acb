import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import type { Statement, Tx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import { openHouse, type Person, type Reply } from '../support/house.ts'
import { aLockIsWaitedFor, locksAreWaitedFor } from '../support/lock.ts'
import { until } from '../support/wait.ts'

/** Calls that were admitted before their caller lost a right, and that go on afterwards. */
const house = await openHouse()
const { tenant_id, owner } = await house.tenant('late calls')
const tx = house.database.tenant(tenant_id)

const call = (by: Partial<Person>, method: string, url: string, body?: unknown, headers = {}) => {
  const credential = by.token === undefined ? { api_key: String(by.api_key) } : { token: by.token }
  return house.call({ method, url, ...credential, tenant_id, headers, ...(body !== undefined && { body }) })
}

async function made(method: string, url: string, body?: unknown): Promise<string> {
  const { status, body: record, text } = await call(owner, method, url, body)
  assert.ok(status < 300, text)
  return String(record.id)
}

const address = () => `${newId()}@example.com`
const accomplice = () => ({ email: address(), name: 'Accomplice', roles: ['admin'], auth_provider: 'oidc' })

/** An admin by a role of their own, or by a group. */
async function admin(by: 'role' | 'group'): Promise<{ id: string; group: string; person: Person }> {
  const roles = by === 'role' ? ['user', 'admin'] : ['user']
  const id = await made('POST', '/v1/users', { email: address(), name: 'Admin', roles, auth_provider: 'oidc' })
  const group = await made('POST', '/v1/groups', { name: 'Admins' })
  await made('PUT', `/v1/groups/${group}/role-mappings`, { role_ids: ['admin'] })
  if (by === 'group') await made('POST', `/v1/groups/${group}/members`, { user_id: id })
  return { id, group, person: await house.person(tenant_id, id) }
}

const whose = (id: string) => sql`tenant_id = ${tenant_id} and id = ${id}`
const isAdmin = async (id: string) => {
  const [row] = await house.asSuperuser<{ admin: boolean }>(
    `select active and coalesce(suspended_until < now(), true) and deleted_at is null and (
        exists (select from user_role where user_id = u.id and role_id = 'admin')
        or exists (select from group_member m join group_role r using (tenant_id, group_id)
          where m.user_id = u.id and r.role_id = 'admin')) as admin
      from tenant_user u where id = $1`,
    [id],
  )
  return row?.admin
}

suite('a call that waits for the very change that takes the caller’s rights', () => {
  type Loop = { by: 'role' | 'group'; takes(id: string, group: string): Statement[]; back: [string, string, unknown?] }
  const suspends = (id: string) =>
    sql`update tenant_user set suspended_until = now() + interval '1 day' where ${whose(id)}`
  const ways: Record<string, Loop> = {
    'does not end a suspension': {
      by: 'role',
      takes: (id) => [suspends(id)],
      back: ['POST', '/v1/users/{id}/unsuspend'],
    },
    'does not reactivate': {
      by: 'role',
      takes: (id) => [sql`update tenant_user set active = false where ${whose(id)}`],
      back: ['PATCH', '/v1/users/{id}', { active: true }],
    },
    'gives back no role': {
      by: 'role',
      takes: (id) => [
        sql`select from tenant_user where ${whose(id)} for no key update`,
        sql`delete from user_role where tenant_id = ${tenant_id} and user_id = ${id} and role_id = 'admin'`,
      ],
      back: ['PUT', '/v1/users/{id}/roles', { roles: ['user', 'admin'] }],
    },
    'gives back no membership': {
      by: 'group',
      takes: (id) => [sql`delete from group_member where tenant_id = ${tenant_id} and user_id = ${id}`],
      back: ['POST', '/v1/groups/{group}/members', { user_id: '{id}' }],
    },
    'gives a group no role back': {
      by: 'group',
      takes: (_id, group) => [
        sql`select from tenant_group where ${whose(group)} for no key update`,
        sql`delete from group_role where tenant_id = ${tenant_id} and group_id = ${group}`,
      ],
      back: ['PUT', '/v1/groups/{group}/role-mappings', { role_ids: ['admin'] }],
    },
  }
  for (const [name, { by, takes, back }] of Object.entries(ways)) {
    for (const headers of [{}, { 'idempotency-key': newId() }]) {
      const keyed = Object.keys(headers).length > 0 ? ', with an idempotency key' : ''
      test(`${name}${keyed} (P35)`, async () => {
        const { id, group, person } = await admin(by)
        const fill = (text: string) => text.replace('{id}', id).replace('{group}', group)
        const [method, url, body] = back
        const sent = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)))
        const replies: Promise<Reply>[] = []
        await tx.interactive(async (inside: Tx) => {
          await inside.write(takes(id, group))
          replies.push(call(person, method, fill(url), sent, headers))
          await aLockIsWaitedFor(house, inside)
        })
        const [reply] = await Promise.all(replies)
        assert.ok([401, 403].includes(reply?.status ?? 0), reply?.text)
        assert.equal(await isAdmin(id), false)
        const refusals = await house.asSuperuser(
          `select data ->> 'code' as code from event where type = 'access.refused' and actor_id = $1`,
          [id],
        )
        assert.deepEqual(refusals, [{ code: reply?.body.code }], 'the audit log has it')
      })
    }
  }

  test('creates nobody, whatever it waits for (P35)', async () => {
    const { id, person } = await admin('role')
    const body = accomplice()
    const replies: Promise<Reply>[] = []
    const release = tx.interactive(async (inside) => {
      await inside.write([
        sql`insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
          values (${tenant_id}, ${newId()}, ${body.email}, ${body.email}, 'in the way', 'oidc')`,
      ])
      replies.push(call(person, 'POST', '/v1/users', body))
      await aLockIsWaitedFor(house, inside)
      assert.equal((await call(owner, 'POST', `/v1/users/${id}/suspend`)).status, 200)
      throw new Error('made nobody')
    })
    await assert.rejects(release, /made nobody/)
    const [reply] = await Promise.all(replies)
    assert.equal(reply?.status, 401, reply?.text)
    assert.deepEqual(await house.asSuperuser('select id from tenant_user where email = $1', [body.email]), [])
  })
})

suite('a call whose body comes after the caller’s rights have ended', () => {
  /** Sends the head and the first byte of the body, then `meanwhile`, then the rest. */
  async function slowly(
    by: Partial<Person>,
    method: string,
    url: string,
    body: unknown,
    meanwhile: () => Promise<unknown>,
  ) {
    const text = JSON.stringify(body)
    let isRead = false
    const payload = new Readable({
      read() {
        isRead = true
      },
    })
    payload.push(text.slice(0, 1))
    const reply = house.app.server.inject({
      method: method as 'POST',
      url,
      headers: {
        ...(by.token === undefined ? { 'x-api-key': by.api_key } : { authorization: `Bearer ${by.token}` }),
        'x-tenant-id': tenant_id,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      },
      payload,
    })
    await until('the body is read, so the call was admitted', async () => isRead)
    await meanwhile()
    payload.push(text.slice(1))
    payload.push(null)
    return reply
  }

  const suspend = (id: string) => () => made('POST', `/v1/users/${id}/suspend`)
  const ended: Record<string, (id: string) => () => Promise<unknown>> = {
    suspended: suspend,
    deactivated: (id) => () => made('PATCH', `/v1/users/${id}`, { active: false }),
    deleted: (id) => () => call(owner, 'DELETE', `/v1/users/${id}`),
    demoted: (id) => () => made('PUT', `/v1/users/${id}/roles`, { roles: ['user'] }),
  }
  for (const [name, end] of Object.entries(ended)) {
    test(`creates nobody for a caller who was ${name} (A6, P35)`, async () => {
      const { id, person } = await admin('role')
      const body = accomplice()
      const reply = await slowly({ token: person.token }, 'POST', '/v1/users', body, end(id))
      assert.equal(reply.statusCode, name === 'demoted' ? 403 : 401, reply.body)
      assert.deepEqual(await house.asSuperuser('select id from tenant_user where email = $1', [body.email]), [])
    })
  }

  test('changes no setting for a caller who was demoted (A6)', async () => {
    const { id, person } = await admin('role')
    const url = '/v1/settings/requests.require_reason'
    const reply = await slowly(
      { token: person.token },
      'PUT',
      url,
      { value: 'true' },
      ended.demoted?.(id) ?? assert.fail,
    )
    assert.equal(reply.statusCode, 403, reply.body)
    assert.equal((await call(owner, 'GET', url)).body.value, 'false')
  })

  test('creates nobody for a key that was revoked (A9)', async () => {
    const key = await call(owner, 'POST', '/v1/api-keys', { name: 'a key', scopes: ['users:write'] })
    const { key: api_key, id } = key.body
    const revoke = () => made('DELETE', `/v1/api-keys/${id}`)
    const body = { ...accomplice(), roles: [] }
    const reply = await slowly({ api_key: String(api_key) }, 'POST', '/v1/users', body, revoke)
    assert.equal(reply.statusCode, 401, reply.body)
  })

  test('neither ends a suspension nor changes a password nor asks for access (P35)', async () => {
    for (const [method, path, body] of [
      ['POST', '/v1/users/{id}/unsuspend', {}],
      ['POST', '/v1/users/me/password', { current_password: 'x', new_password: 'a long enough password' }],
      ['POST', '/v1/requests', { resource: { type: 'cloud_account', id: '123456789012' }, action: 'A' }],
    ] as const) {
      const { id, person } = await admin('role')
      const reply = await slowly({ token: person.token }, method, path.replace('{id}', id), body, suspend(id))
      assert.equal(reply.statusCode, 401, `${path}: ${reply.body}`)
      assert.equal(await isAdmin(id), false)
    }
  })

  test('is carried out for a caller whose rights go on', async () => {
    const { person } = await admin('role')
    const reply = await slowly({ token: person.token }, 'POST', '/v1/users', accomplice(), async () => undefined)
    assert.equal(reply.statusCode, 201, reply.body)
  })

  // The last one: no tenant goes back from being live.
  test('and whose tenant went live meanwhile needs the fresh sign-in that it then needs (A6)', async () => {
    const { id, person } = await admin('role')
    await house.asSuperuser(`update user_session set auth_time = now() - interval '2 hours' where user_id = $1`, [id])
    const goLive = () =>
      house.asSuperuser(`update tenant set mode = 'live', live_since = now() where id = $1`, [tenant_id])
    const url = '/v1/settings/auth.second_factor_required'
    const reply = await slowly({ token: person.token }, 'PUT', url, { value: 'false' }, goLive)
    assert.deepEqual([reply.statusCode, reply.json().code], [403, 'sign_in_again'], reply.body)
    assert.equal((await call({ api_key: owner.api_key }, 'GET', url)).body.value, 'true')
  })
})

test('changes that hold every connection do not wait for another one to check their caller (S1)', async () => {
  const busy = await openHouse()
  const { tenant_id: of, owner: by } = await busy.tenant('with a user of many groups')
  // Their rights take longer to read than a read of the connection that all calls share may take.
  await busy.asSuperuser(
    `with made as (insert into tenant_group (tenant_id, id, name, source)
        select $1, gen_random_uuid(), 'group ' || n, 'local' from generate_series(1, 2000) as n returning id),
      given as (insert into group_role (tenant_id, group_id, role_id) select $1, id, 'admin' from made)
      insert into group_member (tenant_id, group_id, user_id, membership_source)
        select $1, id, $2, 'local' from made`,
    [of, by.user_id],
  )
  const send = (method: string, url: string, body: unknown) =>
    busy.call({ method, url, body, token: by.token, tenant_id: of })
  const named = (name: string) => ({ email: address(), name, roles: [], auth_provider: 'oidc' })
  const ids: string[] = []
  for (const name of ['A', 'B', 'C', 'D']) ids.push(String((await send('POST', '/v1/users', named(name))).body.id))
  const beside = openDatabase(busy.service, { writes: 1, long: 1 })
  const replies = ids.map(() => Promise.resolve<Reply | undefined>(undefined))
  await beside.tenant(of).interactive(async (inside) => {
    await inside.write([sql`select from tenant_user where tenant_id = ${of} and id = any(${ids}::uuid[]) for update`])
    ids.forEach((id, n) => {
      replies[n] = send('PATCH', `/v1/users/${id}`, { name: 'Z' })
    })
    // Each holds one of the three connections.
    await locksAreWaitedFor(busy, 3)
  })
  for (const reply of await Promise.all(replies)) assert.equal(reply?.status, 200, reply?.text)
  await beside.close()
})
