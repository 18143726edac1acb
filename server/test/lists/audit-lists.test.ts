import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEvent } from '../../src/audit/audit-event.ts'
import { openHouse } from '../support/house.ts'
import { untilEventsSettle } from '../support/settled.ts'
import { callerOf } from '../support/whole-list.ts'

/** The filters of the audit log, in the list and in the export. */
const house = await openHouse()
const ours = await house.tenant('audit')
const { tenant_id, owner, people } = ours
const { send, keyWith, whole } = callerOf(house, ours)
const theirs = await house.tenant('others')

const types = ['request.created', 'request.created', 'request.created', 'policy.created', 'grant.activated']
const actors = [people.user.user_id, people.user.user_id, people.admin.user_id, owner.user_id, null]
/** Over 2,000 of a month, so that a rare one is behind more than a page reads. `at` goes back now and then, by less than a minute. */
await house.asSuperuser(
  `insert into event (tenant_id, id, type, at, actor_kind, actor_id, subject_type, subject_id, request_id)
    select t, gen_random_uuid(), ($2::text[])[1 + n % 5],
      '2090-01-01'::timestamptz + make_interval(secs => n * 1000 - case when n % 40 = 0 then 1050 else 0 end), 'user',
      ($3::uuid[])[1 + n % 5], 'request', case when n % 800 = 3 then 'rare' else 's' || n % 9 end, 'test'
    from generate_series(1, 2600) n, unnest($1::uuid[]) t`,
  [[tenant_id, theirs.tenant_id], types, actors],
)
await untilEventsSettle(house)

const every = await whole<AuditEvent>('/v1/audit-events')
const idsOf = (events: readonly AuditEvent[]) => events.map(({ id }) => id)
const has = (value: string | null, ...values: string[]) => value !== null && values.includes(value)
const [from, to] = ['2090-01-10T05:56:40Z', '2090-01-10T17:03:20Z']
const between = ({ at }: AuditEvent) => Date.parse(at) >= Date.parse(from) && Date.parse(at) < Date.parse(to)
const moments = `from=${from}&to=${to}`

const filters: [string, (event: AuditEvent) => boolean][] = [
  ['', () => true],
  ['type=policy.created', ({ type }) => type === 'policy.created'],
  ['type=policy.created,grant.activated', ({ type }) => has(type, 'policy.created', 'grant.activated')],
  [`actor=${people.user.user_id}`, ({ actor }) => actor.id === people.user.user_id],
  [`actor=${people.user.user_id.toUpperCase()},me`, ({ actor }) => has(actor.id, people.user.user_id, owner.user_id)],
  ['subject=rare', ({ subject }) => subject.id === 'rare'],
  ['subject=rare,s3', ({ subject }) => has(subject.id, 'rare', 's3')],
  [moments, between],
  [`from=${to}`, ({ at }) => Date.parse(at) >= Date.parse(to)],
  [`to=${from}`, ({ at }) => Date.parse(at) < Date.parse(from)],
  [`type=policy.created&${moments}`, (event) => event.type === 'policy.created' && between(event)],
  ['type=request.created&subject=rare', ({ subject, type }) => subject.id === 'rare' && type === 'request.created'],
  ['type=policy.created&actor=me', ({ type, actor }) => type === 'policy.created' && actor.id === owner.user_id],
  [`type=policy.created&actor=${people.user.user_id}`, () => false],
  [
    `type=policy.created,request.created&subject=rare,s1&${moments}`,
    (event) =>
      has(event.type, 'policy.created', 'request.created') && has(event.subject.id, 'rare', 's1') && between(event),
  ],
]

async function exported(query: string): Promise<AuditEvent[]> {
  const headers = { 'x-api-key': owner.api_key, 'x-tenant-id': tenant_id }
  const url = `/v1/audit-events/export?${query}`
  const { statusCode, body } = await house.app.server.inject({ method: 'GET', url, headers })
  assert.equal(statusCode, 200, body)
  return body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditEvent)
}

for (const [query, passes] of filters) {
  test(`lists and exports exactly the events of \`${query}\`, in order`, async () => {
    const expected = idsOf(every.filter(passes))
    for (const limit of [200, 37]) {
      assert.deepEqual(idsOf(await whole<AuditEvent>(`/v1/audit-events?${query}`, limit)), expected, `by ${limit}`)
    }
    assert.deepEqual(idsOf(await exported(query)).reverse(), expected)
  })
}

test('the list is in the order of writing, and has each event of the tenant once', async () => {
  const rows = await house.asSuperuser<AuditEvent>('select id from event where tenant_id = $1 order by seq desc', [
    tenant_id,
  ])
  assert.deepEqual(idsOf(every), idsOf(rows))
})

test('faulty values are refused, and so is a caller without audit:read', async () => {
  for (const path of ['/v1/audit-events', '/v1/audit-events/export']) {
    for (const query of ['type=policy.created,nothing', 'actor=you', 'actor=', 'subject=a,,b', 'from=yesterday']) {
      assert.equal((await send('GET', `${path}?${query}`)).status, 400, query)
    }
    assert.equal((await send('GET', `${path}?subject=rare`, undefined, await keyWith('requests:read'))).status, 403)
  }
})
