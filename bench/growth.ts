import { keepFromAutovacuum, multiplyLives } from '../server/test/support/multiply-lives.ts'
import type { Bench } from './bench.ts'
import { type Database, quantile } from './ends.ts'
import type { Asker } from './houses.ts'
import { timesOf, untilNotified } from './lives.ts'
import { type LivesStage, openLivesStage } from './lives-stage.ts'

/** `own`: lives that the service itself leads before. `measured`: of each measurement. `sizes`: how often as many requests there are then. */
type Size = { tenants: number; people: number; own: number; measured: number; sizes: number[]; events?: number }

const usual: Size = { tenants: 1, people: 1_000, own: 1_500, measured: 500, sizes: [10, 100] }
/** A million requests of five hundred tenants, among ten thousand. */
const whole: Size = { ...usual, tenants: 10_000, people: 10_000, sizes: [1_000_000 / usual.own], events: 10_000_000 }
/** Tenants that have lives. */
const maxLiving = 500
const miniature: Size = { tenants: 3, people: 6, own: 30, measured: 20, sizes: [3], events: 500 }

/** At a pace, fewer lives are led where they would take longer. */
const maxPacedSeconds = 20

const columns = ['', 'requests', 'events', 'lives a second', 'ask → active', 'PostgreSQL', 'times the small']

/** Whole life cycles on tables that have grown. */
export const growth: Bench = {
  summary: 'whole life cycles on tables ten and a hundred times as large (--whole: ten million events)',
  async run(effort, say) {
    const size = effort.isMiniature ? miniature : effort.isWhole ? whole : usual
    const rows: string[][] = []
    const add = (row: string[]) => {
      rows.push(row)
      say(row.join(' | '))
    }
    // Each in a service of its own: what was copied once cannot be copied again.
    for (const times of size.sizes) await measureGrown(size, times, add)
    return { columns, rows, notes: notesOf(size) }
  },
}

async function measureGrown(size: Size, times: number, add: (row: string[]) => void): Promise<void> {
  const stage = await openLivesStage(size)
  const { database } = stage
  try {
    const living = oneOfEach(stage.askers, size)
    await stage.live({ lives: size.own, perSecond: null, revoke: 'each', askers: living })
    await untilNotified(database)
    // As in a service that has run for a year.
    await database.query(`select add_event_quarters((now() - interval '1 year')::date, 5)`)
    // What the service or PostgreSQL would analyze meanwhile, and when, would decide what is measured.
    await keepFromAutovacuum(queryOn(database))
    await analyze(database)
    const small = await measure(stage, living, size.measured)
    add(await rowOf('after its own lives', database, small, small))
    await grow(database, living, size, times)
    for (const state of ['fresh', 'analyzed']) {
      if (state === 'analyzed') await analyze(database)
      const speed = await measure(stage, living, size.measured, small.lives_a_second / 2)
      add(await rowOf(`${times.toFixed(0)} times, ${state}`, database, speed, small))
    }
  } finally {
    await stage.close()
  }
}

/** All askers of the one tenant, or one of each tenant that has lives. */
function oneOfEach(askers: readonly Asker[], { tenants }: Size): readonly Asker[] {
  if (tenants === 1) return askers
  return [...new Map(askers.map((one) => [one.tenant_id, one])).values()].slice(0, maxLiving)
}

type Speed = { lives_a_second: number; active_ms: number; postgres_ms: number | undefined }

/** At full speed; and then at a pace, for the time from asking to active: half of the speed, or that of another measurement. */
async function measure(stage: LivesStage, askers: readonly Asker[], lives: number, pace?: number): Promise<Speed> {
  const full = await stage.live({ lives, perSecond: null, revoke: 'each', askers })
  const { lives_a_second } = await timesOf(stage.database, full)
  await untilNotified(stage.database)
  const perSecond = pace ?? lives_a_second / 2
  const few = Math.ceil(Math.min(lives, perSecond * maxPacedSeconds))
  const paced = await stage.live({ lives: few, perSecond, revoke: 'each', askers })
  const { asked } = await timesOf(stage.database, paced)
  await untilNotified(stage.database)
  return { lives_a_second, active_ms: quantile(asked, 0.5), postgres_ms: full.postgres_ms }
}

const queryOn = (database: Database) => (text: string, values?: unknown[]) =>
  database.query(text, values).then(({ rows }) => rows)

/** All of them: to make the tenants has made others grow, too. */
const analyze = (database: Database) => database.query('vacuum analyze')

/** Until there are `times` as many requests as of the service's own lives, and the events that are wanted in all. */
async function grow(database: Database, askers: readonly Asker[], { own, events }: Size, times: number) {
  const tenant_ids = [...new Set(askers.map(({ tenant_id }) => tenant_id))]
  // Events of lives are delivered beyond that of the last transaction, and so would be their copies if it were of a life.
  await addEvents(database, tenant_ids, 1, 'pg_current_xact_id()')
  await untilNotified(database)
  for (const tenant_id of tenant_ids) {
    const { rows } = await database.query<{ requests: number }>(
      'select count(*)::integer as requests from access_request where tenant_id = $1',
      [tenant_id],
    )
    const { requests = 0 } = rows[0] ?? {}
    const copies = Math.round((own * times) / tenant_ids.length / Math.max(1, requests)) - 1
    if (copies > 0 && requests > 0) await multiplyLives(queryOn(database), tenant_id, copies)
  }
  const { rows } = await database.query<{ count: number }>('select count(*)::float8 as count from event')
  const missing = (events ?? 0) - (rows[0]?.count ?? 0)
  if (missing > 0) await addEvents(database, tenant_ids, missing)
}

/** Events of the last year that nobody is notified of, each of another subject, and before all others in the order of events. */
async function addEvents(database: Database, tenant_ids: readonly string[], count: number, xid = `'3'`): Promise<void> {
  const part = 100_000
  for (let from = 0; from < count; from += part) {
    await database.query(
      `insert into event (tenant_id, id, xid, type, at, actor_kind, subject_type, subject_id, request_id)
        select ($1::uuid[])[1 + n % cardinality($1::uuid[])],
          (left(event_id_at(moment.at)::text, 24) || right(gen_random_uuid()::text, 12))::uuid, ${xid}, 'role.created',
          moment.at, 'system', 'role', gen_random_uuid()::text, 'bench'
        from generate_series($2::integer, $3::integer - 1) n,
          lateral (select now() - interval '1 year' + make_interval(secs => n) as at) moment`,
      [tenant_ids, from, Math.min(count, from + part)],
    )
  }
}

async function rowOf(name: string, database: Database, speed: Speed, small: Speed): Promise<string[]> {
  const { rows } = await database.query<{ requests: number; events: number }>(
    'select (select count(*) from access_request)::float8 as requests, (select count(*) from event)::float8 as events',
  )
  const { requests = 0, events = 0 } = rows[0] ?? {}
  const ratios = [
    small.lives_a_second / speed.lives_a_second,
    speed.active_ms / small.active_ms,
    (speed.postgres_ms ?? Number.NaN) / (small.postgres_ms ?? Number.NaN),
  ]
  return [
    name,
    requests.toLocaleString('en'),
    events.toLocaleString('en'),
    speed.lives_a_second.toFixed(0),
    speed.active_ms.toFixed(0),
    speed.postgres_ms?.toFixed(1) ?? '—',
    speed === small ? '' : ratios.map((ratio) => ratio.toFixed(2)).join(' · '),
  ]
}

function notesOf({ tenants, people, measured }: Size): string[] {
  const where =
    tenants === 1 ? 'one tenant' : `${Math.min(maxLiving, tenants)} of ${tenants.toLocaleString('en')} tenants`
  return [
    `${measured} lives at full speed, 16 at once, in ${where}, ${people.toLocaleString('en')} people in all; then at half of the small tables’ speed, for the time from asking to active (p50, ms). ` +
      'PostgreSQL: its processor time for each life at full speed, in ms. Last, how many times worse each of the three is than on the small tables.',
    'Fresh: PostgreSQL has not analyzed the tables since they have grown, and autovacuum is off. Analyzed: `vacuum analyze` has run.',
  ]
}
