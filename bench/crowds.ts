import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Measured } from './bench.ts'
import { type Busy, findIdle, startCrowds } from './crowds-busy.ts'
import { startPeers } from './crowds-peers.ts'
import type { Samples, SamplesOrder } from './crowds-process.ts'
import { type CrowdsHouse, type CrowdsSize, openCrowdsHouse, type Peers } from './crowds-stage.ts'
import type { Running } from './crowds-tenant.ts'
import { askProcess } from './elsewhere.ts'
import { type Database, quantile } from './ends.ts'
import { byRule } from './houses.ts'

const whole = { events: 300_000, rules: 10_000, waiting: 300, recipients: 500, asks: 2_000 }
const miniature = { events: 3_000, rules: 300, waiting: 30, recipients: 50, asks: 20 }
const asksPerSecond = 12
/** Of each round; the service has just started. */
const warmUpAsks = { whole: 36, miniature: 10 }

/** Milliseconds of each call. */
type Took = { asks: number[]; reads: number[]; lists: number[] }

const measures = {
  asks: 'ask → active',
  reads: 'GET /v1/requests/{id}',
  lists: 'GET /v1/requests?limit=50',
} as const satisfies Record<keyof Took, string>

/**
 * One tenant asks and reads while four others are as busy as they can be, each in its own way. Two services with databases of their own run
 * one after the other in each round: both have the same rows, and the crowds are busy in one of them.
 */
export const crowds: Bench = {
  summary: 'the latency for one tenant while four crowds are busy: events, an import of rules, a hanging target, mails',
  async run({ isMiniature, rounds }, say) {
    const size = isMiniature ? miniature : whole
    const peers = await startPeers()
    const houses: CrowdsHouse[] = []
    try {
      const [quietHouse, crowdedHouse] = await openBoth(size, peers, houses)
      say('both services are ready')
      const quiet: Took[] = []
      const crowded: Took[] = []
      const busy: Busy[] = []
      const asks = { asks: Math.ceil(size.asks / rounds), warmUp: warmUpAsks[isMiniature ? 'miniature' : 'whole'] }
      for (let round = 1; round <= rounds; round += 1) {
        quiet.push(await quietHouse.during((running) => measure(quietHouse, running, asks)))
        await crowdedHouse.during(async (running) => {
          const end = await startCrowds(crowdedHouse, running, size, peers)
          crowded.push(await measure(crowdedHouse, running, asks))
          busy.push(await end())
        })
        say(`round ${round} of ${rounds}: ${saysBusy(busy.slice(-1))}`)
        // A miniature has so little to do that a fast machine is done before its end.
        const idle = isMiniature ? undefined : busy.slice(-1).map(findIdle)[0]
        if (idle !== undefined) throw new Error(`a crowd was idle: ${idle}`)
      }
      return reportOf(size, { quiet, crowded }, busy)
    } finally {
      await peers.stop()
      for (const house of houses) await house.close()
    }
  },
}

/** Both at once, since that takes less time; `houses` receives those that were opened, also if the other one was not. */
async function openBoth(size: CrowdsSize, peers: Peers, houses: CrowdsHouse[]): Promise<[CrowdsHouse, CrowdsHouse]> {
  const open = () =>
    openCrowdsHouse(size, peers).then((house) => {
      houses.push(house)
      return house
    })
  const [one, other] = await Promise.allSettled([open(), open()])
  if (one.status === 'rejected') throw one.reason
  if (other.status === 'rejected') throw other.reason
  return [one.value, other.value]
}

type Asks = { asks: number; warmUp: number }

let firstAccount = 100_000_000_000

async function measure({ tenants }: CrowdsHouse, { port, database }: Running, { asks, warmUp }: Asks): Promise<Took> {
  const { askers } = tenants.quiet
  const { tenant_id, approver_key: key } = askers[0] ?? { tenant_id: '', approver_key: '' }
  const order = { port, askers, reader: { tenant_id, key }, action: byRule, asks, asksPerSecond, warmUp }
  const { asks: asked, ...reads } = await sampleElsewhere({ ...order, firstAccount })
  firstAccount += asks + warmUp
  const active = await activeAt(
    database,
    asked.map(({ request_id }) => request_id),
  )
  return { ...reads, asks: asked.map(({ request_id, asked }) => (active.get(request_id) ?? Number.NaN) - asked) }
}

function sampleElsewhere(order: SamplesOrder): Promise<Samples> {
  return askProcess(new URL('crowds-process.ts', import.meta.url), order)
}

/** When the grant of each request became active, in milliseconds since 1970; waits until all are. */
async function activeAt(database: Database, request_ids: readonly string[]): Promise<Map<string, number>> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { rows } = await database.query<{ request_id: string; at: number }>(
      `select request_id, extract(epoch from activated_at)::float8 * 1000 as at from access_grant
        where request_id = any($1) and activated_at is not null`,
      [request_ids],
    )
    if (rows.length === request_ids.length) return new Map(rows.map(({ request_id, at }) => [request_id, at]))
    await pause(100)
  }
  throw new Error('access that was asked for did not become active')
}

function reportOf(
  size: CrowdsSize,
  took: Record<'quiet' | 'crowded', readonly Took[]>,
  busy: readonly Busy[],
): Measured {
  const rows = Object.entries(measures).map(([measure, name]) => {
    const [quiet, crowded] = [took.quiet, took.crowded].map((rounds) =>
      rounds.flatMap((one) => one[measure as keyof Took]),
    ) as [number[], number[]]
    const p50 = { quiet: quantile(quiet, 0.5), crowded: quantile(crowded, 0.5) }
    const p99 = { quiet: quantile(quiet, 0.99), crowded: quantile(crowded, 0.99) }
    const cells = [
      ...cellsOf(p50.quiet, p50.crowded, 2 * p50.quiet),
      ...cellsOf(p99.quiet, p99.crowded, p99.quiet + Math.max(p99.quiet, 50)),
    ]
    return [name, ...cells, quantile(crowded, 1).toFixed(0), String(crowded.length)]
  })
  const columns = ['ms', 'p50 quiet', 'with crowds', 'limit', 'p99 quiet', 'with crowds', 'limit', 'max', 'count']
  const notes = [
    'The limits: p50 at most twice that of the quiet service; p99 at most that of the quiet service and once more as much, or 50 ms. ✗: not held.',
    `The crowds: ${size.events.toLocaleString('en')} waiting events, imports of ${size.rules.toLocaleString('en')} rules, a target that never answers, ${size.recipients} recipients of mails. Meanwhile, in all: ${saysBusy(busy)}.`,
  ]
  return { columns, rows, notes }
}

function cellsOf(quiet: number, crowded: number, limit: number): string[] {
  return [quiet.toFixed(1), crowded.toFixed(1), `${limit.toFixed(1)} ${crowded <= limit ? '✓' : '✗'}`]
}

function saysBusy(all: readonly Busy[]): string {
  const sum = (number: (one: Busy) => number) => all.reduce((total, one) => total + number(one), 0)
  const seconds = sum((one) => one.seconds)
  const said = (count: number, what: string) =>
    `${count.toLocaleString('en')} ${what} (${(count / seconds).toFixed(1)} a second)`
  const hanging = all.flatMap((one) => one.hanging)
  const refused = all.flatMap((one) => one.refused)
  return [
    said(
      sum((one) => one.delivered),
      'events delivered',
    ),
    `at least ${Math.min(...all.map((one) => one.waiting)).toLocaleString('en')} still waiting`,
    said(
      sum((one) => one.channelMails),
      'mails of them by their channel',
    ),
    said(
      sum((one) => one.imports),
      'imports saved',
    ),
    ...(refused.length > 0 ? [`${refused.length} imports without success, the first: ${refused[0]}`] : []),
    `${quantile(hanging, 0.5)} calls hanging (p50)`,
    said(
      sum((one) => one.requests),
      'requests to decide',
    ),
    said(
      sum((one) => one.mails),
      'mails to people',
    ),
    `at least ${Math.min(...all.map((one) => one.mailsWaiting)).toLocaleString('en')} still waiting`,
  ].join(', ')
}
