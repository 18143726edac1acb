import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type TestTenant } from '../../test/support/house.ts'
import { newId } from '../kernel/id.ts'
import { type ProviderType, providerTypes } from './provider-config.ts'

const house = await openHouse()
const acme = await house.tenant('Acme')
const other = await house.tenant('Other')

const path = '/v1/identity-providers'
const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })

/** Part of every secret: no response may contain it. */
const canary = 'canary-5f1d7c'
const shownConfig = {
  protocol: 'ldap',
  host: 'ldap.example.org',
  port: 636,
  bind_dn: 'cn=reader,dc=example,dc=org',
  base_dn: 'dc=example,dc=org',
  dry_run: true,
}
const config = {
  ...shownConfig,
  bind_password: canary,
  url: `ldaps://reader:${canary}@ldap.example.org`,
  user_filter: { nested: [canary] },
  unknown: { deep: { er: canary } },
  list: [canary],
}
const hidden = { bind_password: 1, url: 1, user_filter: 1, unknown: 1, list: 1 }
const redactedConfig = {
  ...shownConfig,
  ...Object.fromEntries(Object.keys(hidden).map((name) => [name, '[redacted]'])),
}
const sound = { name: 'Directory', provider_type: 'directory_a', config }
const create = (tenant: TestTenant, more: object = {}) => as(tenant, 'POST', path, { ...sound, ...more })

const rowOf = async (id: unknown) => {
  const [row] = await house.asSuperuser<{ config: object; sealed_secrets: string | null }>(
    'select config, sealed_secrets from identity_provider where id = $1',
    [id],
  )
  assert.ok(row)
  return row
}
const eventsOf = (id: unknown) =>
  house.asSuperuser<{ type: string; data: object }>('select type, data from event where subject_id = $1 order by seq', [
    id,
  ])

suite('creating an identity provider', () => {
  test('returns the record with its secrets redacted, including nested and unknown ones (S2)', async () => {
    const made = await create(acme)
    assert.equal(made.status, 201)
    const { id, created_at, updated_at, ...rest } = made.body
    assert.match(String(created_at), /Z$/)
    assert.equal(updated_at, created_at)
    assert.deepEqual(rest, {
      name: 'Directory',
      provider_type: 'directory_a',
      config: redactedConfig,
      enabled: true,
      last_synced_at: null,
      sync_status: 'pending',
      sync_error: null,
    })
    assert.deepEqual((await as(acme, 'GET', `${path}/${id}`)).body, made.body)
    const listed = (await as(acme, 'GET', path)).body.data as { id: string }[]
    assert.deepEqual(
      listed.find((one) => one.id === id),
      made.body,
    )
  })

  test('stores the secrets sealed, and emits nothing of the config (S2, S6)', async () => {
    const { id } = (await create(acme)).body
    const row = await rowOf(id)
    assert.deepEqual(row.config, redactedConfig)
    assert.ok(!Buffer.from(row.sealed_secrets ?? '', 'base64url').includes(canary))
    assert.deepEqual(await eventsOf(id), [
      { type: 'identity_provider.created', data: { enabled: true, provider_type: 'directory_a' } },
    ])
  })

  const service = {
    domain: 'acme.example.com',
    client_id: '0oa1b2',
    tenant_id: 'acme',
    base_url: 'https://acme.example.com',
  }
  const publicFields: [ProviderType, Record<string, unknown>][] = [
    [
      'cloud_identity_center',
      { region: 'eu-central-1', identity_store_id: 'd-1234567890', account_id: '123456789012' },
    ],
    ['directory_a', { ...service, domains: ['acme.example.com'], admin_email: 'it@acme.example.com' }],
    ['directory_b', { ...service, org_url: 'https://acme.example.com', sync_users: true }],
    ['directory_c', { ...service, customer_id: 'C012345', sync_interval_minutes: 15 }],
    ['chat_service', { ...service, team_id: 'T012345', workspace: 'Acme' }],
    ['code_hosting', { ...service, organization: 'acme', app_id: 12345, installation_id: 67890 }],
    ['incident_service', { ...service, subdomain: 'acme', region: 'eu' }],
    ['custom_scim', service],
  ]
  for (const [provider_type, fields] of publicFields) {
    test(`shows what is no secret of the type ${provider_type}, and nothing else, at any depth (S2)`, async () => {
      const nested = Object.fromEntries(Object.keys(fields).map((name) => [name, { [name]: canary, value: [canary] }]))
      const secrets = { api_token: canary, password: canary, domain_password: canary, more: { ...fields, key: canary } }
      const made = await create(acme, { provider_type, config: { ...fields, ...secrets } })
      const hidden = Object.fromEntries(Object.keys(secrets).map((name) => [name, '[redacted]']))
      assert.deepEqual([made.status, made.body.config], [201, { ...fields, ...hidden }])
      const inside = await create(acme, { provider_type, config: nested })
      assert.deepEqual(new Set(Object.values(inside.body.config as object)), new Set(['[redacted]']))
      assert.ok(!made.text.includes(canary) && !inside.text.includes(canary))
    })
  }

  test('a caller who changes where the secrets go must send them again (S2)', async () => {
    for (const [field, value] of Object.entries(service)) {
      const { body } = await create(acme, { config: { ...service, token: canary } })
      const change = {
        config: { ...(body.config as object), [field]: value.replace('acme', 'evil').replace('0oa', '0ob') },
      }
      const reply = await as(acme, 'PATCH', `${path}/${body.id}`, change)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], field)
    }
  })

  for (const provider_type of providerTypes) {
    test(`accepts the type ${provider_type}, also without a config`, async () => {
      const made = await create(acme, { provider_type, config: undefined, enabled: false })
      assert.deepEqual(
        [made.status, made.body.provider_type, made.body.config, made.body.enabled],
        [201, provider_type, {}, false],
      )
    })
  }

  const faulty: [string, object, string][] = [
    ['without a name', { name: undefined }, '/name'],
    ['with a name of two lines', { name: 'a\nb' }, '/name'],
    ['without a type', { provider_type: undefined }, '/provider_type'],
    ['with an unknown type', { provider_type: 'okta' }, '/provider_type'],
    ['with a config that is no object', { config: [canary] }, '/config'],
    ['with a placeholder for a secret', { config: { token: '[redacted]', other: canary } }, '/config/token'],
    ['with a config that is too large', { config: { token: canary.repeat(10_000) } }, '/config'],
    ['with a status in the body', { sync_status: 'synced' }, '/sync_status'],
  ]
  for (const [name, more, pointer] of faulty) {
    test(`is refused ${name}, and the response contains no secret`, async () => {
      const reply = await create(acme, more)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.equal(fields[0]?.pointer, pointer)
      assert.ok(!reply.text.includes(canary))
    })
  }
})

suite('changing an identity provider', () => {
  test('keeps the secrets that are sent back as placeholders', async () => {
    const made = (await create(acme)).body
    const { sealed_secrets } = await rowOf(made.id)
    const same = await as(acme, 'PATCH', `${path}/${made.id}`, { config: made.config })
    assert.deepEqual(same.body, made)
    assert.equal((await rowOf(made.id)).sealed_secrets, sealed_secrets)
    const renamed = await as(acme, 'PATCH', `${path}/${made.id}`, { name: 'New', enabled: false })
    assert.deepEqual([renamed.body.name, renamed.body.enabled, renamed.body.config], ['New', false, redactedConfig])
    assert.equal((await rowOf(made.id)).sealed_secrets, sealed_secrets)
    assert.deepEqual((await eventsOf(made.id)).slice(1), [
      { type: 'identity_provider.updated', data: { fields: ['name', 'enabled'], enabled: false } },
    ])
  })

  test('of one secret keeps the others, and the event contains none (S2)', async () => {
    const made = (await create(acme)).body
    const changed = await as(acme, 'PATCH', `${path}/${made.id}`, {
      config: { ...redactedConfig, base_dn: 'dc=other', bind_password: `${canary}-2` },
    })
    assert.deepEqual(changed.body.config, { ...redactedConfig, base_dn: 'dc=other' })
    assert.ok(!changed.text.includes(canary))
    assert.deepEqual((await eventsOf(made.id)).at(-1)?.data, { fields: ['config'], enabled: true })
    const gone = await as(acme, 'PATCH', `${path}/${made.id}`, { config: shownConfig })
    assert.deepEqual(gone.body.config, shownConfig)
    assert.equal((await rowOf(made.id)).sealed_secrets, null)
  })

  test('keeps no secret for another host: the caller must send it again', async () => {
    const made = (await create(acme)).body
    const moved = { ...redactedConfig, host: 'evil.example.org' }
    const reply = await as(acme, 'PATCH', `${path}/${made.id}`, { config: moved })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
    assert.deepEqual((await rowOf(made.id)).config, redactedConfig)
    const updated = await as(acme, 'PATCH', `${path}/${made.id}`, {
      config: { host: 'new.example.org', bind_password: 'x' },
    })
    assert.deepEqual(updated.body.config, { host: 'new.example.org', bind_password: '[redacted]' })
  })

  test('loses none of several concurrent changes', async () => {
    const made = (await create(acme)).body
    const changes = [{ name: 'New' }, { enabled: false }, { config: { ...redactedConfig, list: 'x' } }]
    const replies = await Promise.all(changes.map((change) => as(acme, 'PATCH', `${path}/${made.id}`, change)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
    const { name, enabled, config: now } = (await as(acme, 'GET', `${path}/${made.id}`)).body
    assert.deepEqual([name, enabled, now], ['New', false, redactedConfig])
    assert.equal((await eventsOf(made.id)).length, 4)
  })

  for (const change of [{ provider_type: 'directory_b' }, { sync_status: 'synced' }, { config: null }, { name: '' }]) {
    test(`refuses ${JSON.stringify(change)}`, async () => {
      const made = (await create(acme)).body
      assert.equal((await as(acme, 'PATCH', `${path}/${made.id}`, change)).status, 400)
    })
  }
})

suite('the identity providers of a tenant', () => {
  for (const [method, body] of [['GET'], ['PATCH', { name: 'taken' }], ['DELETE']] as const) {
    test(`answer ${method} from another tenant like an id that does not exist (T2)`, async () => {
      const { id } = (await create(other)).body
      const [foreign, never] = await Promise.all([id, newId()].map((one) => as(acme, method, `${path}/${one}`, body)))
      assert.deepEqual([foreign?.status, foreign?.text], [404, never?.text])
      assert.equal((await as(other, 'GET', `${path}/${id}`)).body.name, 'Directory')
    })
  }

  test('are listed page by page in the order of their creation', async () => {
    const tenant = await house.tenant('Pages')
    for (const name of ['one', 'two', 'three']) await create(tenant, { name })
    const first = await as(tenant, 'GET', `${path}?limit=2`)
    const second = await as(tenant, 'GET', `${path}?limit=2&cursor=${first.body.next_cursor}`)
    const names = [first, second].flatMap(({ body }) => (body.data as { name: string }[]).map(({ name }) => name))
    assert.deepEqual(names, ['one', 'two', 'three'])
  })

  test('have their SCIM keys revoked when they are deleted', async () => {
    const { id } = (await create(acme)).body
    const made = await as(acme, 'POST', '/v1/api-keys', { name: 'scim', identity_provider_id: id })
    assert.equal(made.status, 201)
    const replies = await Promise.all([1, 2].map(() => as(acme, 'DELETE', `${path}/${id}`)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 404])
    assert.equal((await as(acme, 'GET', `${path}/${id}`)).status, 404)
    const [key] = await house.asSuperuser(
      'select kind, revoked_by, revoked_at is not null as revoked from api_key where id = $1',
      [made.body.id],
    )
    assert.deepEqual(key, { kind: 'scim', revoked_by: acme.owner.user_id, revoked: true })
    assert.deepEqual(
      (await eventsOf(id)).map(({ type }) => type),
      ['identity_provider.created', 'identity_provider.deleted'],
    )
    assert.deepEqual((await eventsOf(made.body.id)).at(-1), {
      type: 'api_key.revoked',
      data: { identity_provider_id: id },
    })
  })

  test('that are deleted while a key is created leave no valid key', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const { id } = (await create(acme)).body
      const [, made] = await Promise.all([
        as(acme, 'DELETE', `${path}/${id}`),
        as(acme, 'POST', '/v1/api-keys', { name: 'scim', identity_provider_id: id }),
      ])
      assert.ok(made.status === 201 || made.status === 422, made.text)
    }
    assert.deepEqual(await house.asSuperuser(`select from api_key where kind = 'scim' and revoked_at is null`), [])
  })
})

test('no secret is stored in clear in an event, a provider or an API key (S2)', async () => {
  await create(acme)
  const tables = ['event', 'identity_provider', 'api_key']
  for (const table of tables) {
    const [found] = await house.asSuperuser<{ hits: string }>(
      `select count(*) as hits from ${table} t where t::text like '%' || $1 || '%'`,
      [canary],
    )
    assert.equal(Number(found?.hits), 0, table)
  }
})
