import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ConnectionTarget, connectAlone } from '../server/src/db/client/connect.ts'
import { readRunningEmbedded } from '../server/src/embedded-postgres/start.ts'
import type { Bench, Effort } from './bench.ts'
import type { Database } from './ends.ts'
import { type Asker, openHouses } from './houses.ts'
import type { Life, Lived, LivesOrder } from './lives-process.ts'
import { processorMs } from './processor-time.ts'
import { gather, startService } from './sallyport.ts'

const people = 1_000

export const lives: Bench = {
  summary: 'whole life cycles: asked for, approved, active, revoked, gone, and everybody notified',
  async run(effort, say) {
    const rows: string[][] = []
    for (const tenants of effort.isMiniature ? [3] : (process.env.TENANTS?.split(',').map(Number) ?? [1, 10, 1_000])) {
      say(`${tenants} tenants`)
      rows.push(await liveIn(effort, tenants, say))
    }
    return { columns: ['tenants'], rows, notes: [] }
  },
}

async function liveIn(effort: Effort, tenants: number, say: (line: string) => void): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const env = {
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    PUBLIC_URL: 'http://127.0.0.1',
    ...(process.env.NODE_PROF && { NODE_OPTIONS: process.env.NODE_PROF }),
  }
  const early = await startService(env)
  const first = await gather(early.base_url, folder)
  const { target: before } = await findDatabase(folder)
  const admin = await connectAlone(before)
  await admin.query("alter system set shared_preload_libraries = 'pg_stat_statements'")

  await admin.query('alter system set pg_stat_statements.track_planning = on')
  await admin.query('create extension pg_stat_statements')
  await admin.end()
  await early.stop()
  const service = await startService(env)
  const stops: (() => Promise<unknown>)[] = [service.stop]
  try {
    const { target, pid } = await findDatabase(folder)
    const database = await connectAlone(target)
    stops.unshift(() => database.end())
    await addRule(service.base_url, first)
    const askers = await openHouses(database, first, { tenants, people: effort.isMiniature ? 20 : people })
    let account = 100_000_000_000
    const live = async (lives: number, perSecond: number | null, revoke: 'each' | 'all', atOnce = 16) => {
      const order = { port: service.port, database: target, askers, lives, perSecond, revoke, atOnce }
      await database.query('select pg_stat_statements_reset()')
      const cpu = [processorMs(pid) ?? 0, processorMs(service.pid) ?? 0]
      const lived = await liveElsewhere({ ...order, firstAccount: account })
      const after = [processorMs(pid) ?? 0, processorMs(service.pid) ?? 0]
      account += lives
      const measured = await measure(database, lived)
      if (process.env.PROFILE) {
        const { rows } =
          await database.query(`select r.rolname as role, calls, plans, (total_exec_time)::int as ms, (total_plan_time)::int as plan_ms, round(mean_exec_time::numeric,2)::float8 as mean, rows, ((shared_blks_hit + shared_blks_read)/greatest(calls,1))::int as blks, left(regexp_replace(query, '\\s+', ' ', 'g'), 170) as query
          from pg_stat_statements s join pg_roles r on r.oid = s.userid where query not like '%pg_snapshot_xmin%limit 5%' order by total_exec_time + total_plan_time desc limit 45`)
        writeFileSync(
          '/tmp/profile-' + tenants + '-' + revoke + '-' + (perSecond ? 'paced' : 'burst') + lives + '.txt',
          rows
            .map((r: any) =>
              [
                r.calls,
                r.ms,
                r.plans,
                r.plan_ms,
                r.mean,
                r.blks,
                r.rows,
                r.role.replace('sallyport_', ''),
                r.query,
              ].join('\t'),
            )
            .join('\n'),
        )
      }
      const ms = after.map((one, at) => ((one - (cpu[at] ?? 0)) / lives).toFixed(1))
      say(JSON.stringify({ tenants, lives, perSecond, revoke, ...measured, pg_ms: ms[0], node_ms: ms[1] }))
      return measured
    }
    const n = effort.isMiniature ? 60 : 1_500
    await live(15, 1.3, 'each', 1)
    if (process.env.ALONE) {
      await live(300, null, 'all')
      await live(200, 8, 'each', 1)
      return []
    }
    await live(n, null, 'all')
    const { lives_a_second } = await live(n, null, 'each')
    await live(n, lives_a_second / 2, 'each')
    return [String(tenants)]
  } finally {
    for (const stop of stops) await stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function addRule(base_url: string, { tenant_id, owner }: Awaited<ReturnType<typeof gather>>): Promise<void> {
  const headers = {
    'x-tenant-id': tenant_id,
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
  }
  const list = (await (await fetch(`${base_url}/v1/policies`, { headers })).json()) as { data: { id: string }[] }
  const policy_text =
    '@approval_mode("auto") permit (principal, action == Action::"AutoAccess", resource is cloud_account);'
  const reply = await fetch(`${base_url}/v1/policies/${list.data[0]?.id}/rules`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ policy_text }),
  })
  if (!reply.ok) throw new Error(await reply.text())
}

async function findDatabase(data_dir: string): Promise<{ target: ConnectionTarget; pid: number }> {
  const endpoint = await readRunningEmbedded(data_dir)
  if (endpoint === undefined) throw new Error('the embedded database does not run')
  const { host, port, superuser: user, password } = endpoint
  const target = { host, port, user, database: 'sallyport', ...(password !== undefined && { password }) }
  const client = await connectAlone(target)
  const { rows } = await client.query<{ pid: string }>(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid",
  )
  await client.end()
  return { target, pid: Number(rows[0]?.pid) }
}

async function liveElsewhere(order: LivesOrder): Promise<Lived> {
  const child = fork(fileURLToPath(new URL('lives-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child.send(order)
  const [lived] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('the load process failed')
    }),
  ])) as [Lived]
  child.disconnect()
  return lived
}

async function measure(database: Database, { lives, seconds }: Lived) {
  const { rows } = await database.query<{ request_id: string; active: number; gone: number }>(
    `select request_id, extract(epoch from activated_at)::float8 * 1000 as active,
        extract(epoch from updated_at)::float8 * 1000 as gone
      from access_grant where request_id = any($1)`,
    [lives.map(({ request_id }) => request_id)],
  )
  const found = new Map(rows.map((row) => [row.request_id, row]))
  const all = lives.map((life) => ({ ...life, ...(found.get(life.request_id) ?? { active: NaN, gone: NaN }) }))
  const { rows: told } = await database.query<{ ms: number }>(
    `select extract(epoch from n.created_at - e.at)::float8 * 1000 as ms from notification n
      join event e on e.tenant_id = n.tenant_id and e.id = n.event_id
      where n.created_at >= to_timestamp($1::float8 / 1000)`,
    [Math.min(...lives.map(({ asked }) => asked))],
  )
  const last = (of: (life: Life & { active: number; gone: number }) => number) => Math.max(...all.map(of))
  const first = Math.min(...all.map(({ asked }) => asked))
  return {
    lives_a_second: lives.length / ((last(({ gone }) => gone) - first) / 1000),
    seconds,
    accepted_a_second: lives.length / ((last(({ approved }) => approved) - first) / 1000),
    active_after_last: last(({ active }) => active) - last(({ approved }) => approved),
    gone_after_last: last(({ gone }) => gone) - last(({ revoked }) => revoked),
    active: at(all.map(({ active, asked }) => active - asked)),
    gone: at(all.map(({ gone, revoked }) => gone - revoked)),
    told: at(told.map(({ ms }) => ms)),
  }
}

function at(values: readonly number[]) {
  const sorted = values.toSorted((one, other) => one - other)
  const share = (part: number) => Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN)
  return [share(0.5), share(0.99), share(1), sorted.length]
}

export type { Asker }
