import type { Bench, Effort } from './bench.ts'
import { type Database, quantile } from './ends.ts'
import type { Life } from './lives-process.ts'
import { type LivesMeasured, type LivesStage, openLivesStage } from './lives-stage.ts'

/** People in all, whatever the number of tenants. */
const people = 1_000
const burst = 1_500
const alone = { lives: 20, perSecond: 1 }

const columns = [
  'tenants',
  'accepted a second',
  'all active after the last',
  'lives a second',
  'ask → active',
  'end → gone',
  'event → notified',
  'PostgreSQL',
  'Node',
  'Node, MB',
]

/** Whole life cycles on the real service with the embedded database and the sandbox, which takes 50 ms for each act. */
export const lives: Bench = {
  summary: 'whole life cycles: requested, approved, active, revoked, gone, and everybody notified',
  async run(effort, say) {
    const rows: string[][] = []
    let single = ''
    for (const tenants of effort.isMiniature ? [3] : [1, 10, 1_000]) {
      say(`${tenants} tenants`)
      const stage = await openLivesStage({ tenants, people: effort.isMiniature ? 20 : people })
      try {
        if (single === '') single = await liveAlone(stage)
        rows.push([tenants.toLocaleString('en'), ...(await liveTogether(stage, effort))])
      } finally {
        await stage.close()
      }
    }
    const notes = [
      `${people.toLocaleString('en')} people in all. Half of the requests are approved by a rule, half by a person. First ${burst.toLocaleString('en')} ` +
        'requests, 16 at once, as fast as they are accepted, and all access is revoked once all of it is active. Then the same number, where each ' +
        'access is revoked as soon as it is active: lives a second. Then the same at half of that rate: from asking to active, from ' +
        'revoking to gone, and from an event to the notification of it, each p50 and p99 in ms; and processor time for each life, in ms. Last, the most memory that Node has had.',
      single,
    ]
    return { columns, rows, notes }
  },
}

/** One life at a time, on a service that is idle otherwise. */
async function liveAlone(stage: LivesStage): Promise<string> {
  const { asked, ended } = await timesOf(stage.database, await stage.live({ ...alone, revoke: 'each', atOnce: 1 }))
  return (
    `One life cycle a second: from asking to active ${at(asked, 0.5)} ms (p50; p99 ${at(asked, 0.99)}), from revoking to gone ` +
    `${at(ended, 0.5)} ms (p99 ${at(ended, 0.99)}); 50 ms of each are the sandbox's.`
  )
}

async function liveTogether(stage: LivesStage, { isMiniature }: Effort): Promise<string[]> {
  const count = isMiniature ? 40 : burst
  const burstTimes = await timesOf(stage.database, await stage.live({ lives: count, perSecond: null, revoke: 'all' }))
  await untilNotified(stage.database)
  const full = await timesOf(stage.database, await stage.live({ lives: count, perSecond: null, revoke: 'each' }))
  await untilNotified(stage.database)
  const half = await stage.live({ lives: count, perSecond: full.lives_a_second / 2, revoke: 'each' })
  await untilNotified(stage.database)
  const { asked, ended, notified } = await timesOf(stage.database, half)
  const both = (times: readonly number[]) => `${at(times, 0.5)} · ${at(times, 0.99)}`
  return [
    burstTimes.accepted_a_second.toFixed(0),
    `${(burstTimes.last_active_ms / 1000).toFixed(1)} s`,
    full.lives_a_second.toFixed(0),
    ...[both(asked), both(ended), both(notified)],
    ...[half.postgres_ms, half.node_ms].map((ms) => ms?.toFixed(1) ?? '—'),
    half.node_mb?.toFixed(0) ?? '—',
  ]
}

/** Until no event waits for the notifications that follow from it. */
export async function untilNotified(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ waits: boolean }>(
      `select exists (select from event e join event_cursor c on c.subscriber = 'notifications'
          where (e.xid, e.seq) > (c.xid, c.seq))
        or exists (select from event_queue where subscriber = 'notifications' and next_look_at is not null) as waits`,
    )
    if (rows[0]?.waits === false) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Milliseconds of each life, and of each notification; `last_active_ms`: from the last approval to the last activation. */
type Times = {
  asked: number[]
  approved_to_active: number[]
  ended: number[]
  notified: number[]
  accepted_a_second: number
  last_active_ms: number
  /** By the clock, in milliseconds since 1970. */
  last_gone: number
  lives_a_second: number
}

export async function timesOf(database: Database, { lives }: LivesMeasured): Promise<Times> {
  const { rows } = await database.query<{ request_id: string; active: number; gone: number }>(
    `select request_id, extract(epoch from activated_at)::float8 * 1000 as active,
        extract(epoch from updated_at)::float8 * 1000 as gone
      from access_grant where request_id = any($1)`,
    [lives.map(({ request_id }) => request_id)],
  )
  const grants = new Map(rows.map((row) => [row.request_id, row]))
  const lived = lives.map((life) => {
    const grant = grants.get(life.request_id)
    if (grant === undefined) throw new Error(`the request ${life.request_id} has no grant`)
    return { ...life, ...grant }
  })
  const began = Math.min(...lived.map(({ asked }) => asked))
  const { rows: notified } = await database.query<{ ms: number }>(
    `select extract(epoch from n.created_at - e.at)::float8 * 1000 as ms from notification n
      join event e on e.tenant_id = n.tenant_id and e.id = n.event_id where e.at >= to_timestamp($1::float8 / 1000)`,
    [began],
  )
  const last = (moment: (life: Life & { active: number; gone: number }) => number) => Math.max(...lived.map(moment))
  const approved = last((life) => life.approved)
  return {
    asked: lived.map(({ asked, active }) => active - asked),
    approved_to_active: lived.map(({ approved, active }) => active - approved),
    ended: lived.map(({ revoked, gone }) => gone - revoked),
    notified: notified.map(({ ms }) => ms),
    accepted_a_second: lives.length / ((approved - began) / 1000),
    last_active_ms: last(({ active }) => active) - approved,
    last_gone: last(({ gone }) => gone),
    lives_a_second: lives.length / ((last(({ gone }) => gone) - began) / 1000),
  }
}

function at(values: readonly number[], share: number): string {
  return quantile(values, share).toFixed(0)
}
