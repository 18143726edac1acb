import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { openHouse, type Reply, type TestTenant } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'

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
