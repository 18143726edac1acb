import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAlone } from '../server/src/db/client/connect.ts'
import { approvalsOf } from './approved-meanwhile.ts'
import type { Bench, Effort } from './bench.ts'
import { dispatchesOf, seedAccess } from './directory-access.ts'
import { membersOfOne, personOf } from './directory-people.ts'
import { embeddedTarget } from './embedded.ts'
import { type Database, spread } from './ends.ts'
import { type Caller, callerOf } from './meanwhile.ts'
import { gather, startService } from './sallyport.ts'

const sizes = ({ isMiniature }: Effort) =>
  isMiniature ? { people: 120, groups: 10, leaving: 10 } : { people: 10_000, groups: 1_000, leaving: 300 }

type Run = {
  id: string
  status: string
  error: string | null
  needs_confirmation: boolean
  access: { grants: number; gone: number; slowest_seconds: number | null }
}

/**
 * A directory of many people that is read over SCIM, on the real service with the embedded database and the sandbox: the first runs, people who
 * leave while requests are approved, and a removal of many that a person confirms. Each leaver has a session and a live grant.
 */
export const pull: Bench = {
  summary: '10,000 people who are read over SCIM: the runs, 300 who leave while requests are approved, and the guard',
  async run(effort, say) {
    const { people, groups, leaving } = sizes(effort)
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const peer = await openPeer(people, groups)
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn', EGRESS_ALLOW: '127.0.0.1' })
    try {
      const { tenant_id, owner, approver } = await gather(service.base_url, folder)
      const caller = { tenant_id, token: owner.token }
      const syncing = await openSyncing(service.base_url, caller, peer.base_url)
      const rows: string[][] = []
      const timed = async (what: string, body: object = {}): Promise<Run> => {
        const began = performance.now()
        const run = await syncing.sync(body)
        const seconds = (performance.now() - began) / 1_000
        say(`${what}: ${seconds.toFixed(1)} s, ${run.status}`)
        rows.push([what, seconds.toFixed(1)])
        return run
      }
      await timed('a dry run', { dry_run: true })
      await timed('the first run')
      await timed('a run without changes')
      const database = await connectAlone(await embeddedTarget(folder))
      // Else the end of the service would hide why the bench ends.
      database.on('error', () => undefined)
      const approvals = approvalsOf(service.base_url, { requester: caller, approver: { ...caller, ...approver } })
      const leavers = await usersOf(database, syncing.id, leaving)
      await seedAccess(database, tenant_id, leavers)
      peer.keepFrom(leaving)
      const run = timed(`${leaving} leave, and requests are approved`)
      const approved = await approvals.during(run)
      await dispatchesOf(database, leavers)
      const access = (await syncing.get((await run).id)).access
      const delays = await delaysOf(database, leavers)
      peer.keepFrom(Math.ceil(people / 3))
      const stopped = await timed('a third would go, and the run stops')
      if (!stopped.needs_confirmation) throw new Error('a removal of many was not stopped')
      await timed('the same, confirmed', { confirm_removals_of: stopped.id })
      await database.end()
      const [p50, p90, p99, max] = spread(delays)
      const [approval50, , approval99] = spread(approved)
      const notes = [
        `${people} people with managers, ${groups} groups of ${membersOfOne} members, 500 a page, from a SCIM server on the same machine.`,
        `Of the ${leaving} who left: from the end of a grant, in the transaction that stops its holder, until the sandbox records the call ` +
          `that revokes it: p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, max ${max} ms. Until the access was gone, as the run says: at most ` +
          `${access.slowest_seconds?.toFixed(1)} s. Ten requests a second were approved meanwhile: p50 ${approval50} ms, p99 ${approval99} ms.`,
      ]
      return { columns: ['seconds', 'of the run'], rows, notes }
    } finally {
      await service.stop()
      peer.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** A SCIM server of so many people. `keepFrom`: those before that number have left. */
async function openPeer(people: number, groups: number) {
  let first = 0
  const idOf = (number: number) => `id-${number}`
  const members = (number: number) =>
    Array.from({ length: membersOfOne }, (_, place) => ({ value: idOf((number * 7 + place * 31) % people) }))
  const person = (number: number) => ({ id: idOf(number), ...personOf(number) })
  const group = (number: number) => ({
    id: `group-${number}`,
    displayName: `Group ${number}`,
    members: members(number),
  })
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://peer')
    const [start, count] = ['startIndex', 'count'].map((name) => Number(searchParams.get(name))) as [number, number]
    const isUsers = pathname === '/Users'
    const total = isUsers ? people - first : groups
    const length = Math.max(0, Math.min(count, total - start + 1))
    const numbers = Array.from({ length }, (_, place) => start - 1 + place)
    const Resources = numbers.map((number) => (isUsers ? person(first + number) : group(number)))
    const isList = isUsers || pathname === '/Groups'
    response.writeHead(isList ? 200 : 404, { 'content-type': 'application/scim+json' })
    response.end(JSON.stringify(isList ? { totalResults: total, startIndex: start, Resources } : {}))
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server of the directory has no port')
  return {
    base_url: `http://127.0.0.1:${address.port}`,
    keepFrom: (number: number) => {
      first = number
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A provider whose directory is that server, and its sync runs. */
async function openSyncing(service_url: string, caller: Caller, base_url: string) {
  const call = callerOf(service_url)
  const config = { protocol: 'scim', base_url, token: 'a token', page_size: 500, sync_interval_minutes: 0 }
  const about = { name: 'Directory', provider_type: 'directory_a', config }
  const { id } = await call<{ id: string }>(caller, 'POST', '/v1/identity-providers', about)
  const url = `/v1/identity-providers/${id}`
  const get = (run_id: string) => call<Run>(caller, 'GET', `${url}/sync-runs/${run_id}`)
  return {
    id,
    get,
    async sync(body: object): Promise<Run> {
      const { id: run_id } = await call<Run>(caller, 'POST', `${url}/sync`, body)
      for (;;) {
        const run = await get(run_id)
        if (run.status === 'synced' || (run.status === 'failed' && run.needs_confirmation)) return run
        if (run.status === 'failed') throw new Error(`a run failed: ${run.error}`)
        await pause(100)
      }
    },
  }
}

/** The first users of the directory. */
async function usersOf(database: Database, provider: string, count: number): Promise<{ id: string }[]> {
  const { rows } = await database.query<{ id: string }>(
    `select user_id as id from directory_user
      where identity_provider_id = $1 and substr(external_id, 4)::integer < $2`,
    [provider, count],
  )
  return rows
}

/** Milliseconds from the end of each person's grant until its revocation was called at the sandbox. */
async function delaysOf(database: Database, people: readonly { id: string }[]): Promise<number[]> {
  const { rows } = await database.query<{ ms: number }>(
    `select extract(epoch from min(o.created_at) - min(g.ended_at))::float8 * 1000 as ms
      from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      join sandbox_operation o on o.tenant_id = e.tenant_id and o.key = e.target_key and o.kind = 'delete'
      where g.user_id = any($1) group by g.user_id`,
    [people.map(({ id }) => id)],
  )
  return rows.map(({ ms }) => ms)
}
