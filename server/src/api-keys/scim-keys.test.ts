import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { openHouse, type Reply, type TestTenant } from '../../test/support/house.ts'
import { findDirectoryScopes } from '../groups/group-member-store.ts'
import { newId } from '../kernel/id.ts'
import { insertScimKey } from './api-key-store.ts'

const house = await openHouse()
const acme = await house.tenant('Acme')
const other = await house.tenant('Other')
let provider: string
let foreign: string

const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
const makeProvider = async (tenant: TestTenant) => {
  const body = { name: 'Directory', provider_type: 'custom_scim' }
  return String((await as(tenant, 'POST', '/v1/identity-providers', body)).body.id)
}
const create = (tenant: TestTenant, more: object) => as(tenant, 'POST', '/v1/api-keys', { name: 'scim', ...more })
const list = async (tenant: TestTenant, query: string) => (await as(tenant, 'GET', `/v1/api-keys${query}`)).body

before(async () => {
  provider = await makeProvider(acme)
  foreign = await makeProvider(other)
})

suite('a SCIM key', () => {
  test('is linked to its provider, shown once, and its event holds the link', async () => {
    const made = await create(acme, { identity_provider_id: provider.toUpperCase() })
    assert.equal(made.status, 201)
    const { id, key, created_at, ...rest } = made.body
    assert.match(String(key), /^spscim_/)
    assert.match(String(created_at), /Z$/)
    assert.deepEqual(rest, {
      name: 'scim',
      scopes: ['scim:provision'],
      created_by: acme.owner.user_id,
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      revoked_by: null,
      identity_provider_id: provider,
    })
    const [event] = await house.asSuperuser<{ data: Record<string, unknown> }>(
      'select data from event where subject_id = $1',
      [id],
    )
    assert.equal(event?.data.identity_provider_id, provider)
    const revoked = await as(acme, 'DELETE', `/v1/api-keys/${id}`)
    assert.equal(revoked.body.identity_provider_id, provider)
  })

  test('for a provider of another tenant is refused like one for an unknown provider (T2, T9)', async () => {
    const replies = await Promise.all([foreign, newId()].map((id) => create(acme, { identity_provider_id: id })))
    const [theirs, none] = replies as [Reply, Reply]
    assert.deepEqual([theirs.status, theirs.body.code, theirs.text], [422, 'unprocessable', none.text])
  })

  test('gives access to SCIM only: it is no API credential, under any prefix', async () => {
    const { key } = (await create(acme, { identity_provider_id: provider })).body
    const [, id, secret] = String(key).split('_')
    const ours = acme.owner.api_key
    assert.equal(
      withChecksum(ours.slice(0, ours.lastIndexOf('_'))),
      ours,
      'the test computes the checksum of a key correctly',
    )
    const disguised = withChecksum(`sp_${id}_${secret}`)
    for (const api_key of [String(key), disguised]) {
      for (const url of ['/v1/api-keys', '/v1/permissions', '/v1/requests']) {
        const reply = await house.call({ method: 'GET', url, api_key, tenant_id: acme.tenant_id })
        const wrong = await house.call({ method: 'GET', url, api_key: 'sp_wrong', tenant_id: acme.tenant_id })
        assert.deepEqual([reply.status, reply.text], [401, wrong.text])
      }
    }
  })
})

suite('a caller who creates a SCIM key', () => {
  const needed = ['api_keys:write', 'identity_providers:write', 'users:write', 'groups:write']
  let desk: TestTenant
  let directory: string

  before(async () => {
    desk = await house.tenant('Desk')
    directory = await makeProvider(desk)
  })

  const role = async (...scopes: string[]) =>
    String((await as(desk, 'POST', '/v1/roles', { name: 'a role', scopes })).body.id)

  /** Tries as a user who holds these scopes and no others. */
  async function tryWith(scopes: readonly string[], more: object = { identity_provider_id: directory }) {
    const { user_id, token } = desk.people.auditor
    await as(desk, 'PUT', `/v1/users/${user_id}/roles`, { roles: [await role(...scopes)] })
    const body = { name: 'scim', ...more }
    return house.call({ method: 'POST', url: '/v1/api-keys', token, tenant_id: desk.tenant_id, body })
  }

  /** A group that this directory manages, or nobody does, and that gives these scopes. */
  async function group(manager: string | undefined, ...scopes: string[]): Promise<string> {
    const id = newId()
    await insertGroup(desk.tenant_id, id, manager)
    const role_ids = [await role(...scopes)]
    const mapped = await as(desk, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids })
    assert.equal(mapped.status, 200, mapped.text)
    return id
  }

  async function insertGroup(tenant_id: string, id: string, manager: string | undefined): Promise<void> {
    await house.asSuperuser('insert into tenant_group (tenant_id, id, name, source) values ($1, $2, $3, $4)', [
      ...[tenant_id, id, 'a group', manager === undefined ? 'local' : 'scim'],
    ])
    if (manager === undefined) return
    await house.asSuperuser(
      `insert into directory_group
          (tenant_id, group_id, identity_provider_id, display_name, display_name_key, external_id)
        values ($1, $2, $3, 'a group', 'a group', $4)`,
      [tenant_id, id, manager, id],
    )
  }

  const giveNothing = (id: string) => as(desk, 'PUT', `/v1/groups/${id}/role-mappings`, { role_ids: [] })

  const count = async () => {
    const [row] = await house.asSuperuser<{ keys: number; events: number }>(
      `select (select count(*)::integer from api_key where tenant_id = $1 and kind = 'scim') as keys,
        (select count(*)::integer from event where tenant_id = $1 and type = 'api_key.created') as events`,
      [desk.tenant_id],
    )
    return row
  }

  /** Asserts a refusal that names these scopes, and is in the audit log of the provider. */
  async function requireRefused(reply: Reply, lacking: readonly string[]) {
    assert.deepEqual([reply.status, reply.body.code, reply.body.details], [403, 'forbidden', { scopes: lacking }])
    const [last] = await house.asSuperuser<{ type: string; data: { scopes?: string[] } }>(
      'select type, data from event where tenant_id = $1 and subject_id = $2 order by seq desc limit 1',
      [desk.tenant_id, directory],
    )
    assert.deepEqual([last?.type, last?.data.scopes], ['access.refused', lacking])
  }

  test('needs no more than the scopes of keys, providers, users and groups', async () => {
    const made = await tryWith(needed)
    assert.deepEqual([made.status, made.body.scopes], [201, ['scim:provision']], made.text)
  })

  for (const scope of needed.slice(1)) {
    test(`needs ${scope}, and is refused on record without it (P4)`, async () => {
      const before = await count()
      await requireRefused(await tryWith([...needed, 'audit:read'].filter((one) => one !== scope)), [scope])
      assert.deepEqual(await count(), before)
    })
  }

  test('needs api_keys:write as for every key (P4)', async () => {
    assert.equal((await tryWith(needed.slice(1))).status, 403)
  })

  test('needs every scope that a group of the directory gives, since the key can give it (P9)', async () => {
    const id = await group(directory, 'policies:write', 'roles:read', 'users:write')
    const before = await count()
    await requireRefused(await tryWith(needed), ['policies:write', 'roles:read'])
    await requireRefused(await tryWith(['api_keys:write', 'groups:write', 'roles:read']), [
      ...['identity_providers:write', 'users:write', 'policies:write'],
    ])
    assert.deepEqual(await count(), before)
    assert.equal((await tryWith([...needed, 'policies:write', 'roles:read'])).status, 201)
    await giveNothing(id)
    assert.equal((await tryWith(needed)).status, 201)
  })

  /** A user of the directory, or one made for a provider, who holds these scopes. */
  async function holder(managed: boolean, ...scopes: string[]): Promise<string> {
    const body = { email: `${newId()}@example.com`, name: 'H', roles: ['user'], auth_provider: 'oidc' }
    const id = String((await as(desk, 'POST', '/v1/users', body)).body.id)
    await as(desk, 'PUT', `/v1/users/${id}/roles`, { roles: [await role(...scopes)] })
    if (!managed) return id
    await house.asSuperuser(
      `insert into directory_user (tenant_id, user_id, identity_provider_id, user_name_key, resource)
        values ($1, $2, $3, 'h', '{}')`,
      [desk.tenant_id, id, directory],
    )
    return id
  }

  test('needs every scope of the users of the directory, whose sign-in the key decides (P9)', async () => {
    await holder(false, 'settings:write')
    const id = await holder(true, 'policies:write')
    await requireRefused(await tryWith(needed), ['policies:write'])
    assert.equal((await tryWith([...needed, 'policies:write'])).status, 201)
    await as(desk, 'PUT', `/v1/users/${id}/roles`, { roles: [] })
    assert.equal((await tryWith(needed)).status, 201)
    await house.asSuperuser(
      `insert into sign_in_setting (tenant_id, enabled, issuer, client_id, redirect_uris, scopes, identity_provider_id)
        values ($1, false, $2, $2, $3, $3, $4)`,
      [desk.tenant_id, 'https://id.example.com', [], directory],
    )
    await requireRefused(await tryWith(needed), ['settings:write'])
    await house.asSuperuser('delete from sign_in_setting where tenant_id = $1', [desk.tenant_id])
  })

  test('needs no scope of a local group, of another directory’s, nor of another tenant’s', async () => {
    await group(undefined, 'policies:write')
    await group(await makeProvider(desk), 'policies:write')
    const id = newId()
    await insertGroup(acme.tenant_id, id, provider)
    const body = { role_ids: ['admin'] }
    assert.equal((await as(acme, 'PUT', `/v1/groups/${id}/role-mappings`, body)).status, 200)
    assert.equal((await tryWith(needed)).status, 201)
  })

  test('is refused by the database when a group gets a role between the check and the insert (P9)', async () => {
    const actor = { kind: 'user', user_id: desk.owner.user_id, api_key_id: null, scopes: new Set(needed) } as const
    const ctx = { tx: house.database.tenant(desk.tenant_id), actor, request_id: 'test' }
    const key = { name: 'scim', secret_hash: Buffer.alloc(32), scopes: [], created_by: desk.owner.user_id }
    const insert = () => insertScimKey(ctx, { ...key, id: newId(), expires_at: null, identity_provider_id: directory })
    assert.deepEqual(await findDirectoryScopes(ctx.tx, directory), [])
    const id = await group(directory, 'settings:write')
    const before = await count()
    assert.equal(await insert(), undefined)
    assert.deepEqual(await count(), before)
    await giveNothing(id)
    assert.notEqual(await insert(), undefined)
  })

  test('for a provider that does not exist is told so, and of other scopes than SCIM’s before missing rights', async () => {
    const unknown = await tryWith(needed, { identity_provider_id: newId() })
    assert.deepEqual([unknown.status, unknown.body.code], [422, 'unprocessable'], unknown.text)
    const others = await tryWith(['api_keys:write'], { identity_provider_id: directory, scopes: ['api_keys:write'] })
    assert.deepEqual([others.status, others.body.code], [422, 'unprocessable'], others.text)
  })
})

test('a key with more scopes than its creator holds is refused on record (P4)', async () => {
  const { token } = acme.people.approver
  const own = await as(acme, 'POST', '/v1/roles', { name: 'a role', scopes: ['api_keys:write'] })
  await as(acme, 'PUT', `/v1/users/${acme.people.approver.user_id}/roles`, { roles: [own.body.id] })
  const body = { name: 'ci', scopes: ['users:read', 'api_keys:write'] }
  const reply = await house.call({ method: 'POST', url: '/v1/api-keys', token, tenant_id: acme.tenant_id, body })
  assert.deepEqual([reply.status, reply.body.details], [403, { scopes: ['users:read'] }], reply.text)
  const kept = await house.asSuperuser<{ data: { scopes: string[] } }>(
    `select data from event where tenant_id = $1 and type = 'access.refused' and subject_type = 'api_key'`,
    [acme.tenant_id],
  )
  assert.deepEqual(
    kept.map(({ data }) => data.scopes),
    [['users:read']],
  )
})

suite('listing the keys of one identity provider', () => {
  test('shows only those, page by page; keys without a provider have no link', async () => {
    const own = await makeProvider(acme)
    for (const name of ['one', 'two', 'three']) await create(acme, { name, identity_provider_id: own })
    const first = await list(acme, `?limit=2&identity_provider_id=${own}`)
    const second = await list(acme, `?limit=2&identity_provider_id=${own}&cursor=${first.next_cursor}`)
    const keys = [first, second].flatMap(({ data }) => data as { name: string; identity_provider_id: string }[])
    assert.deepEqual(
      keys.map(({ name, identity_provider_id }) => [name, identity_provider_id]),
      [
        ['three', own],
        ['two', own],
        ['one', own],
      ],
    )
    const all = (await list(acme, '')).data as object[]
    assert.ok(all.length > 3)
    assert.ok(all.some((key) => !('identity_provider_id' in key)))
  })

  test('of another tenant gives an empty page, like an unknown provider (T9)', async () => {
    await create(other, { identity_provider_id: foreign })
    for (const id of [foreign, newId()]) {
      assert.deepEqual(await list(acme, `?identity_provider_id=${id}`), { data: [], has_more: false })
    }
  })
})

/** The checksum that anyone with a key can compute. */
function withChecksum(body: string): string {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let digits = ''
  for (let rest = crc32(body); rest > 0; rest = Math.floor(rest / 62)) digits = letters.charAt(rest % 62) + digits
  return `${body}_${digits.padStart(6, '0')}`
}
