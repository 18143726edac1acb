import type { Bench, Effort } from './bench.ts'
import { type Database, quantile } from './ends.ts'
import { timesOf, untilNotified } from './lives.ts'
import { type LivesMeasured, type LivesStage, openLivesStage } from './lives-stage.ts'

const people = 1_000
const burst = { pending: 2_000, atOnce: 16 }
/** Approvals a second, each for so long. `atOnce`: enough callers that none waits for another. */
const sustained = { rates: [100, 200, 300], seconds: 20, atOnce: 48 }
/** A rate is sustained if so much of it was reached, and the last life was over so soon after it had to begin. */
const required = { share: 0.97, seconds: 2 }

const columns = [
  '',
  'approvals a second',
  'sustained',
  'answered',
  'approved → active',
  'all active after the last',
  'PostgreSQL',
  'Node',
]

/** Approvals over HTTP, with all that follows from them. */
export const approvals: Bench = {
  summary: 'approvals over HTTP: a burst of pending requests, and rates that last',
  async run(effort, say) {
    const stage = await openLivesStage({ tenants: 1, people: effort.isMiniature ? 20 : people })
    try {
      const rows = [await approveAll(stage, effort)]
      say('the burst is over')
      for (const rate of effort.isMiniature ? [10] : sustained.rates) {
        rows.push(await approveAt(rate, stage, effort))
        say(`${rate} a second`)
      }
      return { columns, rows, notes: notesOf(effort) }
    } finally {
      await stage.close()
    }
  },
}

async function approveAll(stage: LivesStage, { isMiniature }: Effort): Promise<string[]> {
  const { atOnce } = burst
  const warm = isMiniature ? 20 : 500
  await stage.live({ lives: warm, perSecond: null, approve: 'all', revoke: 'each' })
  await untilNotified(stage.database)
  const lives = isMiniature ? 40 : burst.pending
  const lived = await stage.live({ lives, perSecond: null, approve: 'afterwards', revoke: 'all', atOnce })
  await untilNotified(stage.database)
  const { perSecond, cells } = await resultsOf(stage.database, lived)
  const used = [lived.until_active?.postgres_ms, lived.until_active?.node_ms].map((ms) => ms && ms / lives)
  return [
    `${lives.toLocaleString('en')} pending, ${atOnce} at once`,
    perSecond.toFixed(0),
    '',
    ...cells,
    ...used.map(inMs),
  ]
}

async function approveAt(rate: number, stage: LivesStage, { isMiniature }: Effort): Promise<string[]> {
  const seconds = isMiniature ? 2 : sustained.seconds
  const { atOnce } = sustained
  const lived = await stage.live({ lives: rate * seconds, perSecond: rate, approve: 'all', revoke: 'each', atOnce })
  await untilNotified(stage.database)
  const { perSecond, cells, late } = await resultsOf(stage.database, lived, rate)
  const lasts = perSecond >= required.share * rate && late <= required.seconds
  return [
    `${rate} a second for ${seconds} s, whole lives`,
    perSecond.toFixed(0),
    `${lasts ? 'yes' : 'no'}, ${late.toFixed(1)} s`,
    ...cells,
    ...[lived.postgres_ms, lived.node_ms].map(inMs),
  ]
}

const inMs = (ms: number | undefined) => ms?.toFixed(1) ?? '—'

/** `late`: seconds from the moment at which the last life had to begin at this rate to the end of the last. */
async function resultsOf(database: Database, lived: LivesMeasured, rate = Number.POSITIVE_INFINITY) {
  const { lives } = lived
  const { approved_to_active, last_active_ms, last_gone } = await timesOf(database, lived)
  const first = Math.min(...lives.map(({ approving }) => approving))
  const last = Math.max(...lives.map(({ approved }) => approved))
  const began = Math.min(...lives.map(({ asked }) => asked))
  const both = (times: readonly number[]) => `${quantile(times, 0.5).toFixed(0)} · ${quantile(times, 0.99).toFixed(0)}`
  return {
    perSecond: lives.length / ((last - first) / 1000),
    late: (last_gone - began) / 1000 - lives.length / rate,
    cells: [
      both(lives.map(({ approving, approved }) => approved - approving)),
      both(approved_to_active),
      `${(last_active_ms / 1000).toFixed(1)} s`,
    ],
  }
}

function notesOf({ isMiniature }: Effort): string[] {
  return [
    `One tenant, ${isMiniature ? 20 : people.toLocaleString('en')} people. Answered, and from the answer to active: p50 and p99 in ms. In the burst all requests have been made before; its processor time ` +
      'is that of PostgreSQL and of Node from the first approval until all is active, for each approval, in ms.',
    'At a rate, each request is made, approved and revoked as soon as it is active; processor time is that of the whole life. A rate is sustained if at least ' +
      `${required.share * 100} % of it was reached and the last life was over at most ${required.seconds} s after the time was; the seconds say when it was.`,
  ]
}
