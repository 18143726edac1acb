import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAlone } from '../server/src/db/client/connect.ts'
import type { Bench, Effort } from './bench.ts'
import { loseOneOfTwo } from './dead-node.ts'
import { embeddedTarget } from './embedded.ts'
import { allGone, lateness, seed, spread, until } from './ends.ts'
import { endAtItsRate } from './own-rate.ts'
import { gather, startService } from './sallyport.ts'

/**
 * Many grants that end at one instant, on the real service with the embedded database and the sandbox: the delay of each
 * revocation at the target, by the target's own record and the database's clock, and the latency of requests meanwhile.
 */
export const grants: Bench = {
  summary: 'many grants that end at one instant: the delay of their revocations, and the latency of requests meanwhile',
  async run(effort, say) {
    const rows: string[][] = []
    for (const tenants of effort.isMiniature ? [3] : [50, 1]) {
      say(`${effort.grants} grants of ${tenants} tenants`)
      rows.push(...(await endAtOnce(effort, tenants)))
    }
    say(`${effort.grants} grants again, and one of two services is killed`)
    rows.push(...(await loseOneOfTwo(effort)))
    const atItsRate = effort.isMiniature ? 20 : 300
    say(`${atItsRate} grants at the simulated AWS, with its rate limits`)
    const paced = await endAtItsRate(atItsRate)
    rows.push(...paced.rows)
    const notes = [
      'Dispatched: from the end of a grant until the sandbox records the call that revokes it. Gone: until the ledger has ' +
        'verified at the sandbox that it is gone; the sandbox takes 50 ms for it. Load from outside meanwhile: 100 ' +
        'reads and 20 new requests a second, whose grants are begun as well.',
      'One of two is killed: by SIGKILL, as soon as it has ends in progress; the other takes these over when the lease of 20 s is over.',
      paced.note,
    ]
    return { columns: ['ms', 'p50', 'p90', 'p99', 'max', 'count'], rows, notes }
  },
}

async function endAtOnce(effort: Effort, tenants: number): Promise<string[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
  try {
    const caller = makeCaller(service.base_url, await gather(service.base_url, folder))
    const database = await connectAlone(await embeddedTarget(folder))
    const instant = await seed(database, effort, tenants)
    const quiet = await callFor(caller, () => pause(effort.seconds * 1_000))
    await until(database, 'select clock_timestamp() >= $1::timestamptz as met', instant, 10)
    const busy = await callFor(caller, () => until(database, allGone, instant, 200))
    const late = await lateness(database, instant)
    await database.end()
    if (late.dispatched.length !== effort.grants) {
      throw new Error(`${late.dispatched.length} of ${effort.grants} revocations were dispatched`)
    }
    const where = tenants === 1 ? 'one tenant' : `${tenants} tenants`
    return [
      [`${where}: dispatched after its end`, ...spread(late.dispatched)],
      [`${where}: gone after its end`, ...spread(late.gone)],
      [`${where}: a status view meanwhile`, ...spread(busy.reads)],
      ['the same, quiet', ...spread(quiet.reads)],
      [`${where}: a new request meanwhile`, ...spread(busy.requests)],
      ['the same, quiet', ...spread(quiet.requests)],
    ]
  } finally {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Caller = { request(): Promise<string>; read(id: string): Promise<unknown> }

/** A user of another tenant, who requests access and reads its status. */
function makeCaller(base_url: string, { tenant_id, owner }: Awaited<ReturnType<typeof gather>>): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const headers = {
    'x-tenant-id': tenant_id,
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
  }
  const call = async (method: string, path: string, body?: unknown): Promise<{ id: string }> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(`${base_url}${path}`, { method, agent, headers }, resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
    const answer = await promise
    let text = ''
    for await (const chunk of answer.setEncoding('utf8')) text += chunk
    if ((answer.statusCode ?? 500) >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
    return JSON.parse(text) as { id: string }
  }
  const body = {
    resource: { type: 'cloud_account', id: '111122223333' },
    action: 'ReadOnlyAccess',
    reason: 'a look at the logs',
    duration_seconds: 3_600,
  }
  return {
    request: async () => (await call('POST', '/v1/requests', body)).id,
    read: (id) => call('GET', `/v1/access/requests/${id}`),
  }
}

/** Milliseconds of each of 100 reads and 20 new requests a second, for as long as `during` runs. */
async function callFor(
  caller: Caller,
  during: () => Promise<unknown>,
): Promise<{ reads: number[]; requests: number[] }> {
  const reads: number[] = []
  const requests: number[] = []
  const calls: Promise<unknown>[] = []
  const timed = async (into: number[], call: () => Promise<unknown>) => {
    const began = performance.now()
    await call()
    into.push(performance.now() - began)
  }
  const id = await caller.request()
  const reading = setInterval(() => calls.push(timed(reads, () => caller.read(id))), 10)
  const asking = setInterval(() => calls.push(timed(requests, caller.request)), 50)
  try {
    await during()
  } finally {
    clearInterval(reading)
    clearInterval(asking)
  }
  await Promise.all(calls)
  return { reads, requests }
}
