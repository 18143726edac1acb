import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { connectAlone } from '../../src/db/connect.ts'
import { readRunningEmbedded } from '../../src/db/embedded/start.ts'
import { type Exchange, startRecorder } from '../support/recorder.ts'
import { dataFolder, type Sallyport, startOnEmbedded, startScript } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

const data_dir = await dataFolder()

/** Looks past every wall, while the embedded server is running. */
async function asSuperuser<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  const endpoint = await readRunningEmbedded(data_dir)
  assert.ok(endpoint !== undefined, 'no embedded PostgreSQL is running')
  const { host, port, superuser: user, password } = endpoint
  const client = await connectAlone({ host, port, user, database: 'sallyport', ...(password && { password }) })
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** What the service has given its word on: of each request the status that it answered last. */
function acknowledged(exchanges: readonly Exchange[]) {
  const requests = new Map<string, string>()
  const ids: Record<'user' | 'policy' | 'policy_rule' | 'revoked' | 'active', string[]> = {
    user: [],
    policy: [],
    policy_rule: [],
    revoked: [],
    active: [],
  }
  for (const { method, path, status, body } of exchanges.filter((exchange) => exchange.status < 300)) {
    const call = `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '{id}')} ${status}`
    const id = String(body.id ?? path.split('/')[3])
    const noted: Record<string, () => unknown> = {
      'POST /v1/users 201': () => ids.user.push(id),
      'POST /v1/policies 201': () => ids.policy.push(id),
      'POST /v1/policies/{id}/rules 201': () => ids.policy_rule.push(id),
      'POST /v1/requests 201': () => requests.set(id, String(body.status)),
      'POST /v1/requests/{id}/approve 200': () => requests.set(id, 'approved'),
      'DELETE /v1/requests/{id} 204': () => requests.set(id, 'cancelled'),
      'POST /v1/grants/{id}/revoke 200': () => ids.revoked.push(id),
      'GET /v1/access/requests/{id} 200': () => {
        for (const grant of body.grants as { id: string; status: string }[]) {
          if (grant.status === 'active') ids.active.push(grant.id)
        }
      },
    }
    noted[call]?.()
  }
  return { requests, ids }
}

/** Everything answered before the kill is there, with its events. */
async function assertKept(exchanges: readonly Exchange[]): Promise<void> {
  const { requests, ids } = acknowledged(exchanges)
  const kept = await asSuperuser<{ id: string; status: string }>('select id, status from access_request')
  const statuses = new Map(kept.map(({ id, status }) => [id, status]))
  for (const [id, status] of requests) {
    const now = statuses.get(id)
    assert.ok(now !== undefined, `the request ${id}, answered as ${status}, is lost`)
    if (status !== 'pending') assert.equal(now, status, `the request ${id} is not what was answered`)
  }
  const events = await asSuperuser<{ happened: string }>(`select type || ' ' || subject_id as happened from event`)
  const happened = new Set(events.map((event) => event.happened))
  for (const [id, status] of requests) {
    assert.ok(happened.has(`request.created ${id}`), `no event tells that ${id} was made`)
    if (status !== 'pending')
      assert.ok(happened.has(`request.${status} ${id}`), `no event tells that ${id} is ${status}`)
  }
  for (const [table, kind] of [
    ['tenant_user', 'user'],
    ['policy', 'policy'],
    ['policy_rule', 'policy_rule'],
  ] as const) {
    const rows = await asSuperuser(`select from ${table} where id = any($1)`, [ids[kind]])
    assert.equal(
      rows.length,
      ids[kind].length,
      `of ${ids[kind].length} ${kind}s that were answered ${rows.length} are there`,
    )
  }
  const grants = await asSuperuser<{ id: string; status: string }>('select id, status from access_grant')
  const grantStatus = new Map(grants.map(({ id, status }) => [id, status]))
  for (const id of ids.active) assert.match(grantStatus.get(id) ?? 'lost', /^(active|expired|revoked)$/)
  for (const id of ids.revoked) assert.equal(grantStatus.get(id), 'revoked')
}

/** What is still under way: grants that wait for their target, and decisions that their requester was not told of. */
const underWay = `
  select 'grant ' || id || ' is ' || status || ', ' || provisioning_status as what from access_grant
  where status = 'pending' or provisioning_status in ('attempting', 'deprovisioning', 'deprovisioning_failed')
  union all
  select 'act on ' || target_key from entitlement where act is not null
  union all
  select 'nobody was told of ' || type || ' ' || id from event e
  where type in ('request.approved', 'grant.activated', 'grant.revoked', 'request.break_glass')
    and not exists (select from notification n where n.tenant_id = e.tenant_id and n.event_id = e.id)`

/** What the target holds and no live grant wants, and what a live grant wants and the target lacks. */
const dangling = `
  with wanted as (
    select e.tenant_id, e.target_key as key from entitlement e join access_grant g
      on g.tenant_id = e.tenant_id and g.entitlement_id = e.id
    where g.status = 'active' and g.expires_at > clock_timestamp())
  (select 'held for nobody' as what, key from sandbox_assignment a
    where not exists (select from wanted w where w.tenant_id = a.tenant_id and w.key = a.key))
  union all
  (select 'not held', key from wanted w
    where not exists (select from sandbox_assignment a where w.tenant_id = a.tenant_id and w.key = a.key))`

/** By itself, within the time that a killed process's leases last, everything comes to where it should be. */
async function assertConverges(): Promise<number> {
  const began = performance.now()
  let left: { what: string }[] = []
  await until(
    'everything under way has come to an end',
    async () => {
      left = await asSuperuser<{ what: string }>(underWay)
      return left.length === 0
    },
    30_000,
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}: ${left.map(({ what }) => what).join('; ')}`)
  })
  assert.deepEqual(await asSuperuser(dangling), [])
  return Math.round(performance.now() - began)
}

/** Plays the demo and kills the service when `moment` has come, or when the demo is over; answers what was acknowledged. */
async function playAndKill(
  sallyport: Sallyport,
  moment: (answers: () => number) => Promise<unknown>,
): Promise<readonly Exchange[]> {
  let answers = 0
  const { url, exchanges } = await startRecorder(sallyport.base_url, (count) => {
    answers = count
  })
  const demo = startScript('demo', ['--url', url], { DATA_DIR: data_dir })
  await Promise.race([moment(() => answers), demo.end()])
  await sallyport.kill()
  await demo.end()
  return exchanges
}

/** Answers the seconds that it took. */
async function assertDemoGreen(sallyport: Sallyport): Promise<string | undefined> {
  const demo = startScript('demo', ['--url', sallyport.base_url], { DATA_DIR: data_dir })
  assert.equal(await demo.end(), 0, demo.output())
  return /steps in ([\d.]+) s/.exec(demo.output())?.[1]
}

test('killed while a target is at work, it starts again with nothing lost, and gives what was approved', async (t) => {
  const before = await startOnEmbedded(data_dir)
  await asSuperuser('insert into sandbox_weather (tenant_id, polls) select id, 6 from tenant')
  const exchanges = await playAndKill(before, () =>
    until('a grant is being given', async () => {
      const rows = await asSuperuser(`select from access_grant where provisioning_status = 'attempting'`)
      return rows.length > 0
    }),
  )
  assert.ok(acknowledged(exchanges).requests.size > 0)

  const again = await startOnEmbedded(data_dir)
  t.diagnostic(`ready again after ${Math.round(again.readyAfterMs)} ms`)
  await assertKept(exchanges)
  t.diagnostic(`all at rest after ${await assertConverges()} ms more`)
  const given = await asSuperuser(`select from access_grant where status = 'active'`)
  assert.ok(given.length > 0, 'what was being given was not')
  await asSuperuser('delete from sandbox_weather')
  t.diagnostic(`the demo runs in ${await assertDemoGreen(again)} s`)
  assert.equal(await again.stop(), 0, again.output())
})

test('killed at any step of the demo, it starts again with nothing lost, and the demo runs', async (t) => {
  const step = randomInt(10, 70)
  t.diagnostic(`killed at answer ${step}`)
  const exchanges = await playAndKill(await startOnEmbedded(data_dir), (answers) =>
    until('that step has come', async () => answers() >= step),
  )
  const again = await startOnEmbedded(data_dir)
  await assertKept(exchanges)
  t.diagnostic(`the demo runs in ${await assertDemoGreen(again)} s`)
  t.diagnostic(`all at rest after ${await assertConverges()} ms more`)
  assert.equal(await again.stop(), 0, again.output())
})
