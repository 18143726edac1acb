import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TObject, TSchema } from 'typebox'
import type { Operation } from '../src/http/operation.ts'
import { operations } from './support/house.ts'
import { together } from './support/race.ts'
import { sampleBodies } from './support/sample-bodies.ts'
import { addressed, makeRecords } from './support/samples.ts'
import { openStage } from './support/stage.ts'

/** Every PATCH, PUT and DELETE of a record takes `If-Match`, and every record shows its `ETag`. */
const { house, ours, ourRecords: records } = await openStage()
const { tenant_id, owner } = ours

/** The only operations with these methods that change no single record. */
const ofNoRecord: Readonly<Record<string, string>> = {
  reorderPolicies: 'places of many policies; a place that changed meanwhile is no loss',
  reorderRules: 'places of many rules; likewise',
  upsertCloudAccounts: 'many entries of a cache, which have no other writer',
}

/** A change that differs from the sample. */
const otherBodies: Readonly<Record<string, unknown>> = {
  describeAction: { description: 'Changes everything' },
  importPolicy: { cedar: 'forbid (principal, action, resource);' },
  replacePolicyCases: { cases: [] },
  setAiProviderConfig: { config: { model: 'another model' } },
  setAiProviderDefault: { type: 'provider_b' },
  setGroupRoleMappings: { role_ids: ['user'] },
  setOwnNotificationPreferences: { kinds: { comment: { mail: false } } },
  setUserRoles: { roles: ['approver'] },
  updateOwnPreferences: { time_format: '12h' },
  updateOwnProfile: { display_name: 'You' },
  updateRule: { notice: 'a third notice' },
  updateSignInSettings: {
    ...(sampleBodies.updateSignInSettings as object),
    redirect_uris: ['https://app.example.com/other'],
  },
  upsertSetting: { value: 'false' },
}

const call = async (method: string, url: string, body?: unknown, if_match?: string) => {
  const headers = if_match === undefined ? {} : { 'if-match': if_match }
  const reply = await house.call({
    method,
    url,
    token: owner.token,
    tenant_id,
    headers,
    ...(body !== undefined && { body }),
  })
  return { ...reply, etag: String(reply.headers.etag) }
}

/** The operation that reads what is at this path. */
const readerAt = (path: string) => Object.values(operations).find((one) => one.method === 'GET' && one.path === path)

/** The record that an operation changes: at its own path, or one above, as the roles of a user are. */
function recordOf({ path }: Operation): Operation {
  const reader = readerAt(path) ?? readerAt(path.replace(/\/[a-z-]+$/, ''))
  assert.ok(reader !== undefined, `no GET shows the record of \`${path}\``)
  return reader
}

/** The import comes last, because it replaces the rule that another operation changes. */
const changes = Object.entries(operations)
  .filter(([, { method }]) => method === 'PATCH' || method === 'PUT')
  .sort(([a], [b]) => Number(a === 'importPolicy') - Number(b === 'importPolicy'))

test('each operation that changes no single record exists', () => {
  const names = changes.map(([name]) => name)
  assert.deepEqual(
    Object.keys(ofNoRecord).filter((name) => !names.includes(name)),
    [],
  )
})

for (const [name, operation] of changes) {
  if (name in ofNoRecord) continue
  const { method, path } = operation

  test(`${name} changes only the state that \`If-Match\` names (P3)`, async () => {
    assert.ok(operation.takesIfMatch, 'it must take `If-Match`')
    const reader = recordOf(operation)
    assert.ok(reader.etag !== undefined, `\`GET ${reader.path}\` must show an \`ETag\``)
    const url = addressed(path, records)
    const read = () => call('GET', addressed(reader.path, records))
    const sample = sampleBodies[name]

    if (name === 'setAiProviderDefault') {
      await house.asSuperuser('delete from ai_provider_default')
      const none = await call(method, url, sample, '*')
      assert.equal(none.status, 412, '`*` must match no record that does not exist')
      assert.equal((await call(method, url, otherBodies[name])).status, 200)
    }
    const { etag } = await read()
    assert.match(etag, /^"[^"]+"$/)
    for (const stale of ['"999"', `W/${etag}`, `"999", W/${etag}`]) {
      const { status, body } = await call(method, url, sample, stale)
      assert.deepEqual([status, body.code], [412, 'precondition_failed'], stale)
    }
    assert.equal((await call(method, url, sample, 'x')).status, 400)
    assert.equal((await read()).etag, etag, 'a refused change must change nothing')

    const changed = await call(method, url, sample, `"999", ${etag}`)
    assert.equal(changed.status, 200, changed.text)
    const now = (await read()).etag
    if (operation.etag !== undefined) assert.equal(changed.etag, now, 'the answer must have the `ETag` of the record')

    const other = otherBodies[name] ?? { name: 'a third name' }
    const race = await together([1, 2, 3].map(() => () => call(method, url, other, now)))
    assert.deepEqual(race.map(({ status }) => status).sort(), [200, 412, 412], race.map(({ text }) => text).join('\n'))
    assert.notEqual((await read()).etag, now)
    assert.equal((await call(method, url, sample, '*')).status, 200)
  })
}

/** What is read at a path of its own, but is no record. */
const noRecords: readonly string[] = [
  'beginAuthorization',
  'countGrants',
  'countRequests',
  'discoverTenant',
  'getInventory',
  'getJwks',
  'getPolicySchema',
  'listDeciders',
]

const isList = (reply: TSchema | null) => 'data' in ((reply as TObject | null)?.properties ?? {})

test('every record shows its `ETag`', () => {
  const lacking = Object.entries(operations).filter(
    ([name, { method, etag, reply, streams }]) =>
      method === 'GET' && etag === undefined && streams === undefined && !isList(reply) && !noRecords.includes(name),
  )
  assert.deepEqual(
    lacking.map(([name]) => name),
    [],
  )
})

test('who may cancel a request and not read it learns nothing of it by `If-Match`', async () => {
  const { token } = ours.people.user
  const asked = { method: 'POST', url: '/v1/requests', token, tenant_id, body: sampleBodies.createRequest }
  const made = await house.call(asked)
  const etag = String(made.headers.etag)
  const url = `/v1/requests/${made.body.id}`
  const key = await call('POST', '/v1/api-keys', { name: 'cancels', scopes: ['requests:cancel'] })
  const cancel = (headers: Record<string, string>) =>
    house.call({ method: 'DELETE', url, api_key: String(key.body.key), tenant_id, headers })
  for (const tag of ['"x"', etag]) {
    const reply = await cancel({ 'if-match': tag })
    assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
    assert.ok(!reply.text.includes(etag.slice(1, -1)))
  }
  assert.equal((await cancel({})).status, 204)
})

const passing = await makeRecords(house, ours)
/** A policy takes its rule with it, so it comes last. */
const deletions = Object.entries(operations)
  .filter(([, { method, path }]) => method === 'DELETE' && readerAt(path)?.etag !== undefined)
  .sort(([a], [b]) => Number(a === 'deletePolicy') - Number(b === 'deletePolicy'))

for (const [name, operation] of deletions) {
  test(`${name} deletes only the state that \`If-Match\` names (P3)`, async () => {
    assert.ok(operation.takesIfMatch, 'it must take `If-Match`')
    const url = addressed(operation.path, passing)
    const { etag } = await call('GET', url)
    for (const stale of ['"999"', `W/${etag}`]) assert.equal((await call('DELETE', url, undefined, stale)).status, 412)
    assert.equal((await call('GET', url)).etag, etag)
    const gone = name === 'cancelRequest' ? { read: 200, deleted: 409 } : { read: 404, deleted: 404 }
    assert.equal((await call('DELETE', url, undefined, `"999", ${etag}`)).status, 204)
    const left = await call('GET', url)
    assert.equal(left.status, gone.read)
    assert.notEqual(left.etag, etag)
    assert.equal((await call('DELETE', url, undefined, '*')).status, gone.deleted)
  })
}

for (const [name, operation] of Object.entries(operations)) {
  if (operation.method !== 'POST' || operation.status !== 201) continue
  const below = [operation.path, operation.path.replace(/\/[a-z-]+$/, '')]
  const reader = Object.values(operations).find(
    (one) =>
      one.method === 'GET' && one.etag && below.includes(one.path.replace(/\/\{\w+\}$/, '')) && /\}$/.test(one.path),
  )
  if (reader === undefined) continue
  test(`${name} answers with the \`ETag\` of its new record (P3)`, async () => {
    const url = addressed(operation.path, records)
    const made = await call('POST', url, sampleBodies[name])
    assert.equal(made.status, 201, made.text)
    const at = reader.path.replace(/\{\w+\}$/, String(made.body.id))
    assert.equal((await call('GET', addressed(at, records))).etag, made.etag)
  })
}
