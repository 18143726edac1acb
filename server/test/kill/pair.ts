import { setTimeout as pause } from 'node:timers/promises'
import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import type { Client } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { until } from '../support/wait.ts'
import { findLost, type Query } from './acknowledged.ts'
import { chanceOf } from './chance.ts'
import { type Company, type CompanyOptions, foundCompany } from './company.ts'
import type { Fault } from './consistency.ts'
import { type CrashPoint, type Holds, meet, pointAt } from './crash-points.ts'
import type { Place } from './field-target.ts'
import { ask, endSoon, play } from './stories.ts'
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

/** Two equal services on one database. */
export type Pair = {
  /** Both serve and both work. Returns, besides the faults, how often each has claimed entitlements. */
  share(seed: number): Promise<Outcome & { claims: readonly number[] }>
  /** The first to reach the point is killed; the other takes over its work. */
  loseOne(point: CrashPoint, seed: number): Promise<Outcome>
  /**
   * The first to reach the point is stopped there, past its lease. The other takes over, and the wanted state changes: access
   * that was being given is revoked, or the other way round. Then the stopped process continues as if nothing had happened.
   */
  putToSleep(point: CrashPoint): Promise<Outcome>
  complaints: ReadonlyMap<string, number>
  close(): Promise<void>
}

type TwoVictims = readonly [Victim, Victim]

/** The field, its company, and the service that is not to be called. */
type Scene = Field<TwoVictims> & { company: Company; leases: Leases; away: Victim | undefined; holds: Holds }

export async function openPair(server: TestServer, leases: Leases, type: ProvisionerType): Promise<Pair> {
  const field = await openField<TwoVictims>(server, 2, type)
  const holds: Holds = async (question) => (await field.query(question)).length > 0
  const scene = Object.assign(field, { leases, away: undefined as Victim | undefined, holds })
  let calls = 0
  const base_url = () => {
    calls += 1
    const serving = field.victims.filter((victim) => victim !== scene.away)
    return serving[calls % serving.length]?.process().base_url ?? ''
  }
  const { database, query, target } = field
  const record: CompanyOptions['record'] = (answer) => field.exchanges.push(answer)
  const company = await foundCompany({ database, query, target, base_url, record })
  const ready: Scene = Object.assign(scene, { company })
  const reset = async (point?: CrashPoint) => {
    ready.exchanges = []
    ready.away = undefined
    await target.inject(point?.injected ?? {}, company.tenant_id)
  }
  return {
    share: async (seed) => reset().then(() => share(ready, seed)),
    loseOne: async (point, seed) => reset(point).then(() => loseOne(ready, point, seed)),
    putToSleep: async (point) => reset(point).then(() => putToSleep(ready, point)),
    complaints: field.complaints,
    close: field.close,
  }
}

const unreached: Outcome = { reached: false, faults: [], convergedMs: 0 }

async function share(scene: Scene, seed: number): Promise<Outcome & { claims: readonly number[] }> {
  const claims = [0, 0]
  for (const [index, { proxy }] of scene.victims.entries()) {
    const count = () => {
      claims[index] = (claims[index] ?? 0) + 1
    }
    proxy.listen(meet(pointAt('after', 'entitlement claimed'), count, scene.holds))
  }
  const faults: Fault[] = []
  const deadline = performance.now() + maxWaitMs
  const over = () => claims.every((count) => count >= 5) || performance.now() > deadline
  await play(scene.company, chanceOf(seed), over, (what) => faults.push({ kind: 'lost', what }))
  return { ...(await settle(scene, performance.now(), faults)), claims }
}

async function loseOne(scene: Scene, point: CrashPoint, seed: number): Promise<Outcome> {
  const struck = strikeFirst(scene, point, always, (victim) => {
    victim.process().signal('SIGKILL')
    victim.proxy.freeze()
  })
  let late = false
  // The killed service's calls are cut off: their results are not checked.
  const over = () => late || scene.away !== undefined
  const playing = play(scene.company, chanceOf(seed), over, () => undefined)
  const victim = await Promise.race([struck, pause(maxWaitMs, undefined, { ref: false })])
  late = true
  await playing
  if (victim === undefined) return unreached
  const began = performance.now()
  await victim.process().end()
  await endLeases(scene.query, scene.leases, false)
  const outcome = await settle(scene, began, [])
  await victim.riseAgain()
  return outcome
}

async function putToSleep(scene: Scene, point: CrashPoint): Promise<Outcome> {
  const { query, company, leases, target } = scene
  const woken = Promise.withResolvers<void>()
  const place = target.place('auto')
  // Work of an earlier stopped process does not count.
  const hasBegun = async () => (await grantsAt(query, place)).length > 0
  const asleep = strikeFirst(scene, point, hasBegun, (victim) => {
    victim.process().signal('SIGSTOP')
    return woken.promise
  })
  const [ada] = company.asking
  // The service that answers this call may be stopped before it answers.
  const requested = untilRequested(ada, place).catch(() => undefined)
  const ended = giveAndEnd(scene, place)
  const sleeper = await Promise.race([asleep, pause(maxWaitMs, undefined, { ref: false })])
  if (sleeper === undefined) return unreached
  const began = performance.now()
  await endLeases(query, leases, false)
  const faults = await converge(query, target.holds)
  // The wanted state changes.
  const held = await activeOn(query, place)
  if (held === undefined) await untilRequested(ada, place)
  else await endSoon(query, held)
  faults.push(...(await converge(query, target.holds)))
  const before = await stateOf(scene, place)
  const answersReceived = countAnswers(sleeper)
  woken.resolve()
  sleeper.process().signal('SIGCONT')
  await until('the stopped process works again', async () => answersReceived() >= 15, maxWaitMs)
  await Promise.all([requested, ended])
  const outcome = await settle(scene, began, faults)
  const after = await stateOf(scene, place)
  if (JSON.stringify(before) !== JSON.stringify(after)) {
    const what = `the resumed process changed ${JSON.stringify(before)} to ${JSON.stringify(after)}`
    outcome.faults.push({ kind: 'doubled', what })
  }
  return outcome
}

function untilRequested(ada: Client, place: Place): Promise<string> {
  return until('it is requested', () => ask(ada, place).catch(() => undefined))
}

/** Ends access as soon as it is given, unless a process was stopped before. */
async function giveAndEnd(scene: Scene, place: Place): Promise<void> {
  const isGiven = async () => scene.away !== undefined || (await activeOn(scene.query, place)) !== undefined
  await until('access is given, or a process is stopped', isGiven, maxWaitMs).catch(() => undefined)
  if (scene.away === undefined) await endSoon(scene.query, (await activeOn(scene.query, place)) ?? [])
}

function grantsAt(query: Query, { resource, action }: Place): Promise<{ id: string; status: string }[]> {
  return query('select id, status from access_grant where resource_id = $1 and action = $2', [resource.id, action])
}

/** The active grants at a place; undefined if there is none. */
async function activeOn(query: Query, place: Place): Promise<string[] | undefined> {
  const ids = (await grantsAt(query, place)).filter(({ status }) => status === 'active').map(({ id }) => id)
  return ids.length === 0 ? undefined : ids
}

/** The state that a stale write could corrupt. */
async function stateOf({ query, target }: Scene, { resource, action }: Place): Promise<unknown[]> {
  return query(
    `select g.id, g.status, g.provisioning_status, g.activated_at, g.expires_at, g.ended_at, e.observed, e.act,
        e.held_before, e.target_key = any ($3) as at_target
      from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
      where g.resource_id = $1 and g.action = $2 order by g.id`,
    [resource.id, action, await target.holds()],
  )
}

/** Counts the answers that a process receives from the database from now on. */
function countAnswers({ proxy }: Victim): () => number {
  let received = 0
  proxy.listen({
    answered() {
      received += 1
    },
  })
  return () => received
}

const always = async () => true

/** Calls `strike` with the first service to reach the point once `hasBegun`; that service is no longer called from then on. */
function strikeFirst(
  scene: Scene,
  point: CrashPoint,
  hasBegun: () => Promise<boolean>,
  strike: (victim: Victim) => void | Promise<void>,
): Promise<Victim> {
  const struck = Promise.withResolvers<Victim>()
  for (const victim of scene.victims) {
    const come = async () => {
      if (scene.away !== undefined || !(await hasBegun()) || scene.away !== undefined) return
      scene.away = victim
      struck.resolve(victim)
      await strike(victim)
    }
    victim.proxy.listen(meet(point, come, scene.holds))
  }
  return struck.promise
}

async function settle(scene: Scene, began: number, faults: Fault[]): Promise<Outcome> {
  // Check possible late effects of unanswered calls now, and not within the minute.
  const holds = async () => {
    await scene.query(`update entitlement set next_look_at = clock_timestamp()
      where may_land_until > clock_timestamp() and next_look_at > clock_timestamp() and lease_until is null`)
    return scene.target.holds()
  }
  const wrong = await converge(scene.query, holds)
  const convergedMs = Math.round(performance.now() - began)
  const lost = await findLost(scene.query, scene.exchanges)
  const all = [...faults, ...wrong, ...lost.map((what): Fault => ({ kind: 'lost', what }))]
  return { reached: true, convergedMs, faults: all }
}
