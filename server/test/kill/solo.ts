import { setTimeout as pause } from 'node:timers/promises'
import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import type { InjectedFaults } from '../support/sandbox-faults.ts'
import type { TestServer } from '../support/server.ts'
import { until } from '../support/wait.ts'
import { findLost } from './acknowledged.ts'
import { type Chance, chanceOf } from './chance.ts'
import { type Company, foundCompany } from './company.ts'
import type { Fault } from './consistency.ts'
import { type CrashPoint, strikeAt } from './crash-points.ts'
import { callOf } from './field-target.ts'
import { openMails } from './mails.ts'
import { play } from './stories.ts'
import {
  converge,
  endLeases,
  type Field,
  type Leases,
  maxWaitMs,
  type Outcome,
  openField,
  type Victim,
} from './under-fire.ts'

/** One service that a company keeps busy, to be killed repeatedly. */
export type SingleService = {
  /** Kills it when the point is reached for the nth time (n is random), starts it again, and checks the result. */
  kill(point: CrashPoint, seed: number): Promise<Outcome>
  /** The errors that it logged, each with its count. */
  complaints: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** After this many kills a new company is used; the old one keeps its access. */
const killsPerCompany = 10

/** `type`: of the provisioner that gives the company its access. */
export async function openSingleService(
  server: TestServer,
  leases: Leases,
  type: ProvisionerType,
): Promise<SingleService> {
  const field = await openField<readonly [Victim]>(server, 1, type)
  const { query, victims, database, target } = field
  const [victim] = victims
  const mails = openMails(query, field.mail)
  let company: Company | undefined
  let kills = 0

  async function companyOfTheDay(): Promise<Company> {
    if (company === undefined || kills % killsPerCompany === 0) {
      const day = { database, query, target, base_url: () => victim.process().base_url }
      company = await foundCompany({ ...day, record: (exchange) => field.exchanges.push(exchange) })
    }
    kills += 1
    return company
  }

  return {
    async kill(point, seed) {
      field.exchanges = []
      const chance = chanceOf(seed)
      const day = await companyOfTheDay()
      const injected = point.injected ?? chance.oneOf([{}, {}, {}, ...target.injectable])
      const injecting = injectFaults(field, day, injected)
      if (!target.failsPlans) await injecting
      const faults: Fault[] = []
      const reached = await liveUntilKilled(field, day, chance, point, (what) => faults.push({ kind: 'lost', what }))
      await injecting
      const began = performance.now()
      if (reached) {
        await victim.process().end()
        faults.push(...(await endLeases(query, leases, true)))
        await victim.riseAgain()
      }
      await target.inject({}, day.tenant_id)
      faults.push(...(await converge(query, target.holds)), ...(await mails.findFaults(reached ? 1 : 0)))
      const convergedMs = Math.round(performance.now() - began)
      const lastWords = victim.lastWords()
      if (lastWords !== undefined) {
        faults.push({ kind: 'lost', what: `the service ended by itself: ${lastWords}` })
        await victim.riseAgain()
      }
      faults.push(...(await findLost(query, field.exchanges)).map((what): Fault => ({ kind: 'lost', what })))
      return { reached, faults, convergedMs }
    },
    complaints: field.complaints,
    close: field.close,
  }
}

/**
 * Injects the faults, at a target that can then plan nothing once access was given there, so that it has something to fail at. Not after the time
 * for a kill.
 */
async function injectFaults(
  { query, target }: Field<readonly [Victim]>,
  { tenant_id }: Company,
  faults: InjectedFaults,
): Promise<void> {
  if (target.failsPlans && Object.keys(faults).length > 0) {
    const [now] = await query<{ now: string }>('select clock_timestamp()::text as now')
    const isGiven = async () =>
      (await query('select from access_grant where tenant_id = $1 and activated_at > $2', [tenant_id, now?.now]))
        .length > 0
    await until('access is given', isGiven, maxWaitMs).catch(() => undefined)
  }
  await target.inject(faults, tenant_id)
}

/** Runs stories until the point is reached and the process is killed; false if the point is not reached. */
async function liveUntilKilled(
  { query, target, victims: [victim] }: Field<readonly [Victim]>,
  company: Company,
  chance: Chance,
  point: CrashPoint,
  onFault: (what: string) => void,
): Promise<boolean> {
  let struck = false
  let late = false
  const dead = Promise.withResolvers<void>()
  const strike = () => {
    struck = true
    victim.process().signal('SIGKILL')
    victim.proxy.freeze()
    dead.resolve()
  }
  let left = 1 + chance.below(point.in.length === 0 ? 300 : 3)
  const call = callOf(target.type, point)
  if (call === undefined) {
    victim.proxy.listen(strikeAt(point, left, strike, async (question) => (await query(question)).length > 0))
  } else {
    target.meet(call, point.moment, () => {
      left -= 1
      if (left === 0) strike()
      return left === 0
    })
  }
  const playing = play(company, chance, () => struck || late, onFault)
  await Promise.race([dead.promise, pause(maxWaitMs, undefined, { ref: false })])
  late = true
  victim.proxy.listen({})
  target.pass()
  await playing
  return struck
}
