import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { jsonSchemaOf } from '../../src/http/schema.ts'
import { type BodyField, bodyWith, fieldsOf, pointerOf } from '../support/body-fields.ts'
import { operations } from '../support/house.ts'
import { inTurns } from '../support/in-turns.ts'
import { placesOnce } from '../support/places-once.ts'
import { presentedTo } from '../support/presented.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/** Names that would be displayed differently from how they are written, in every operation that takes a text. */
const { house, ours, ourRecords: records } = await openStage()
const { tenant_id, owner } = ours

/** One of each range: marks of the direction, line ends, another control character. */
const marks = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\u2028', '\u2029', '\u0085', '\n']

/** Names and labels: a fault is 400, and names the field. */
const labels = ['name', 'first_name', 'last_name', 'display_name', 'case', 'subject_prefix', 'account_id']

/** Texts that may contain such characters, each with the reason. */
const freeTexts: Readonly<Record<string, string>> = {
  description: 'a text of several lines, in any script',
  reason: 'a text of several lines, in any script',
  reasoning: 'a text of several lines, in any script',
  notice: 'a text of several lines, in any script',
  text: 'a text of several lines, in any script',
  policy_text: 'a program',
  conditions: 'a program',
  cedar: 'a program',
  entity_id: 'the id of a resource that a rule may name',
  client_id: 'whatever the provider calls its client',
  client_secret: 'a secret, which is never shown',
}

const keyOf = ({ path }: BodyField) => String(path.findLast((step) => typeof step === 'string'))
const isWalked = placesOnce()
/** In a usual run each place is tried with some of them. */
const someMarks = inTurns(marks, 3)
let labelsSeen = 0

for (const [name, { method, path, credential, body }] of Object.entries(operations)) {
  if (body === undefined || credential === 'none') continue
  const fields = fieldsOf(body)
    .filter((field) => isWalked(name, field.path))
    .filter(
      ({ kinds, words, schema }) => kinds.includes('string') && !words && jsonSchemaOf(schema).format === undefined,
    )
    .filter((field) => !Object.hasOwn(freeTexts, keyOf(field)))
  if (fields.length === 0) continue
  labelsSeen += fields.filter((field) => labels.includes(keyOf(field))).length

  test(`${name} refuses a name that would be displayed differently from how it is written (J8)`, async () => {
    for (const field of fields) {
      const pointer = pointerOf(field.path)
      for (const mark of someMarks()) {
        const text = bodyWith(sampleBodies[name] ?? {}, field.path, JSON.stringify(`a${mark}b`))
        const reply = await house.call({
          ...{ method, url: addressed(path, records), tenant_id, body: JSON.parse(text) },
          ...presentedTo({ credential }, owner),
        })
        const what = `${JSON.stringify(mark)} at ${pointer}: ${reply.text}`
        assert.ok(reply.status >= 400 && reply.status < 500, what)
        if (!labels.includes(keyOf(field))) continue
        const { fields: faulty = [] } = (reply.body.details ?? {}) as { fields?: { pointer: string; why: string }[] }
        const why = faulty.find((one) => one.pointer === pointer)?.why ?? ''
        assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], what)
        assert.match(why, /one line|leave it out, or send its present value/, what)
      }
    }
  })
}

test('the operations take names', () => assert.ok(labelsSeen > 30, `${labelsSeen} fields`))

suite('a name of before the rule', () => {
  const old = 'Ada\u202e\u200f'
  const kinds: [table: string, path: string, change: Record<string, unknown>][] = [
    ['role', '/v1/roles/{role_id}', { description: 'new' }],
    ['tenant_group', '/v1/groups/{id}', { description: 'new' }],
    ['policy', '/v1/policies/{id}', { description: 'new' }],
    ['notification_channel', '/v1/notification-channels/{id}', { enabled: false }],
    ['identity_provider', '/v1/identity-providers/{id}', { enabled: false }],
    ['provisioner', '/v1/provisioners/{id}', { enabled: false }],
    ['tenant_user', '/v1/users/{id}', { active: false }],
  ]
  const call = (method: string, url: string, body?: unknown) =>
    house.call({ method, url, token: owner.token, tenant_id, ...(body !== undefined && { body }) })

  for (const [table, path, change] of kinds) {
    test(`is shown, stays and can be sent back, and no other such name, by a change of ${path}`, async () => {
      const url = addressed(path, records)
      const id = url.split('/').at(-1)
      await house.asSuperuser(`update ${table} set name = $1 where tenant_id = $2 and id::text = $3`, [
        old,
        tenant_id,
        id,
      ])
      assert.equal((await call('GET', url)).body.name, old)
      const changed = await call('PATCH', url, change)
      assert.deepEqual([changed.status, changed.body.name], [200, old], changed.text)
      const { body: read } = await call('GET', url)
      const again = await call('PATCH', url, read)
      assert.deepEqual([again.status, again.body.name], [200, old], again.text)
      const other = await call('PATCH', url, { ...read, name: `${old}!` })
      const { fields } = (other.body.details ?? {}) as { fields?: { pointer: string; why: string }[] }
      assert.deepEqual(
        [other.status, other.body.code, fields?.[0]?.pointer],
        [400, 'invalid_input', '/name'],
        other.text,
      )
      assert.match(fields?.[0]?.why ?? '', /^must be a name that one can see, on one line/)
    })
  }

  test('is shown among cloud accounts', async () => {
    await house.asSuperuser(
      `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank) values ($1, $2, $2, $2, '{}', 0)`,
      [tenant_id, old],
    )
    const { data } = (await call('GET', '/v1/cloud/accounts?limit=200')).body as {
      data: { id: string; name: string }[]
    }
    assert.deepEqual(
      data.filter(({ id }) => id === old).map(({ name }) => name),
      [old],
    )
  })

  test('can be sent back with the user’s own profile, and no other such name', async () => {
    await house.asSuperuser('update tenant_user set display_name = $1, first_name = $1 where id = $2', [
      old,
      owner.user_id,
    ])
    const url = '/v1/users/me/profile'
    const { body: read } = await call('GET', url)
    assert.equal(read.display_name, old)
    const again = await call('PUT', url, { ...read, last_name: 'L' })
    assert.deepEqual([again.status, again.body.display_name, again.body.last_name], [200, old, 'L'], again.text)
    const other = await call('PUT', url, { ...read, display_name: `${old}!` })
    assert.deepEqual([other.status, other.body.code], [400, 'invalid_input'], other.text)
  })
})
