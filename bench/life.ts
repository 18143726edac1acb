import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import type { Database } from './ends.ts'
import { openLivesStage } from './lives-stage.ts'

const lives = 1_500
/** The statements that are shown; the rest is summed up. */
const shown = 24

/** Where the time of a life cycle goes: statement by statement in PostgreSQL, and by part of the service in Node. */
export const life: Bench = {
  summary: 'where the time of a life cycle goes: which statements PostgreSQL runs, and what Node does',
  async run({ isMiniature }, say) {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-profile-'))
    const count = isMiniature ? 40 : lives
    try {
      const stage = await openLivesStage({
        ...{ tenants: 1, people: isMiniature ? 20 : 1_000, counts_statements: true },
        node_options: `--cpu-prof --cpu-prof-dir=${folder}`,
      })
      let statements: Counted[]
      let node: string
      try {
        // Plans and caches are made.
        await stage.live({ lives: isMiniature ? 20 : 500, perSecond: null, revoke: 'each' })
        await stage.database.query('select pg_stat_statements_reset()')
        const { postgres_ms, node_ms, seconds } = await stage.live({ lives: count, perSecond: null, revoke: 'each' })
        statements = await statementsOf(stage.database)
        node = `${count} life cycles in ${seconds.toFixed(1)} s; processor time of each: PostgreSQL ${postgres_ms?.toFixed(1) ?? '—'} ms, Node ${node_ms?.toFixed(1) ?? '—'} ms.`
      } finally {
        await stage.close()
      }
      say('the service has ended')
      const profile = await biggestProfile(folder)
      return { columns, rows: rowsOf(statements, count), notes: [node, ...partsOf(profile)] }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

const columns = ['statement', 'calls', 'rows', 'ms', 'planning ms', 'blocks a call']

type Counted = { query: string; calls: number; rows: number; ms: number; plan_ms: number; blocks: number }

async function statementsOf(database: Database): Promise<Counted[]> {
  const { rows } = await database.query<Counted>(
    `select regexp_replace(query, '\\s+', ' ', 'g') as query, sum(calls)::float8 as calls, sum(rows)::float8 as rows,
        sum(total_exec_time) as ms, sum(total_plan_time) as plan_ms,
        sum(shared_blks_hit + shared_blks_read)::float8 as blocks
      from pg_stat_statements s join pg_roles r on r.oid = s.userid
      where r.rolname in ('sallyport_app', 'sallyport_work') and calls > 0
      group by 1 order by sum(total_exec_time + total_plan_time) desc`,
  )
  return rows
}

function rowsOf(statements: readonly Counted[], count: number): string[][] {
  const rest = statements.slice(shown).reduce(add, { ...nothing, query: 'all others' })
  return [...statements.slice(0, shown), rest, statements.reduce(add, { ...nothing, query: 'all' })].map((one) => [
    nameOf(one.query),
    ...[one.calls / count, one.rows / count].map((number) => number.toFixed(2)),
    ...[one.ms / count, one.plan_ms / count].map((number) => number.toFixed(3)),
    (one.blocks / one.calls).toFixed(0),
  ])
}

const nothing = { calls: 0, rows: 0, ms: 0, plan_ms: 0, blocks: 0 }

function add(sum: Counted, one: Counted): Counted {
  return {
    query: sum.query,
    calls: sum.calls + one.calls,
    rows: sum.rows + one.rows,
    ms: sum.ms + one.ms,
    plan_ms: sum.plan_ms + one.plan_ms,
    blocks: sum.blocks + one.blocks,
  }
}

/** What statements do, by a part of their text that no other has. */
const names: readonly [RegExp, string][] = [
  [/^select set_config/, 'opens a transaction'],
  [
    /^with clock as materialized .*?select tenant_id, id, next_look_at from (\w+) where (not gives|gives)?/,
    'claims due rows',
  ],
  [/place as materialized/, 'queues events for a subscriber'],
  [/insert into access_request.*insert into access_grant/, 'inserts an approved request'],
  [/insert into access_request/, 'inserts a request'],
  [/is_waiting/, 'approves a request'],
  [/revoked as \(/, 'revokes a grant'],
  [/with linking.*insert into entitlement/, 'inserts entitlements'],
  [/with linking/, 'links grants'],
  [/first_grant_id/, 'reads grants to plan'],
  [/begun as \(/, 'begins grants'],
  [/seen as \(/, 'activates grants'],
  [/clock_timestamp\(\) \+ coalesce\(make_interval/, 'releases entitlements'],
  [/reference text, gone boolean/, 'releases entitlements'],
  [/act_polls \+/, 'waits for the target'],
  [/target_reference = mine\.reference/, 'ends grants that are gone'],
  [/cross join lateral \( select e\.id, e\.provisioner,/, 'opens entitlements'],
  [/emitted_expired/, 'ends what is over by the clock'],
  [/with known as/, 'finishes acts of the sandbox'],
  [/insert into sandbox_operation/, 'begins acts of the sandbox'],
  [/from sandbox_assignment/, 'asks the sandbox what it holds'],
  [/^with mine as materialized .* update entitlement e set act = \S+ act_reference/, 'begins to revoke'],
  [/insert into notification|with notified as/, 'inserts notifications'],
  [/held\.user_id as holder_id/, 'reads the grants of events'],
  [/with a as materialized/, 'reads requests, their people and the rules’ version'],
  [/found as materialized/, 'reads who asks, and what policy knows of it'],
  [/^select from entitlement e.*for no key update/, 'locks entitlements'],
  [/^select from tenant_user/, 'locks holders'],
  [/^select from provisioner/, 'locks provisioners'],
  [/^select id, requester_id/, 'reads requests, to evaluate them again'],
  [/^select id, name, status, provisioning_status/, 'reads a grant'],
  [/with ended as \( update access_request/, 'cancels the extension of a grant'],
  [/update event_queue/, 'moves a queue of events'],
  [/from event_queue/, 'opens a queue of events'],
  [/from event where tenant_id/, 'reads queued events'],
  [/insert into event_cursor/, 'makes the cursor of a subscriber'],
  [/k\.secret_hash/, 'reads a key and the rights of its user'],
  [/last_used_at/, 'notes the use of a key'],
  [/^select \(select jsonb_build_object\('id', u\.id/, 'reads a user for a call'],
]

function nameOf(query: string): string {
  const found = names.find(([pattern]) => pattern.test(query))
  if (found === undefined) return query.length > 70 ? `\`${query.slice(0, 67)}…\`` : query
  const [pattern, name] = found
  const [, table, part] = pattern.exec(query) ?? []
  const list =
    table === undefined ? '' : `: \`${table}\`${part === undefined ? '' : part === 'gives' ? ', to give' : ', to take'}`
  return `${name}${list}`
}

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  samples: number[]
  timeDeltas: number[]
}

/** The service's own: other processes and threads write profiles too. */
async function biggestProfile(folder: string): Promise<Profile> {
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  const [biggest] = texts.toSorted((one, other) => other.length - one.length)
  if (biggest === undefined) throw new Error('Node wrote no profile')
  return JSON.parse(biggest) as Profile
}

/** The share of each part of the service in the time in which Node was busy. */
function partsOf({ nodes, samples, timeDeltas }: Profile): string[] {
  const parts = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const part = parts.get(id) ?? 'other'
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0))
  }
  times.delete('idle')
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0)
  const shares = [...times]
    .toSorted(([, one], [, other]) => other - one)
    .map(([part, time]) => `${part} ${Math.round((time / busy) * 100)} %`)
  return [`Of the time in which Node was busy, its start included: ${shares.join(', ')}.`]
}

function partOf({ functionName, url }: { functionName: string; url: string }): string {
  if (functionName === '(idle)') return 'idle'
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (/^write(v|Utf8String|Latin1String|Buffer)$/.test(functionName)) return 'handing data to the system'
  if (url.startsWith('wasm:') || url.includes('cedar-wasm')) return 'the policy engine'
  if (url.includes('/policy-engine/') || url.includes('/policy-facts/')) return 'around the policy engine'
  if (/\/node_modules\/pg|\/db\//.test(url)) return 'the database client'
  if (/fastify|ajv|typebox|\/src\/http\//.test(url)) return 'HTTP'
  if (url.includes('/server/src/')) return 'the slices'
  return 'Node itself'
}
