import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Outcome, openCaller } from '../support/load.ts'
import { type Sallyport, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** Longer than a busy machine delays a caller's next call. */
const STOP_DELAY_SECONDS = '2'

/** Without it a few callers keep the whole machine busy, for as long as the service takes to stop. */
const betweenCallsMs = 20

const leaseTables = ['access_request', 'access_grant', 'entitlement', 'event_queue'] as const
const body = {
  resource: { type: 'cloud_account', id: '123456789012' },
  action: 'Look',
  reason: 'a look',
  duration_seconds: 60,
}

/** Users who request access one after another, each on their own connection, until `enough`. */
async function callRepeatedly(
  count: number,
  headers: Record<string, string>,
  urlOf: () => string | undefined,
  goesOn: (outcome: Outcome) => boolean,
): Promise<Outcome[]> {
  const callers = Array.from({ length: count }, () => openCaller(headers))
  const outcomes: Outcome[] = []
  await Promise.all(
    callers.map(async ({ send, close }, index) => {
      for (let number = index; ; number += 1) {
        const url = urlOf()
        if (url === undefined) break
        const outcome = await (number % 2 === 0
          ? send(`${url}/v1/requests`, 'POST', body)
          : send(`${url}/v1/grants?limit=5`, 'GET'))
        outcomes.push(outcome)
        if (!goesOn(outcome)) break
        await pause(betweenCallsMs)
      }
      close()
    }),
  )
  return outcomes
}

function ids(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap((outcome) =>
    'status' in outcome && outcome.status === 201 ? [String((JSON.parse(outcome.body) as { id: string }).id)] : [],
  )
}

/** The failures, each kind once. */
function failures(outcomes: readonly Outcome[]): string[] {
  const failed = outcomes.filter((outcome) => !('status' in outcome) || ![200, 201].includes(outcome.status))
  return [...new Set(failed.map((outcome) => JSON.stringify(outcome)))]
}

/** Signs Ada in; her requests are approved automatically. */
async function prepare(sallyport: Sallyport): Promise<Record<string, string>> {
  const key = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  const policy = await key<{ id: string }>('POST', '/v1/policies', { name: 'At once' })
  await key('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit', approval_mode: 'auto' })
  const { token } = await sallyport.join('Ada', ['user'])
  return { authorization: `Bearer ${token}`, 'x-tenant-id': sallyport.bootstrap.tenant_id }
}

test('stopped under load, it answers every call that was sent, releases its leases, and ends with 0 (F13)', async (t) => {
  const sallyport = await startOnTestServer({ STOP_DELAY_SECONDS })
  const headers = await prepare(sallyport)
  // Each caller continues until an answer announces the end of its connection.
  const asking = callRepeatedly(
    6,
    headers,
    () => sallyport.base_url,
    (outcome) => 'status' in outcome && !outcome.closes,
  )
  await until('a grant is active', async () => {
    const [held] = await sallyport.asSuperuser(`select from access_grant where status = 'active' limit 1`)
    return held !== undefined
  })
  sallyport.signal('SIGTERM')
  await until('the service has received the signal', async () => sallyport.output().includes('SIGTERM'))
  const readiness = (await fetch(`${sallyport.base_url}/readyz`).catch(() => undefined))?.status
  const outcomes = await asking
  assert.equal(await sallyport.end(), 0, sallyport.output())
  assert.deepEqual(failures(outcomes), [])
  assert.ok(readiness === 503 || readiness === undefined, `ready with ${readiness}`)
  const made = ids(outcomes)
  const kept = await sallyport.asSuperuser('select from access_request where id = any($1)', [made])
  assert.equal(kept.length, made.length)
  for (const table of leaseTables) {
    const held = await sallyport.asSuperuser(`select from ${table} where lease_until > clock_timestamp()`)
    assert.equal(held.length, 0, `${table}: ${held.length} rows are still leased`)
  }
  t.diagnostic(`${outcomes.length} calls, ${made.length} requests`)
})

test('one of two processes behind a balancer stops, and no call fails (F13)', async (t) => {
  const first = await startOnTestServer({ STOP_DELAY_SECONDS, PUBLIC_URL: 'http://sallyport.example' })
  const second = await first.beside()
  const headers = await prepare(first)
  // The load balancer: checks the readiness of both, and skips one that is not ready.
  const ready = new Map([first, second].map((one) => [one.base_url, true]))
  const checking = setInterval(() => {
    for (const url of ready.keys()) {
      fetch(`${url}/readyz`).then(
        (reply) => ready.set(url, reply.ok),
        () => ready.set(url, false),
      )
    }
  }, 20)
  after(() => clearInterval(checking))
  let calls = 0
  let enough = false
  const next = () => {
    if (enough) return undefined
    const open = [...ready].flatMap(([url, isReady]) => (isReady ? [url] : []))
    calls += 1
    return open[calls % open.length] ?? second.base_url
  }
  const asking = callRepeatedly(8, headers, next, () => true)
  await until('both processes get calls', async () => calls > 50)
  first.signal('SIGTERM')
  assert.equal(await first.end(), 0, first.output())
  assert.equal(ready.get(first.base_url), false)
  const seen = calls
  await until('only the other process gets calls', async () => calls > seen + 50)
  enough = true
  const outcomes = await asking
  assert.deepEqual(failures(outcomes), [])
  t.diagnostic(`${outcomes.length} calls`)
})
