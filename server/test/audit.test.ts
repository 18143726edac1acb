import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEvent } from '../src/audit/audit-event.ts'
import { sql } from '../src/db/sql.ts'
import { emit } from '../src/events/emit.ts'
import { systemActor, type Tx } from '../src/kernel/context.ts'
import { openHouse } from './support/house.ts'
import { untilEventsSettle } from './support/settled.ts'
import { until } from './support/wait.ts'

const house = await openHouse()
const tenant = await house.tenant('audit')
const { tenant_id, owner, people } = tenant

const read = (query: string) =>
  house.call({ method: 'GET', url: `/v1/audit-events${query}`, token: people.auditor.token, tenant_id })
const eventsOf = async (query: string) => {
  const reply = await read(query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data as AuditEvent[]
}

const made = await house.call({
  method: 'POST',
  url: '/v1/policies',
  api_key: owner.api_key,
  tenant_id,
  body: { name: 'a policy' },
})
const policy_id = String(made.body.id)
await house.call({ method: 'GET', url: '/v1/settings', token: people.user.token, tenant_id })

test('lists actor, event and subject, newest first, with the user behind a key and the key', async () => {
  const [event] = await eventsOf(`?subject=${policy_id}`)
  assert.equal(event?.type, 'policy.created')
  assert.equal(event.actor.kind, 'api_key')
  assert.equal(event.actor.id, owner.user_id)
  assert.ok(event.actor.api_key_id)
  assert.deepEqual(event.subject, { type: 'policy', id: policy_id })
  const all = await eventsOf('?limit=200')
  assert.deepEqual(
    all.map((one) => one.at),
    all
      .map((one) => one.at)
      .sort()
      .reverse(),
  )
})

test('logs refusals with the user and the missing scope', async () => {
  const [refused] = await eventsOf(`?type=access.refused&actor=${people.user.user_id}`)
  assert.equal(refused?.data.operation, 'listSettings')
  assert.equal(refused.data.code, 'forbidden')
})

test('can be filtered by kind, user, subject and time', async () => {
  const all = await eventsOf('?limit=200')
  const oldest = all.at(-1)?.at ?? ''
  assert.deepEqual(await eventsOf(`?to=${encodeURIComponent(oldest)}`), [])
  assert.equal((await eventsOf(`?limit=200&from=${encodeURIComponent(oldest)}`)).length, all.length)
  assert.ok((await eventsOf('?type=user.created')).every((event) => event.type === 'user.created'))
  assert.deepEqual(await eventsOf(`?subject=${encodeURIComponent("%' or true --")}`), [])
  assert.equal((await read('?type=nothing.happened')).status, 400)
  assert.equal((await read('?from=yesterday')).status, 400)
})

const exportFrom = (query: string) =>
  house.app.server.inject({
    method: 'GET',
    url: `/v1/audit-events/export${query}`,
    headers: { authorization: `Bearer ${people.auditor.token}`, 'x-tenant-id': tenant_id },
  })
const linesOf = (body: string) =>
  body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditEvent)

test('is listed in pages without a gap, and exported in lines, oldest first', async () => {
  await untilEventsSettle(house)
  const paged: AuditEvent[] = []
  let cursor = ''
  for (;;) {
    const { body } = await read(`?limit=3${cursor}`)
    paged.push(...(body.data as AuditEvent[]))
    if (body.has_more !== true) break
    cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`
  }
  const exported = await exportFrom('')
  assert.equal(exported.headers['content-type'], 'application/x-ndjson')
  const lines = linesOf(exported.body)
  assert.deepEqual(
    lines.reverse().map((event) => event.id),
    paged.map((event) => event.id),
  )
  const rows = await house.asSuperuser<{ n: number }>('select count(*)::integer as n from event where tenant_id = $1', [
    tenant_id,
  ])
  assert.equal(lines.length, rows[0]?.n)
})

test('a reader who goes on after the last line gets each event once, also one that is committed late', async () => {
  const emitIn = (tx: Tx, subject_id: string) =>
    tx.write([
      emit(
        { tx, actor: systemActor, request_id: 'test' },
        { type: 'group.created', subject_type: 'group', subject_id },
      ),
    ])
  const tx = house.database.tenant(tenant_id)
  await untilEventsSettle(house)
  let last = linesOf((await exportFrom('')).body).at(-1)?.id
  const got: string[] = []
  const follow = async () => {
    const lines = linesOf((await exportFrom(`?after=${last}`)).body)
    got.push(...lines.map(({ subject }) => subject.id))
    last = lines.at(-1)?.id ?? last
  }
  const begin = (inside: Tx) => inside.read(sql`select pg_current_xact_id()`)
  await tx.interactive(async (later) => {
    await tx.interactive(async (earlier) => {
      await begin(earlier)
      await emitIn(later, 'written first')
      await emitIn(earlier, 'committed first')
      await emitIn(tx, 'alone')
      await follow()
      assert.deepEqual(got, [], 'an event that an open transaction may precede is not exported yet')
      assert.equal((await eventsOf('?subject=alone')).length, 1, 'the list has it at once')
    })
    await until('the first one is exported', async () => {
      await follow()
      return got.length > 0
    })
    assert.deepEqual(got, ['committed first'])
  })
  await until('all are exported', async () => {
    await follow()
    return got.length >= 3
  })
  await follow()
  assert.deepEqual(got, ['committed first', 'written first', 'alone'])
})

test('an export goes on only after an event of the same audit log (T9)', async () => {
  const other = await house.tenant('another')
  const [event] = await house.asSuperuser('select id from event where tenant_id = $1 limit 1', [other.tenant_id])
  for (const id of [String(event?.id), '0190a000-0000-7000-8000-000000000000', 'x']) {
    const refused = await exportFrom(`?after=${id}`)
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'invalid_input'], id)
  }
})
