import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse, type Reply, type TestTenant } from '../../test/support/house.ts'

const house = await openHouse()
const canary = 'canary-a81e40'
let acme: TestTenant
let other: TestTenant

let count = 0
beforeEach(async () => {
  count += 1
  acme = await house.tenant(`Acme ${count}`)
  other = await house.tenant(`Other ${count}`)
})

const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
const choose = (tenant: TestTenant, type: unknown) => as(tenant, 'PUT', '/v1/settings/ai-provider-default', { type })
const configure = (tenant: TestTenant, type: string, config: unknown) =>
  as(tenant, 'PUT', `/v1/settings/ai-providers/${type}`, { config })
const list = async (tenant: TestTenant) =>
  (await as(tenant, 'GET', '/v1/settings/ai-providers')).body.data as Record<string, unknown>[]
const eventsOf = ({ tenant_id }: TestTenant) =>
  house.asSuperuser<{ subject_id: string; data: object }>(
    `select subject_id, data from event where tenant_id = $1 and type = 'setting.updated' order by seq`,
    [tenant_id],
  )

suite('the default AI provider', () => {
  test('is returned with its type and config, as the default', async () => {
    const { status, body } = await choose(acme, 'provider_b')
    assert.equal(status, 200)
    const { updated_at, ...rest } = body
    assert.match(String(updated_at), /Z$/)
    assert.deepEqual(rest, { type: 'provider_b', config: {}, is_default: true })
  })

  test('is one per tenant, and every change emits the old and the new one', async () => {
    for (const type of ['provider_a', 'provider_c', 'provider_c']) await choose(acme, type)
    assert.deepEqual(
      (await list(acme)).map(({ type, is_default }) => [type, is_default]),
      [
        ['provider_a', false],
        ['provider_b', false],
        ['provider_c', true],
      ],
    )
    assert.deepEqual(await eventsOf(acme), [
      { subject_id: 'ai-provider-default', data: { old: null, new: 'provider_a' } },
      { subject_id: 'ai-provider-default', data: { old: 'provider_a', new: 'provider_c' } },
    ])
    assert.ok((await list(other)).every(({ is_default }) => is_default === false))
  })

  test('has an unbroken chain of changes when several are made at once', async () => {
    const replies = await Promise.all(['provider_a', 'provider_b', 'provider_c'].map((type) => choose(acme, type)))
    for (const [index, { status, body }] of replies.entries()) {
      assert.deepEqual([status, body.type, body.is_default], [200, `provider_${'abc'[index]}`, true])
    }
    const steps = (await eventsOf(acme)).map(({ data }) => data as { old: string | null; new: string })
    for (const [index, step] of steps.entries()) assert.equal(step.old, steps[index - 1]?.new ?? null)
    assert.equal((await list(acme)).find(({ is_default }) => is_default)?.type, steps.at(-1)?.new)
  })

  for (const type of ['provider_d', '', 'PROVIDER_A', null, 1, undefined, ['provider_a']]) {
    test(`is refused as ${JSON.stringify(type)}`, async () => {
      const { status, body } = await choose(acme, type)
      assert.deepEqual([status, body.code], [400, 'invalid_input'])
      assert.deepEqual(await eventsOf(acme), [])
    })
  }
})

suite('the config of an AI provider', () => {
  const config = { base_url: 'https://ai.example.org', model: 'm-1', api_key: canary, deep: { token: [canary] } }
  const shown = { base_url: 'https://ai.example.org', model: 'm-1', api_key: '[redacted]', deep: '[redacted]' }
  const saysNoSecret = (replies: Reply[]) => replies.every(({ text }) => !text.includes(canary))

  test('is redacted in every reply (S2, S3)', async () => {
    const set = await configure(acme, 'provider_a', config)
    const { updated_at, ...rest } = set.body
    assert.match(String(updated_at), /Z$/)
    assert.deepEqual([set.status, rest], [200, { type: 'provider_a', config: shown, is_default: false }])
    const chosen = await choose(acme, 'provider_a')
    assert.deepEqual([chosen.body.config, chosen.body.is_default], [shown, true])
    const listed = await as(acme, 'GET', '/v1/settings/ai-providers')
    assert.deepEqual((listed.body.data as unknown[])[0], chosen.body)
    assert.ok(saysNoSecret([set, chosen, listed]))
  })

  test('is sealed, absent from its event, and stored for each type', async () => {
    await configure(acme, 'provider_a', config)
    await configure(acme, 'provider_b', { model: 'm-2' })
    const rows = await house.asSuperuser<{ type: string; config: object; sealed_secrets: string | null }>(
      'select type, config, sealed_secrets from ai_provider where tenant_id = $1 order by type',
      [acme.tenant_id],
    )
    assert.deepEqual(
      rows.map(({ type, config: kept }) => [type, kept]),
      [
        ['provider_a', shown],
        ['provider_b', { model: 'm-2' }],
      ],
    )
    assert.ok(!Buffer.from(rows[0]?.sealed_secrets ?? '', 'base64url').includes(canary))
    assert.deepEqual(await eventsOf(acme), [
      { subject_id: 'ai-providers/provider_a', data: {} },
      { subject_id: 'ai-providers/provider_b', data: {} },
    ])
    assert.ok((await list(other)).every(({ config: kept }) => Object.keys(kept as object).length === 0))
  })

  test('keeps secrets that are sent back as they were shown, only at the same address', async () => {
    await configure(acme, 'provider_a', config)
    assert.deepEqual((await configure(acme, 'provider_a', { ...shown, model: 'm-2' })).body.config, {
      ...shown,
      model: 'm-2',
    })
    const moved = await configure(acme, 'provider_a', { ...shown, base_url: 'https://evil.example.org' })
    assert.deepEqual([moved.status, moved.body.code], [400, 'invalid_input'])
    assert.equal((await configure(acme, 'provider_b', { api_key: '[redacted]' })).status, 400)
    assert.ok(saysNoSecret([moved]))
    assert.equal((await eventsOf(acme)).length, 2)
  })

  for (const type of ['provider_d', 'PROVIDER_A', 'constructor', '%20provider_a', 'default']) {
    test(`is refused for the unknown type ${type}`, async () => {
      const { status, body } = await configure(acme, type, {})
      assert.deepEqual([status, body.code], [400, 'invalid_input'])
      assert.deepEqual((body.details as { allowed: string[] }).allowed, ['provider_a', 'provider_b', 'provider_c'])
    })
  }

  for (const body of [{}, { config: 'x' }, { config: null }, { config: {}, type: 'provider_b' }]) {
    test(`is refused as ${JSON.stringify(body)}`, async () => {
      assert.equal((await as(acme, 'PUT', '/v1/settings/ai-providers/provider_a', body)).status, 400)
    })
  }
})

test('the list has pages', async () => {
  const first = await as(acme, 'GET', '/v1/settings/ai-providers?limit=2')
  const second = await as(acme, 'GET', `/v1/settings/ai-providers?limit=2&cursor=${first.body.next_cursor}`)
  const types = [first, second].flatMap(({ body }) => (body.data as { type: string }[]).map(({ type }) => type))
  assert.deepEqual([types, second.body.has_more], [['provider_a', 'provider_b', 'provider_c'], false])
})
