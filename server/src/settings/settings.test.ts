import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { sql } from '../db/sql.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { allScopes } from '../permissions/permission.ts'
import { listAiProviders } from './list-ai-providers.ts'
import { listSettings } from './list-settings.ts'
import { setAiProviderConfig } from './set-ai-provider-config.ts'
import { setAiProviderDefault } from './set-ai-provider-default.ts'
import { settingKeys } from './setting.ts'
import { readSettings, saveSetting, settingSeconds } from './setting-store.ts'
import { upsertSetting } from './upsert-setting.ts'

const { database, asSuperuser } = await testDatabase()
const call = await sliceServer(database, {
  listSettings,
  upsertSetting,
  listAiProviders,
  setAiProviderConfig,
  setAiProviderDefault,
})

let admin: Caller

beforeEach(async () => {
  admin = { tenant_id: newId(), user_id: newId(), scopes: ['settings:read', 'settings:write'] }
  await asSuperuser('insert into tenant (id, name) values ($1, $2)', [admin.tenant_id, 'Acme'])
})

const set = (key: string, value: unknown) => call(admin, 'PUT', `/v1/settings/${key}`, { value })

const eventsOf = (tenant_id: string) =>
  asSuperuser<{ type: string; subject_id: string; actor_id: string; data: object }>(
    'select type, subject_id, actor_id, data from event where tenant_id = $1 order by seq',
    [tenant_id],
  )

const storedOf = (tenant_id: string) => asSuperuser('select key from setting where tenant_id = $1', [tenant_id])

test('a setting is returned as it was set, and is in effect at once', async () => {
  const answer = await set('requests.max_duration_seconds', '7200')
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys(answer.body), ['key', 'value', 'updated_at'])
  assert.equal(answer.body.key, 'requests.max_duration_seconds')
  assert.equal(answer.body.value, '7200')
  assert.match(String(answer.body.updated_at), /Z$/)
  assert.equal((await readSettings(database.tenant(admin.tenant_id)))['requests.max_duration_seconds'], 7200)
})

test('every change emits the old and the new value, and a change without effect emits none', async () => {
  for (const value of ['60', '120', '120']) await set('notifications.expiring_seconds', value)
  const expected = { type: 'setting.updated', subject_id: 'notifications.expiring_seconds', actor_id: admin.user_id }
  assert.deepEqual(await eventsOf(admin.tenant_id), [
    { ...expected, data: { old: null, new: '60' } },
    { ...expected, data: { old: '60', new: '120' } },
  ])
})

test('the events of concurrent changes are an unbroken chain, each from the value it replaced', async () => {
  const answers = await Promise.all(['60', '61', '62'].map((value) => set('requests.pending_ttl_seconds', value)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  const steps = (await eventsOf(admin.tenant_id)).map(({ data }) => data as { old: string | null; new: string })
  const next = new Map(steps.map((step) => [step.old, step.new]))
  assert.equal(steps.length, 3)
  const chain = [next.get(null)]
  while (next.has(chain.at(-1) ?? '')) chain.push(next.get(chain.at(-1) ?? ''))
  assert.equal(chain.length, 3)
  const [stored] = await asSuperuser('select value from setting where tenant_id = $1', [admin.tenant_id])
  assert.equal(chain.at(-1), stored?.value)
})

test('a value that has changed meanwhile is not overwritten', async () => {
  const ctx = { tx: database.tenant(admin.tenant_id), actor: systemActor, request_id: 'test' }
  const saved = await saveSetting(ctx, 'timezone.default', { old: null, new: 'Europe/Berlin' })
  assert.equal(saved?.value, 'Europe/Berlin')
  assert.equal(await saveSetting(ctx, 'timezone.default', { old: null, new: 'Europe/Rome' }), undefined)
  assert.equal(await saveSetting(ctx, 'timezone.default', { old: 'UTC', new: 'Europe/Rome' }), undefined)
  assert.equal((await eventsOf(admin.tenant_id)).length, 1)
})

test('the list shows every setting, with the default if none was set', async () => {
  await set('requests.require_reason', 'true')
  const { body } = await call(admin, 'GET', '/v1/settings')
  const data = body.data as { key: string; value: string; updated_at?: string }[]
  assert.deepEqual(
    data.map(({ key }) => key),
    settingKeys,
  )
  assert.equal(body.has_more, false)
  assert.deepEqual(data[0], { key: 'auth.allow_unverified_email', value: 'false' })
  const changed = data.filter((setting) => setting.updated_at !== undefined)
  assert.deepEqual(
    changed.map(({ key, value }) => [key, value]),
    [['requests.require_reason', 'true']],
  )
})

test('the list has pages', async () => {
  const limit = Math.ceil(settingKeys.length / 2)
  const first = await call(admin, 'GET', `/v1/settings?limit=${limit}`)
  const second = await call(admin, 'GET', `/v1/settings?limit=${limit}&cursor=${first.body.next_cursor}`)
  const keys = [first, second].flatMap(({ body }) => (body.data as { key: string }[]).map(({ key }) => key))
  assert.deepEqual(keys, settingKeys)
  assert.equal(second.body.has_more, false)
})

for (const path of [
  'ai-provider-default',
  'ai%2Dprovider-default',
  'ai%2dprovider%2Ddefault',
  '%61i-provider-default',
  'ai-provider-default;',
  'ai-provider-default%00',
  'ai-provider-default%2F',
  'ai-provider-default/',
  '/ai-provider-default',
  'x/../ai-provider-default',
  'AI-Provider-Default',
  'ai-providers',
  'ai%2Dproviders',
  'ai-providers/',
  'ai-providers%2Fprovider_a',
  'ai-providers%252Fprovider_a',
  'ai%252Dprovider-default',
  '..;/ai-provider-default',
  'requests.unknown',
  '%2e%2e',
  '%ff',
]) {
  test(`the path /v1/settings/${path} stores no setting (P13)`, async () => {
    const { status } = await set(path, 'provider_a')
    assert.ok([400, 404, 405].includes(status), `answered ${status}`)
    assert.deepEqual(await storedOf(admin.tenant_id), [])
    assert.deepEqual(await eventsOf(admin.tenant_id), [])
  })

  test(`the path /v1/settings/${path} chooses the default AI provider or nothing, and is never a setting (P13)`, async () => {
    const { status, body } = await call(admin, 'PUT', `/v1/settings/${path}`, { type: 'provider_b' })
    const chosen = await asSuperuser('select type from ai_provider_default where tenant_id = $1', [admin.tenant_id])
    if (status === 200) assert.deepEqual([body.type, chosen], ['provider_b', [{ type: 'provider_b' }]])
    else assert.deepEqual([[400, 404, 405].includes(status), chosen], [true, []], `answered ${status}`)
    assert.deepEqual(await storedOf(admin.tenant_id), [])
  })
}

test('an unknown key is refused with the list of keys', async () => {
  const { status, body } = await set('requests.maximum', '60')
  assert.equal(status, 400)
  assert.equal(body.code, 'invalid_input')
  assert.deepEqual((body.details as { allowed: string[] }).allowed, settingKeys)
})

test('a key can be sent in any URL encoding of the same text', async () => {
  assert.equal((await set('locale%2Edefault', 'de')).body.key, 'locale.default')
})

for (const key of settingKeys.filter((one) => one.startsWith('auth.'))) {
  test(`${key} needs every scope (P12)`, async () => {
    const value = key === 'auth.password_min_length' ? '20' : key.endsWith('_seconds') ? '600' : 'false'
    const { status, body } = await set(key, value)
    assert.deepEqual([status, body.code], [403, 'forbidden'])
    assert.ok((body.details as { scopes: string[] }).scopes.includes('roles:write'))
    assert.deepEqual(await storedOf(admin.tenant_id), [])
    const [event] = await eventsOf(admin.tenant_id)
    assert.deepEqual([event?.type, event?.subject_id, event?.actor_id], ['access.refused', key, admin.user_id])
    const all = allScopes.filter((scope) => scope !== 'scim:provision')
    assert.equal((await call({ ...admin, scopes: all }, 'PUT', `/v1/settings/${key}`, { value })).status, 200)
    const lacking = { ...admin, scopes: all.filter((scope) => scope !== 'policies:write') }
    const other = value === 'false' ? 'true' : '700'
    const refused = await call(lacking, 'PUT', `/v1/settings/${key}`, {
      value: key.includes('password') ? '30' : other,
    })
    assert.deepEqual(refused.body.details, { scopes: ['policies:write'] })
  })
}

for (const value of [3600, true, null, {}, '59', '1209601', 'x'.repeat(100_000)]) {
  test(`the value ${JSON.stringify(value).slice(0, 20)} is refused for a duration`, async () => {
    const { status, body } = await set('requests.max_duration_seconds', value)
    assert.equal(status, 400)
    assert.ok(JSON.stringify(body).length < 1_000)
    assert.deepEqual(await storedOf(admin.tenant_id), [])
  })
}

test('reading does not permit writing', async () => {
  const reader = { ...admin, scopes: ['settings:read'] }
  assert.equal((await call(reader, 'PUT', '/v1/settings/locale.default', { value: 'de' })).status, 403)
})

test('each tenant has its own', async () => {
  await set('locale.default', 'de')
  const other = { ...admin, tenant_id: newId() }
  await asSuperuser('insert into tenant (id, name) values ($1, $2)', [other.tenant_id, 'Other'])
  assert.equal((await readSettings(database.tenant(other.tenant_id)))['locale.default'], 'en')
})

test('the seconds of a setting can be used inside a statement, set or by default', async () => {
  const tx = database.tenant(admin.tenant_id)
  const readSeconds = () =>
    tx.read(sql<{ n: number }>`select ${settingSeconds(tx, 'notifications.expiring_seconds')} as n`)
  assert.deepEqual(await readSeconds(), [{ n: 900 }])
  await set('notifications.expiring_seconds', '60')
  assert.deepEqual(await readSeconds(), [{ n: 60 }])
})
