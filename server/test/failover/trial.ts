import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import { findLost } from '../kill/acknowledged.ts'
import { chanceOf } from '../kill/chance.ts'
import type { Company } from '../kill/company.ts'
import type { Fault } from '../kill/consistency.ts'
import { play } from '../kill/stories.ts'
import { converge } from '../kill/under-fire.ts'
import { until } from '../support/wait.ts'
import { type Cluster, type Failover, openCluster } from './cluster.ts'
import { type FailoverField, openFailoverField } from './field.ts'
import { findHistoryFaults, readHistory } from './history.ts'
import type { Replication } from './node.ts'
import { findRepeated, repeatCalls } from './repeated-calls.ts'
import { askerOf, findLate, giveTimed } from './timed-ends.ts'

export const causes = ['switchover', 'kill', 'stop'] as const
/** How a primary is replaced: as planned, by its death, or because it stands still, and then continues. */
export type Cause = (typeof causes)[number]

export type TrialOptions = {
  counts: Readonly<Record<Cause, number>>
  seed: number
  types: readonly ProvisionerType[]
  replication: Replication
  /** For so long before it is killed, a primary sends its standbys nothing. */
  lagSeconds: number
  /** Once it returns true no further failover begins. */
  isOver(): boolean
  say(line: string): void
}

/** What one failover did to the services and their users. */
export type Round = {
  cause: Cause
  failover: Failover
  /** Answers of success: all of them, and those that came while nothing could be written. */
  acknowledged: number
  meanwhile: number
  /** Answers of 503, and how often a call was sent again with the same key. */
  refused: number
  repeats: number
  latestEndSeconds: number
  restSeconds: number
  faults: Fault[]
}

/** `stopped`: what kept the trial from going on; undefined: it came to its end. */
export type TrialResults = {
  rounds: readonly Round[]
  complaints: ReadonlyMap<string, number>
  seconds: number
  stopped: string | undefined
}

/** Grants of each company whose ends are spread around each failover, and over how many seconds. */
const timedGrants = 8
const spreadSeconds: Readonly<Record<Cause, number>> = { switchover: 15, kill: 45, stop: 45 }

/** So many answers of success come before a failover, and as many after it. */
const answersAround = 40

/** Runs the failovers one after another on one cluster. */
export async function runTrial(options: TrialOptions): Promise<TrialResults> {
  const { types, replication } = options
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1_000
  const say = (line: string) => options.say(`${seconds().toFixed(0).padStart(5)} s  ${line}`)
  say(`starting etcd, three PostgreSQL under Patroni (${replication}), HAProxy`)
  const cluster = await openCluster({ replication })
  try {
    say(`starting two services for ${types.join(', ')}`)
    const field = await openFailoverField(cluster.server, types)
    const rounds: Round[] = []
    let stopped: string | undefined
    try {
      for (const cause of inTurns(options.counts)) {
        if (options.isOver()) break
        const seed = options.seed + rounds.length
        say(`${cause}, seed ${seed}: the primary is ${await cluster.primary()}`)
        rounds.push(await runRound(cluster, field, cause, seed, { ...options, say }))
      }
    } catch (error) {
      // What was found before is reported all the same.
      stopped = String(error)
    } finally {
      await field.close()
    }
    return { rounds, complaints: field.complaints, seconds: seconds(), stopped }
  } finally {
    await cluster.close()
  }
}

/** One of each kind, then again one of each. */
function inTurns(counts: TrialOptions['counts']): Cause[] {
  const most = Math.max(...causes.map((cause) => counts[cause]))
  return Array.from({ length: most }, (_, index) => causes.filter((cause) => counts[cause] > index)).flat()
}

async function runRound(
  cluster: Cluster,
  field: FailoverField,
  cause: Cause,
  seed: number,
  { lagSeconds, say }: TrialOptions,
): Promise<Round> {
  const { query, answers } = field
  const faults: Fault[] = []
  const before = await readHistory(query)
  await cluster.untilWhole()
  const companies = await field.foundCompanies()
  const first = answers.length
  const successes = () => answers.slice(first).filter(({ status }) => status < 300)
  let isOver = false
  const playing = companies.map((company, index) =>
    play(
      withoutAsker(company),
      chanceOf(seed + 1_000 * index),
      () => isOver,
      (what) => faults.push({ kind: 'lost', what }),
    ),
  )
  const repeated = companies.map((company) => ({ company, calls: repeatCalls(company, () => isOver) }))
  const ended = Promise.all([...playing, ...repeated.map(({ calls }) => calls.done)])
  // It is awaited below, also where the round fails before.
  ended.catch(() => undefined)
  try {
    await until('answers come', async () => successes().length >= answersAround)
    const watches = await Promise.all(companies.map((company) => giveTimed(company, timedGrants, spreadSeconds[cause])))
    const failover = await replacePrimary(cluster, cause, lagSeconds)
    say(`  ${failover.from} to ${failover.to}: ${failover.secondsWithoutWrites.toFixed(1)} s without writes`)
    const isServed = async () => successes().filter(({ at }) => at > failover.writesAgainAt).length >= answersAround
    await until('answers come again', isServed, 120_000)
    isOver = true
    await ended
    const late = await findLate(watches, failover.writesAgainAt)
    const settled = performance.now()
    faults.push(...failover.faults.map((what): Fault => ({ kind: 'lost', what })), ...late.faults)
    faults.push(...(await findFaultsAtRest(field, first)), ...(await findHistoryFaults(query, before)))
    for (const { company, calls } of repeated) faults.push(...(await findRepeated(company, calls)))
    for (const { kind, what } of faults) say(`FAULT  seed ${seed}  ${cause}  ${kind}: ${what}`)
    const wentAt = failover.writesAgainAt - 1_000 * failover.secondsWithoutWrites
    return {
      cause,
      failover,
      acknowledged: successes().length,
      meanwhile: successes().filter(({ at }) => at > wentAt && at < failover.writesAgainAt).length,
      refused: answers.slice(first).filter(({ status }) => status === 503).length,
      repeats: repeated.reduce((count, { calls }) => count + calls.repeats, 0),
      latestEndSeconds: late.latestSeconds,
      restSeconds: (performance.now() - settled) / 1_000,
      faults,
    }
  } finally {
    isOver = true
    await ended.catch(() => undefined)
  }
}

function withoutAsker(company: Company): Company {
  const [one, two] = company.asking.filter((client) => client !== askerOf(company))
  if (one === undefined || two === undefined) throw new Error('a company has three people who ask')
  return { ...company, asking: [one, two, one] }
}

function replacePrimary(cluster: Cluster, cause: Cause, lagSeconds: number): Promise<Failover> {
  const by: Record<Cause, () => Promise<Failover>> = {
    switchover: cluster.switchover,
    kill: () => cluster.killPrimary(lagSeconds),
    stop: () => cluster.stopAndContinuePrimary(),
  }
  return by[cause]()
}

/** Waits until nothing is in progress, and compares the targets, the mails and every answer with the database. */
async function findFaultsAtRest(
  { query, targets, mails, answers, services }: FailoverField,
  first: number,
): Promise<Fault[]> {
  const holds = async () => {
    // Check possible late effects of unanswered calls now, and not within the minute.
    await query(`update entitlement set next_look_at = clock_timestamp()
      where may_land_until > clock_timestamp() and next_look_at > clock_timestamp() and lease_until is null`)
    return (await Promise.all(targets.map((target) => target.holds()))).flat()
  }
  const faults = await converge(query, holds)
  faults.push(...(await mails.findFaults(targets.length)))
  const lost = await findLost(query, answers.slice(first))
  const ended = services.filter((service) => service.exitCode() !== undefined)
  return [
    ...faults,
    ...lost.map((what): Fault => ({ kind: 'lost', what })),
    ...ended.map((service): Fault => ({ kind: 'lost', what: `a service ended: ${service.output().slice(-2_000)}` })),
  ]
}
