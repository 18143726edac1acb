import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { startBreakableServer } from '../support/breakable-server.ts'
import { type Outcome, openCaller } from '../support/load.ts'
import type { Sallyport } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** A database that the test breaks. */
type Server = Awaited<ReturnType<typeof startBreakableServer>>
type Call = Outcome & { ms: number; at: number }

const wanted = (resource: object) => ({ resource, action: 'Look', reason: 'a look', duration_seconds: 600 })

/** Ada, whose requests are approved automatically, and who holds access that ends while the database is gone. */
export async function prepare({ asSuperuser }: Server, sallyport: Sallyport) {
  const key = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  const policy = await key<{ id: string }>('POST', '/v1/policies', { name: 'At once' })
  await key('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit', approval_mode: 'auto' })
  const { call, token } = await sallyport.join('Ada', ['user'])
  for (let account = 1; account <= 5; account += 1) {
    const resource = { type: 'cloud_account', id: `${100_000_000_000 + account}` }
    assert.equal((await call('POST', '/v1/requests', wanted(resource))).status, 201)
  }
  await until('the access is active, and no process is working on it', async () => {
    const active = await asSuperuser(`select from access_grant where status = 'active'`)
    const leased = await asSuperuser(`select from entitlement where lease_until is not null`)
    return active.length === 5 && leased.length === 0
  })
  await asSuperuser(
    `with nearer as (update access_grant set activated_at = clock_timestamp() - interval '598 seconds',
        expires_at = clock_timestamp() + interval '2 seconds' where status = 'active' returning *)
     update entitlement set next_look_at = nearer.expires_at from nearer where entitlement.id = nearer.entitlement_id`,
  )
  return {
    endAt: performance.now() + 2_000,
    headers: { authorization: `Bearer ${token}`, 'x-tenant-id': sallyport.bootstrap.tenant_id },
  }
}

/** Users who keep requesting access and reading their grants, whatever the answers, until `stop` is called. */
export function goOnAsking(base_url: string, headers: Record<string, string>) {
  const calls: Call[] = []
  let stopped = false
  const asking = Array.from({ length: 4 }, async (_, person) => {
    const { send, close } = openCaller(headers)
    for (let number = person; !stopped; number += 1) {
      const began = performance.now()
      const resource = { type: 'cloud_account', id: `${200_000_000_000 + number}` }
      const outcome = await (number % 2 === 0
        ? send(`${base_url}/v1/requests`, 'POST', wanted(resource))
        : send(`${base_url}/v1/grants?limit=5`, 'GET'))
      calls.push({ ...outcome, at: performance.now(), ms: performance.now() - began })
      await pause(150)
    }
    close()
  })
  return {
    calls,
    async stop() {
      stopped = true
      await Promise.all(asking)
    },
  }
}

/** The service said that it cannot do it now. */
export function isRefused(call: Call): boolean {
  return 'status' in call && call.status === 503
}

/** The failed calls: each kind once. */
export function failures(calls: readonly Call[]): string[] {
  const bad = calls.filter((call) => {
    if (!('status' in call)) return true
    if (call.status !== 503) return ![200, 201].includes(call.status)
    return (JSON.parse(call.body) as { code: string }).code !== 'unavailable' || !(Number(call.retryAfter) >= 1)
  })
  return [...new Set(bad.map(({ ms, at, ...outcome }) => JSON.stringify(outcome)))]
}

/** Waits until all access whose end passed during the outage has ended and is revoked. */
export function untilEnded({ asSuperuser }: Server): Promise<unknown> {
  return until(
    'access that ended meanwhile is revoked',
    async () => {
      const left = await asSuperuser(`select from sandbox_assignment where key like '%"10000000000_"%'`)
      const live =
        await asSuperuser(`select from access_grant where duration_seconds = 600 and expires_at <= clock_timestamp()
        and (status = 'active' or provisioning_status <> 'deprovisioned')`)
      return left.length === 0 && live.length === 0
    },
    60_000,
  )
}

/** All requests that were acknowledged are there; returns how many. */
export async function requireKept({ asSuperuser }: Server, calls: readonly Call[]): Promise<number> {
  const made = calls.flatMap((call) =>
    'status' in call && call.status === 201 ? [(JSON.parse(call.body) as { id: string }).id] : [],
  )
  const kept = await asSuperuser('select from access_request where id = any($1)', [made])
  assert.equal(kept.length, made.length, 'an acknowledged request is lost')
  return made.length
}
