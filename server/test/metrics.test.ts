import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workTables } from '../src/jobs/claim.ts'
import { newId } from '../src/kernel/id.ts'
import { metricTable } from '../src/metrics/metric-table.ts'
import { openMetrics } from '../src/metrics/metrics.ts'
import { watch } from '../src/metrics/watch.ts'
import { operations } from '../src/operations.ts'
import { limitConnections, testDatabase } from './support/database.ts'
import { readExposition } from './support/exposition.ts'
import { freePort } from './support/free-port.ts'
import { startOnTestServer } from './support/sallyport.ts'
import { until } from './support/wait.ts'

const METRICS_PORT = String(await freePort())
const sallyport = await startOnTestServer({ METRICS_PORT })
const page = `http://127.0.0.1:${METRICS_PORT}/metrics`

const idle = {
  pools: {},
  underWay: () => 0,
  listening: () => 0,
  followsChanges: () => false,
  isReady: () => true,
  paces: () => ({}),
}

async function scrape() {
  const reply = await fetch(page)
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return { text, families: readExposition(text) }
}

test('exports every metric of the table, with its kind, and no other of its own', async () => {
  const { families } = await scrape()
  const own = [...families].filter(([name]) => name.startsWith('sallyport_'))
  assert.deepEqual(
    Object.fromEntries(own.map(([name, { kind, help }]) => [name, { kind, help }])),
    Object.fromEntries(Object.entries(metricTable).map(([name, { kind, means }]) => [name, { kind, help: means }])),
  )
  for (const [name, { samples }] of own) {
    const { labels } = metricTable[name as keyof typeof metricTable]
    for (const sample of samples) {
      const names = Object.keys(sample.labels).filter((label) => label !== 'le')
      assert.deepEqual(names, [...labels], name)
    }
  }
  assert.ok(families.has('nodejs_eventloop_lag_p99_seconds') && families.has('process_resident_memory_bytes'))
})

test('counts requests by operation and status, and failed sign-ins apart from successful ones', async () => {
  const wrong = { email: 'nobody@example.com', password: 'a wrong password' }
  assert.equal((await sallyport.client(undefined)('POST', '/v1/auth/login', wrong)).status, 401)
  await fetch(`${sallyport.base_url}/nowhere`)
  const { families } = await scrape()
  const answered = families.get('sallyport_requests_total')?.samples ?? []
  const count = (operation: string, status: string) =>
    answered.find(({ labels }) => labels.operation === operation && labels.status === status)?.value
  assert.equal(count('login', '401'), 1)
  assert.equal(count('none', '404'), 1)
  const known = new Set(['none', ...Object.keys(operations)])
  for (const { labels } of answered) assert.ok(known.has(labels.operation ?? ''), labels.operation)
  const took = families.get('sallyport_request_duration_seconds')?.samples ?? []
  assert.equal(took.find(({ name, labels }) => name.endsWith('_count') && labels.operation === 'login')?.value, 1)
})

test('counts refusals by the name of the limit', async () => {
  const wrong = { email: 'somebody@example.com', password: 'a wrong password' }
  for (let tries = 0; tries < 12; tries += 1) await sallyport.client(undefined)('POST', '/v1/auth/login', wrong)
  const limited = (await scrape()).families.get('sallyport_limited_total')?.samples
  assert.deepEqual(limited, [{ name: 'sallyport_limited_total', labels: { limit: 'account' }, value: 2 }])
})

test('exports the state of the database connections, and whether notices arrive', async () => {
  await until('notices arrive', async () => {
    const [connected] = (await scrape()).families.get('sallyport_rights_heard')?.samples ?? []
    return connected?.value === 1
  })
  const { families } = await scrape()
  const open = families.get('sallyport_database_connections')?.samples ?? []
  assert.deepEqual(open.map(({ labels }) => labels.pool).toSorted(), [
    'background',
    'confirming',
    'requests',
    'revocation',
    'watching',
  ])
  const used = open.filter(({ labels }) => labels.pool !== 'confirming')
  for (const { value, labels } of used) assert.ok(value >= 1, `${labels.pool}: ${value}`)
})

test('contains no tenant, no id and no text of a user (T14)', async () => {
  const canary = `canary-${newId()}`
  const ada = await sallyport.join(canary, ['user'])
  const resource = { type: 'cloud_account', id: '123456789012' }
  await ada.call('POST', '/v1/requests', { resource, action: canary, reason: canary, duration_seconds: 60 })
  await ada.call('GET', `/v1/requests/${canary}?${canary}=1`, undefined, { 'x-request-id': canary })
  await fetch(`${sallyport.base_url}/${canary}`)
  const { text, families } = await scrape()
  const samples = families.get('sallyport_policy_question_duration_seconds')?.samples ?? []
  assert.ok(
    (samples.find(({ name }) => name.endsWith('_count'))?.value ?? 0) > 0,
    'policy was evaluated, and not counted',
  )
  assert.ok(!text.includes(canary), 'the canary is exported')
  assert.ok(!text.includes(sallyport.bootstrap.tenant_id), 'a tenant is exported')
  assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-/, 'an id is exported')
})

test('is served only on the loopback address, by GET, apart from the service', async () => {
  await assert.rejects(fetch(`http://127.0.0.2:${METRICS_PORT}/metrics`))
  assert.equal((await fetch(page, { method: 'POST' })).status, 405)
  assert.equal((await fetch(`http://127.0.0.1:${METRICS_PORT}/v1/users`)).status, 404)
  assert.equal((await fetch(`${sallyport.base_url}/metrics`)).status, 404)
})

test('exports what only the database knows: due work, stuck work, and the lag of each subscriber', async () => {
  const { database, asSuperuser } = await testDatabase()
  const read = watch({ metrics: openMetrics(), database, subscribers: ['told', 'not-yet'], ...idle })
  const [tenant_id, user_id, request_id, due_id] = [newId(), newId(), newId(), newId()]
  const [failing_id, slow_id] = [newId(), newId()]
  await asSuperuser(`
    insert into tenant (id, name) values ('${tenant_id}', 'acme');
    insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values ('${tenant_id}', '${user_id}', 'ada@example.com', 'ada@example.com', 'Ada', 'local');
    insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
        approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip,
        next_look_at)
      select '${tenant_id}', id, '${user_id}', 'cloud_account', '1', 'Look', 'pending',
        'require', false, 600, '{}', false, '[]', 'token', '127.0.0.1', due
      from (values ('${request_id}'::uuid, clock_timestamp() + interval '1 hour'),
        ('${due_id}', clock_timestamp() - interval '90 seconds')) as r (id, due);
    insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, failures, next_look_at)
      select '${tenant_id}', id, 'sandbox', id::text, '{}', false, failures, clock_timestamp() + interval '1 minute'
      from (values ('${failing_id}'::uuid, 3), ('${slow_id}', 1)) as e (id, failures);
    insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
        duration_seconds, status, provisioning_status, activate_by, ended_at, entitlement_id)
      select '${tenant_id}', gen_random_uuid(), '${request_id}', '${user_id}', 'a grant', 'cloud_account', place,
        'Look',
        600, 'revoked', provisioning_status, clock_timestamp(), clock_timestamp() - ago, entitlement_id
      from (values
        ('long over', 'deprovisioning', interval '10 minutes', '${slow_id}'::uuid),
        ('failing', 'deprovisioning_failed', interval '1 minute', '${failing_id}'),
        ('under way', 'deprovisioning', interval '1 minute', '${slow_id}'),
        ('gone', 'deprovisioned', interval '1 hour', '${slow_id}'))
        as g (place, provisioning_status, ago, entitlement_id);
    insert into event_cursor (subscriber) values ('told');
    insert into event (tenant_id, id, type, at, actor_kind, subject_type, subject_id, request_id)
      select '${tenant_id}', gen_random_uuid(), 'tenant.created', clock_timestamp() - interval '30 seconds', 'operator',
        'tenant', 'x', 'test' from generate_series(1, 3);
    insert into event_parked (tenant_id, subscriber, event_id, next_look_at, last_error)
      select tenant_id, 'told', id, clock_timestamp(), 'no' from event limit 2`)
  const families = readExposition(await read())
  const figure = (name: string, ...labels: string[]) =>
    families.get(name)?.samples.find((sample) => Object.values(sample.labels).join() === labels.join())?.value
  const about = (name: string, least: number, ...labels: string[]) => {
    const value = figure(name, ...labels) ?? 0
    assert.ok(value >= least && value < least + 60, `${name} is ${value}`)
  }
  assert.equal(figure('sallyport_database_up'), 1)
  assert.equal(figure('sallyport_due_work', 'access_request'), 1)
  const lists = families.get('sallyport_due_work')?.samples.map(({ labels }) => labels.list)
  assert.deepEqual(lists?.sort(), Object.keys(workTables).sort())
  about('sallyport_due_work_oldest_seconds', 90, 'access_request')
  assert.equal(figure('sallyport_due_work', 'access_grant'), 0)
  assert.equal(figure('sallyport_due_work_oldest_seconds', 'entitlement'), 0)
  assert.equal(figure('sallyport_stuck_revokes'), 2)
  about('sallyport_stuck_revokes_oldest_seconds', 600)
  assert.equal(figure('sallyport_events_behind', 'told'), 3)
  about('sallyport_event_lag_seconds', 30, 'told')
  assert.equal(figure('sallyport_events_parked', 'told'), 2)
})

test('shows that the database is down, omits unknown values, and continues when it is up again', async () => {
  const db = await testDatabase()
  const read = watch({ metrics: openMetrics(), database: db.database, subscribers: [], ...idle })
  const up = async () => readExposition(await read()).get('sallyport_database_up')?.samples[0]?.value
  assert.equal(await up(), 1)
  await limitConnections(db, 0)
  await until('the metrics show that the database is down', async () => (await up()) === 0)
  assert.deepEqual(readExposition(await read()).get('sallyport_due_work')?.samples, [])
  assert.deepEqual(readExposition(await read()).get('sallyport_stuck_revokes')?.samples, [])
  await limitConnections(db, -1)
  await until('the metrics show that the database is up', async () => (await up()) === 1)
  assert.equal(readExposition(await read()).get('sallyport_stuck_revokes')?.samples[0]?.value, 0)
})

test('exports how fast the targets of a type take calls, and how many they throttled', async () => {
  const aws = (await scrape()).families
  const samplesOf = (families: typeof aws, name: string) => families.get(name)?.samples
  const labels = { provisioner_type: 'aws-identity-center' }
  for (const [name, value] of [
    ['sallyport_target_throttled_total', 0],
    ['sallyport_target_calls_per_second', 18],
  ] as const)
    assert.deepEqual(samplesOf(aws, name), [{ name, labels, value }])

  const { database } = await testDatabase()
  const paces = () => ({ 'aws-identity-center': { throttled: 7, calls_per_second: 2.5 } })
  const read = watch({ metrics: openMetrics(), database, subscribers: [], ...idle, paces })
  const families = readExposition(await read())
  assert.equal(samplesOf(families, 'sallyport_target_throttled_total')?.[0]?.value, 7)
  assert.equal(samplesOf(families, 'sallyport_target_calls_per_second')?.[0]?.value, 2.5)
})

test('a hundred scrapes at once query the database once', async () => {
  let queries = 0
  const { database } = await testDatabase()
  const counting = {
    ...database,
    work: {
      ...database.work,
      write: (statements: never) => {
        queries += 1
        return database.work.write(statements)
      },
    },
  }
  const read = watch({ metrics: openMetrics(), database: counting as typeof database, subscribers: [], ...idle })
  await Promise.all(Array.from({ length: 100 }, read))
  assert.equal(queries, 1)
})

test('exports deliveries that wait, and channels that are failing', async () => {
  const { database, asSuperuser } = await testDatabase()
  const read = watch({ metrics: openMetrics(), database, subscribers: [], ...idle })
  const [tenant_id, lane_id] = [newId(), newId()]
  await asSuperuser(`
    insert into tenant (id, name) values ('${tenant_id}', 'acme');
    insert into delivery_lane (tenant_id, id, channel_type, recipient, failures, next_look_at)
      values ('${tenant_id}', '${lane_id}', 'email', 'a@example.com', 3, clock_timestamp() + interval '1 hour');
    insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
      select '${tenant_id}', gen_random_uuid(), 'group.created', 'operator', 'group', 'x', 'test'
        from generate_series(1, 3);
    insert into delivery (tenant_id, id, lane_id, channel_id, event_id, seq, created_at, give_up_at, status,
      finished_at, next_attempt_at)
      select tenant_id, gen_random_uuid(), '${lane_id}', gen_random_uuid(), id, seq,
        clock_timestamp() - interval '2 hours',
        clock_timestamp(), case when seq % 3 = 0 then 'failed' else 'pending' end,
        case when seq % 3 = 0 then clock_timestamp() end, case when seq % 3 = 0 then null else clock_timestamp() end
      from event`)
  const families = readExposition(await read())
  const figure = (name: string) => families.get(name)?.samples[0]?.value ?? 0
  assert.equal(figure('sallyport_deliveries_waiting'), 2)
  assert.ok(figure('sallyport_deliveries_waiting_oldest_seconds') >= 7_200)
  const heldUp = families.get('sallyport_delivery_lanes_held_up')?.samples ?? []
  assert.deepEqual(Object.fromEntries(heldUp.map(({ labels, value }) => [labels.channel_type, value])), {
    email: 1,
    webhook: 0,
  })
})
