import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Client } from '../support/client.ts'
import { openDatabaseProxy } from '../support/database-proxy.ts'
import { type Credential, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** Two processes on one database: a change made at the first is effective there at once, at the second within a moment. */
const first = await startOnTestServer({ PUBLIC_URL: 'http://127.0.0.1:8080', LOG_LEVEL: 'info' })
const proxy = await openDatabaseProxy(first.service)
const second = await first.beside(proxy.target)
const { asSuperuser } = first
const admin = first.client({ api_key: first.bootstrap.api_key })
const usersPage = '/v1/users?limit=1'

const connected = 'changes of rights by other processes arrive at once'
const disconnected = 'changes of rights by other processes do not arrive'
/** Whether the second process has logged `what` after `other`. */
const says = (what: string, other: string) => second.output().lastIndexOf(what) > second.output().lastIndexOf(other)
const untilConnected = () => until('the second process receives notices', async () => says(connected, disconnected))
const untilDisconnected = () =>
  until('the second process knows that it receives no notices', async () => says(disconnected, connected))

async function change(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown, by: Client = admin) {
  const reply = await by<{ id: string; key: string }>(method, path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

const keyOf = (call: Client, scopes = ['users:read']) => change('POST', '/v1/api-keys', { name: 'a key', scopes }, call)

/** The answers of both processes to this credential. */
function seenWith(credential: Credential, path = usersPage) {
  const calls = [first.client(credential), second.client(credential)]
  const statuses = () => Promise.all(calls.map(async (call) => (await call('GET', path)).status))
  return {
    statuses,
    /** Asserts that both accept it, and cache it. */
    async areLetIn() {
      await untilConnected()
      assert.deepEqual(
        [await statuses(), await statuses()],
        [
          [200, 200],
          [200, 200],
        ],
      )
    },
    /** The first made the change and applies it in its very next answer; the second does once it is notified. */
    async get(status: 401 | 403) {
      assert.equal((await statuses())[0], status, 'the change is not in force in the process that made it')
      await until(`the second process answers ${status} too`, async () => (await statuses())[1] === status)
    },
  }
}

test('a cached token does not work as an API key (A11)', async () => {
  const { token } = await first.join('Tom', ['admin'])
  await seenWith({ token }).areLetIn()
  const swapped = await second.client({ api_key: `Bearer ${token}` })('GET', usersPage)
  assert.equal(swapped.status, 401)
})

test('a process admits a caller whose entry is cached without a query', async () => {
  const api_key = first.bootstrap.api_key
  await until('the caller is admitted while the database is unreachable', async () => {
    await seenWith({ api_key }, '/v1/policies').areLetIn()
    await asSuperuser('begin')
    await asSuperuser('lock table api_key, tenant_user in access exclusive mode')
    try {
      return (await second.client({ api_key })('GET', '/v1/policies')).status === 200
    } finally {
      await asSuperuser('rollback')
    }
  })
})

describe('a change in one process takes effect in the other', () => {
  test('a role is removed, then the user deactivated (A6)', async () => {
    const { id, token } = await first.join('Rosa', ['user', 'admin'])
    const rosa = seenWith({ token })
    await rosa.areLetIn()
    await change('PUT', `/v1/users/${id}/roles`, { roles: ['user'] })
    await rosa.get(403)
    await change('PATCH', `/v1/users/${id}`, { active: false })
    await rosa.get(401)
  })

  test('a user is deleted (A6)', async () => {
    const { id, token } = await first.join('Dora', ['admin'])
    const dora = seenWith({ token })
    await dora.areLetIn()
    await change('DELETE', `/v1/users/${id}`)
    await dora.get(401)
  })

  test('a role loses a scope, a group a role, a user a membership (A6)', async () => {
    const { id: user_id, token } = await first.join('Gina', ['user'])
    const gina = seenWith({ token })
    const role = await change('POST', '/v1/roles', { name: 'reader', scopes: ['users:read', 'grants:read'] })
    const { id } = await change('POST', '/v1/groups', { name: 'readers' })
    const map = (role_ids: string[]) => change('PUT', `/v1/groups/${id}/role-mappings`, { role_ids })
    const allow = async (act: () => Promise<unknown>) => {
      await act()
      await until('both processes admit the user', async () =>
        (await gina.statuses()).every((status) => status === 200),
      )
      await gina.areLetIn()
    }
    await map([role.id])
    await allow(() => change('POST', `/v1/groups/${id}/members`, { user_id }))
    await change('PATCH', `/v1/roles/${role.id}`, { scopes: ['grants:read'] })
    await gina.get(403)
    await allow(() => change('PATCH', `/v1/roles/${role.id}`, { scopes: ['users:read'] }))
    await map([])
    await gina.get(403)
    await allow(() => map([role.id]))
    await change('DELETE', `/v1/groups/${id}/members/${user_id}`)
    await gina.get(403)
    await allow(() => change('POST', `/v1/groups/${id}/members`, { user_id }))
    await change('DELETE', `/v1/groups/${id}`)
    await gina.get(403)
  })

  test('a key is revoked (A9)', async () => {
    const { id, key } = await keyOf(admin)
    const holder = seenWith({ api_key: key })
    await holder.areLetIn()
    await change('DELETE', `/v1/api-keys/${id}`)
    await holder.get(401)
  })

  test('the creator of a key loses a scope, then is deactivated, with effect on the key (A10)', async () => {
    const { id, call } = await first.join('Kim', ['user', 'admin'])
    const { key } = await keyOf(call)
    const holder = seenWith({ api_key: key })
    await holder.areLetIn()
    await change('PUT', `/v1/users/${id}/roles`, { roles: ['user'] })
    await holder.get(403)
    await change('PATCH', `/v1/users/${id}`, { active: false })
    await holder.get(401)
  })

  test('a key revokes itself, and is refused at both processes (A15)', async () => {
    const { id, key } = await keyOf(admin, ['users:read', 'api_keys:write'])
    const holder = seenWith({ api_key: key })
    await holder.areLetIn()
    await change('DELETE', `/v1/api-keys/${id}`, undefined, first.client({ api_key: key }))
    await holder.get(401)
  })
})

test('a key in constant use expires on time, by the database’s clock (A9)', async () => {
  const { id, key } = await keyOf(admin)
  const holder = seenWith({ api_key: key })
  await holder.areLetIn()
  await asSuperuser(`update api_key set expires_at = clock_timestamp() + interval '2 seconds' where id = $1`, [id])
  await until('the key has expired', async () => {
    await holder.statuses()
    return (await asSuperuser('select from api_key where id = $1 and expires_at <= clock_timestamp()', [id])).length > 0
  })
  assert.deepEqual(await holder.statuses(), [401, 401])
})

/** Changes without a notice, as if the notice were lost. */
async function withoutNotices(act: () => Promise<void>): Promise<void> {
  await asSuperuser('alter table tenant_user disable trigger tenant_user_authority')
  try {
    await act()
  } finally {
    await asSuperuser('alter table tenant_user enable trigger tenant_user_authority')
  }
}

const setActive = (id: string, active: boolean) =>
  asSuperuser('update tenant_user set active = $2 where id = $1', [id, active])

test('a change without a notice takes effect once the cached entry is too old (A6)', async () => {
  const { id, token } = await first.join('Nora', ['admin'])
  const nora = seenWith({ token })
  await nora.areLetIn()
  await withoutNotices(async () => {
    await setActive(id, false)
    await until('neither process admits the user', async () =>
      (await nora.statuses()).every((status) => status === 401),
    )
  })
})

test('while the listening connection is half-open, every request queries the database (F15)', async () => {
  const { id, token } = await first.join('Hal', ['admin'])
  await seenWith({ token }).areLetIn()
  proxy.hold()
  await untilDisconnected()
  const hal = second.client({ token })
  await withoutNotices(async () => {
    for (const active of [true, false, true, false]) {
      await setActive(id, active)
      assert.equal((await hal('GET', usersPage)).status, active ? 200 : 401)
    }
  })
  assert.equal((await fetch(`${second.base_url}/readyz`)).status, 200, 'it can still serve')
  proxy.repair()
  await untilConnected()
})

test('if the database cannot be queried either, the answer is 503, and missed changes take effect afterwards (F3, F15)', async () => {
  const { id, token } = await first.join('Cora', ['admin'])
  await seenWith({ token }).areLetIn()
  const cora = second.client({ token })
  proxy.cut()
  await until('the process answers 503', async () => (await cora('GET', usersPage)).status === 503)
  assert.equal((await fetch(`${second.base_url}/livez`)).status, 200)
  await change('PATCH', `/v1/users/${id}`, { active: false })
  await untilDisconnected()
  proxy.repair()
  await untilConnected()
  const status = await until('the process answers again', async () => {
    const reply = await cora('GET', usersPage)
    return reply.status !== 503 && reply.status
  })
  assert.equal(status, 401)
})
