import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { type CrashPoint, pointAt, sleepingPoints } from './crash-points.ts'
import { comesTo } from './field-target.ts'
import { type Lane, openLane } from './lane.ts'
import { openPair, type Pair } from './pair.ts'
import type { Leases, Outcome } from './under-fire.ts'

export type CampaignOptions = {
  /** The types of provisioners that give access, each in its turn. */
  types: readonly ProvisionerType[]
  kills: number
  lanes: number
  /** Of the first kill; each one after has the next. */
  seed: number
  points: readonly CrashPoint[]
  leases: Leases
  /** Whether scenes of two services on one database come first. */
  pairs: boolean
  /** Once it answers true nothing new is begun, and what was done is told. */
  isOver(): boolean
  say(line: string): void
}

/** One kill, or one scene of two services, by the name of its point. */
export type Result = Outcome & { name: string; seed: number }
export type Results = { done: readonly Result[]; complaints: ReadonlyMap<string, number>; seconds: number }

/** A piece of work for whoever is free. */
type Job<Worker> = { name: string; seed: number; run(worker: Worker): Promise<Outcome> }

/** Kills and kills again, several services at a time; tells how it goes. */
export async function campaign(options: CampaignOptions): Promise<Results> {
  const { types, kills, lanes, seed, points, leases, say } = options
  const began = performance.now()
  const done: Result[] = []
  const complaints = new Map<string, number>()
  const note = (total: number) => (result: Result) => {
    done.push(result)
    for (const { kind, what } of result.faults) say(`FAULT  seed ${result.seed}  ${result.name}  ${kind}: ${what}`)
    if (!result.reached) say(`FAULT  seed ${result.seed}  ${result.name}  this point never came`)
    if (done.length % 10 !== 0 && done.length !== total) return
    const seconds = (performance.now() - began) / 1000
    say(`${done.length}/${total}  ${(seconds / done.length).toFixed(1)} s each  ${faultsOf(done)} faults`)
  }
  const scenes = options.pairs ? pairScenes(seed) : []
  const total = kills + scenes.length
  say(`${scenes.length} scenes of two services, then ${kills} kills from seed ${seed} on, ${lanes} at a time`)
  const means = { note: note(total), complaints, isOver: options.isOver, say }
  await workOff(scenes, Math.ceil(lanes / 2), () => onItsOwn(openPair, leases, 'sandbox'), means)
  for (const [turn, type] of types.entries()) {
    const killing = killsAt(type, points, seed, Math.floor((kills + types.length - 1 - turn) / types.length))
    await workOff(killing, lanes, () => onItsOwn(openLane, leases, type), means)
  }
  return { done, complaints, seconds: (performance.now() - began) / 1000 }
}

/** So many kills of a service whose people are given access by that type of provisioner. */
function killsAt(type: ProvisionerType, points: readonly CrashPoint[], seed: number, kills: number): Job<Lane>[] {
  const met = points.filter((point) => comesTo(type, point))
  if (met.length === 0) return []
  return Array.from({ length: kills }, (_, index) => {
    const point = met[index % met.length] as CrashPoint
    return { name: `${type}, ${point.name}`, seed: seed + index, run: (lane) => lane.kill(point, seed + index) }
  })
}

function pairScenes(seed: number): Job<Pair>[] {
  const dying = [
    pointAt('after', 'entitlement claimed'),
    pointAt('after', 'create sent'),
    pointAt('after', 'cursor claimed'),
  ]
  return [
    { name: 'two: both work', seed, run: (pair) => pair.share(seed) },
    ...dying.map((point, index) => ({
      name: `two: one dies, ${point.name}`,
      seed: seed + index,
      run: (pair: Pair) => pair.loseOne(point, seed + index),
    })),
    ...sleepingPoints.map((point) => ({
      name: `two: one sleeps, ${point.name}`,
      seed,
      run: (pair: Pair) => pair.putToSleep(point),
    })),
  ]
}

type Worker = { complaints: ReadonlyMap<string, number>; close(): Promise<void> }

/** A worker on a PostgreSQL of its own: one server has not connections enough for several. */
async function onItsOwn<Kind extends Worker>(
  open: (server: TestServer, leases: Leases, type: ProvisionerType) => Promise<Kind>,
  leases: Leases,
  type: ProvisionerType,
): Promise<Kind> {
  const { server, stop } = await startTestServer()
  try {
    const worker = await open(server, leases, type)
    const close = () => worker.close().finally(stop)
    return { ...worker, close }
  } catch (error) {
    await stop()
    throw error
  }
}

type Means = { note(result: Result): void; complaints: Map<string, number>; isOver(): boolean; say(line: string): void }

/** So many workers take the jobs in their order. */
async function workOff<Kind extends Worker>(
  jobs: readonly Job<Kind>[],
  width: number,
  open: () => Promise<Kind>,
  { note, complaints, isOver, say }: Means,
): Promise<void> {
  const left = [...jobs]
  const next = () => (isOver() ? undefined : left.shift())
  const work = async () => {
    if (isOver()) return
    let worker = await open()
    const end = async () => {
      await worker.close()
      for (const [text, count] of worker.complaints) complaints.set(text, (complaints.get(text) ?? 0) + count)
    }
    for (let job = next(); job !== undefined; job = next()) {
      const outcome = await job.run(worker).catch(async (error: unknown): Promise<Outcome> => {
        say(`seed ${job?.seed}, ${job?.name}: ${String(error)}`)
        await end().catch(() => undefined)
        worker = await open()
        return { reached: true, faults: [{ kind: 'lost', what: String(error) }], convergedMs: 0 }
      })
      note({ name: job.name, seed: job.seed, ...outcome })
    }
    await end()
  }
  // One that cannot begin again leaves its work to the others.
  const ends = await Promise.allSettled(Array.from({ length: Math.min(width, jobs.length) }, work))
  for (const end of ends) if (end.status === 'rejected') say(`a worker gave up: ${String(end.reason)}`)
}

function faultsOf(done: readonly Result[]): number {
  return done.reduce((count, { faults, reached }) => count + faults.length + (reached ? 0 : 1), 0)
}
