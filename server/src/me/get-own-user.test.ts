import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person, type TestTenant } from '../../test/support/house.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { unreadCount } from '../notifications/notification-store.ts'
import { systemRoles } from '../roles/role.ts'
import { setSlug } from '../tenants/operator.flow.ts'

/** Counts the statements that a call reads with. */
let reads = 0
const house = await openHouse({}, (database) => ({
  ...database,
  tenant(tenant_id) {
    const tx = database.tenant(tenant_id)
    const read: Tx['read'] = (statement) => {
      reads += 1
      return tx.read(statement)
    }
    return { ...tx, read }
  },
}))
const tenant = await house.tenant('Acme', { withDefaults: true })
const { tenant_id, owner, people } = tenant

type Me = {
  tenant: unknown
  is_owner: boolean
  roles: { id: string; name: string; own: boolean }[]
  groups: { id: string; name: string }[]
  scopes: string[]
  preferences: Record<string, unknown>
  limits: Record<string, unknown>
  unread_notifications: number
  sign_in: { needs_second_factor: boolean }
}

async function me(by: Person, of: TestTenant = tenant): Promise<Me> {
  const reply = await house.call({ method: 'GET', url: '/v1/users/me', token: by.token, tenant_id: of.tenant_id })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Me
}

async function change(of: TestTenant, method: string, url: string, body: unknown): Promise<Record<string, unknown>> {
  const reply = await house.call({ method, url, body, token: of.owner.token, tenant_id: of.tenant_id })
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}
const set = (of: TestTenant, key: string, value: string) => change(of, 'PUT', `/v1/settings/${key}`, { value })

suite('the caller', () => {
  test('is a user with a tenant, roles, scopes, preferences, limits and a sign-in', async () => {
    const [session] = await house.asSuperuser<{ auth_time: string; amr: string[] }>(
      'select auth_time, amr from user_session where user_id = $1',
      [people.user.user_id],
    )
    assert.deepEqual(await me(people.user), {
      id: people.user.user_id,
      email: 'user@example.com',
      name: 'user',
      tenant: { id: tenant_id, name: 'Acme', slug: null, mode: 'rehearsal' },
      is_owner: false,
      roles: [{ id: 'user', name: 'User', own: true }],
      groups: [],
      scopes: ['requests:create'],
      preferences: { locale: 'en', timezone: 'UTC', date_format: null, time_format: null, chosen: [] },
      limits: {
        require_reason: true,
        default_duration_seconds: 3_600,
        max_duration_seconds: 28_800,
        pending_ttl_seconds: 28_800,
        max_pending_requests: 100,
      },
      unread_notifications: 0,
      sign_in: { ...session, needs_second_factor: false },
    })
  })

  test('sees whether they own the tenant, its slug, and that it is live', async () => {
    const of = await house.tenant('Live')
    await setSlug(house.database, { tenant_id: of.tenant_id, slug: 'live-one' })
    await house.asSuperuser(`update tenant set mode = 'live', live_since = now() where id = $1`, [of.tenant_id])
    const expected = { id: of.tenant_id, name: 'Live', slug: 'live-one', mode: 'live' }
    assert.deepEqual((await me(of.people.user, of)).tenant, expected)
    assert.deepEqual([(await me(owner)).is_owner, (await me(people.admin)).is_owner], [true, false])
  })

  test('is read in one round trip', async () => {
    const readsOf = async (url: string) => {
      await house.call({ method: 'GET', url, token: people.user.token, tenant_id })
      reads = 0
      assert.equal((await house.call({ method: 'GET', url, token: people.user.token, tenant_id })).status, 200)
      return reads
    }
    assert.equal(await readsOf('/v1/users/me'), await readsOf('/v1/users/me/preferences'))
  })

  test('is never an API key (A11)', async () => {
    for (const api_key of [owner.api_key, people.admin.api_key]) {
      const reply = await house.call({ method: 'GET', url: '/v1/users/me', api_key, tenant_id })
      assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
      assert.match(String(reply.body.message), /takes no API key/)
    }
  })

  test('is not the user whose id is me: there is nothing to change or delete', async () => {
    for (const method of ['PATCH', 'DELETE']) {
      const reply = await house.call({ method, url: '/v1/users/me', token: owner.token, tenant_id })
      assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET, HEAD'])
    }
  })

  test('has an `ETag` that changes with what is shown', async () => {
    const tag = async () =>
      (await house.call({ method: 'GET', url: '/v1/users/me', token: people.auditor.token, tenant_id })).headers.etag
    const before = await tag()
    assert.equal(await tag(), before)
    await house.notification(tenant_id, people.auditor.user_id)
    assert.notEqual(await tag(), before)
  })
})

suite('roles, groups and scopes', () => {
  test('are the own ones and those by groups, by name, and take effect at once', async () => {
    const of = await house.tenant('Grouped')
    const by = of.people.user
    const keeper = await change(of, 'POST', '/v1/roles', { name: 'Keeper', scopes: ['cloud_accounts:read'] })
    const group = async (name: string) => String((await change(of, 'POST', '/v1/groups', { name })).id)
    const [onCall, catalogue] = [await group('On call'), await group('Catalogue')]
    await group('Not theirs')
    for (const id of [onCall, catalogue]) await change(of, 'POST', `/v1/groups/${id}/members`, { user_id: by.user_id })
    const mappings = `/v1/groups/${onCall}/role-mappings`
    await change(of, 'PUT', mappings, { role_ids: ['user', 'approver', keeper.id] })
    const seen = await me(by, of)
    assert.deepEqual(seen.groups, [
      { id: catalogue, name: 'Catalogue' },
      { id: onCall, name: 'On call' },
    ])
    assert.deepEqual(seen.roles, [
      { id: 'approver', name: 'Approver', own: false },
      { id: keeper.id, name: 'Keeper', own: false },
      { id: 'user', name: 'User', own: true },
    ])
    assert.deepEqual(seen.scopes, [...systemRoles.approver.scopes, 'cloud_accounts:read'].sort())
    await change(of, 'PUT', mappings, { role_ids: [] })
    const after = await me(by, of)
    assert.deepEqual([after.roles.map(({ id }) => id), after.scopes], [['user'], ['requests:create']])
  })

  test('are listed 200 at most, and all count for the scopes', async () => {
    const of = await house.tenant('Many')
    const { user_id } = of.people.user
    await house.asSuperuser(
      `with made as (insert into tenant_group (tenant_id, id, name, source)
        select $1, gen_random_uuid(), 'group ' || n, 'local' from generate_series(1, 205) n returning id),
      given as (insert into role (tenant_id, id, name, scopes)
        select $1, gen_random_uuid()::text, 'role ' || n, array['users:read'] from generate_series(1, 204) n
        union all select $1, 'ffffffff-ffff-4fff-bfff-ffffffffffff', 'last', array['audit:read'] returning id),
      held as (insert into user_role (tenant_id, user_id, role_id) select $1, $2, id from given)
      insert into group_member (tenant_id, group_id, user_id, membership_source) select $1, id, $2, 'local' from made`,
      [of.tenant_id, user_id],
    )
    const { roles, groups, scopes } = await me(of.people.user, of)
    assert.deepEqual([roles.length, groups.length], [200, 200])
    assert.deepEqual(scopes, ['audit:read', 'requests:create', 'users:read'])
  })
})

suite('preferences', () => {
  test('are the user’s own, else the tenant’s, else the default', async () => {
    const of = await house.tenant('Preferring')
    await set(of, 'locale.default', 'de')
    await set(of, 'timezone.default', 'Europe/Berlin')
    const formats = { date_format: null, time_format: null }
    const tenants = { locale: 'de', timezone: 'Europe/Berlin', ...formats, chosen: [] }
    assert.deepEqual((await me(of.people.user, of)).preferences, tenants)
    const { token } = of.people.user
    const own = { locale: 'pt-BR', time_format: '24h' }
    const url = '/v1/users/me/preferences'
    await house.call({ method: 'PATCH', url, body: own, token, tenant_id: of.tenant_id })
    const chosen = ['locale', 'time_format']
    assert.deepEqual((await me(of.people.user, of)).preferences, { ...tenants, ...own, chosen })
    assert.deepEqual((await me(of.people.admin, of)).preferences, tenants)
  })
})

suite('limits', () => {
  test('are those of the tenant, and no default is above the maximum', async () => {
    const of = await house.tenant('Limited')
    await set(of, 'requests.max_duration_seconds', '1800')
    await set(of, 'requests.require_reason', 'true')
    await set(of, 'requests.pending_ttl_seconds', '600')
    assert.deepEqual((await me(of.people.user, of)).limits, {
      require_reason: true,
      default_duration_seconds: 1_800,
      max_duration_seconds: 1_800,
      pending_ttl_seconds: 600,
      max_pending_requests: 100,
    })
  })
})

suite('unread notifications', () => {
  /** More of the same notification, read or not. */
  const copies = (id: string, count: number, read_at: Date | null) =>
    house.asSuperuser(
      `with original as (select * from notification where id = $1),
      source as (select o.tenant_id, gen_random_uuid() as id, e.type, e.actor_kind, e.subject_type, e.subject_id,
          e.request_id from original o join event e on e.tenant_id = o.tenant_id and e.id = o.event_id,
          generate_series(1, $2::integer)),
      events as (insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
        select * from source)
      insert into notification (tenant_id, id, user_id, event_id, event_type, title, body, read_at)
      select s.tenant_id, gen_random_uuid(), o.user_id, s.id, o.event_type, o.title, o.body, $3::timestamptz
      from source s, original o`,
      [id, count, read_at],
    )

  test('are counted, up to 100, and only the caller’s', async () => {
    const unread = async (by: Person) => (await me(by)).unread_notifications
    const id = await house.notification(tenant_id, people.admin.user_id)
    assert.deepEqual([await unread(people.admin), await unread(people.approver)], [1, 0])
    await copies(id, 40, new Date('2026-01-01T00:00:00Z'))
    assert.equal(await unread(people.admin), 1)
    await copies(id, 98, null)
    assert.equal(await unread(people.admin), 99)
    await copies(id, 30, null)
    assert.equal(await unread(people.admin), 100)
    const url = '/v1/users/me/notifications/read-all'
    const all = await house.call({ method: 'POST', url, token: people.admin.token, tenant_id })
    assert.equal(all.status, 200, all.text)
    assert.equal(await unread(people.admin), 0)
  })

  test('cost the same to count however many the caller has read', async () => {
    const id = await house.notification(tenant_id, people.approver.user_id)
    await copies(id, 5_000, new Date('2026-01-01T00:00:00Z'))
    await house.asSuperuser('analyze notification')
    const tx = house.database.tenant(tenant_id)
    const count = unreadCount(tx, sql`${people.approver.user_id}::uuid`, 100)
    const plan = JSON.stringify(await tx.read(sql`explain (analyze, buffers, format json) select ${count}`))
    assert.match(plan, /notification_unread_id_ix/)
  })
})

suite('the sign-in', () => {
  test('needs a second factor for a local admin or approver, by a group too, unless the tenant has set otherwise', async () => {
    const of = await house.tenant('Factors')
    const needs = async (by: Person) => (await me(by, of)).sign_in.needs_second_factor
    const { user, admin, approver, auditor } = of.people
    const all = async () => Promise.all([user, admin, approver, auditor].map(needs))
    assert.deepEqual(await all(), [false, true, true, false])
    const group = await change(of, 'POST', '/v1/groups', { name: 'approvers' })
    await change(of, 'PUT', `/v1/groups/${group.id}/role-mappings`, { role_ids: ['approver'] })
    await change(of, 'POST', `/v1/groups/${group.id}/members`, { user_id: user.user_id })
    await house.asSuperuser(`update tenant_user set auth_provider = 'oidc' where id = $1`, [admin.user_id])
    assert.deepEqual(await all(), [true, false, true, false])
    await set(of, 'auth.second_factor_required', 'false')
    assert.deepEqual(await all(), [false, false, false, false])
  })
})
