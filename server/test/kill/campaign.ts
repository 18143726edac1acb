import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { type CrashPoint, pointAt, sleepingPoints } from './crash-points.ts'
import { comesTo } from './field-target.ts'
import { openPair, type Pair } from './pair.ts'
import { openSingleService, type SingleService } from './solo.ts'
import type { Leases, Outcome } from './under-fire.ts'

export type CampaignOptions = {
  /** The types of provisioners that give access, used one after another. */
  types: readonly ProvisionerType[]
  kills: number
  width: number
  /** The seed of the first kill; each further one adds 1. */
  seed: number
  points: readonly CrashPoint[]
  leases: Leases
  /** Whether scenes of two services on one database run first. */
  pairs: boolean
  /** Once it returns true nothing new begins, and the results so far are reported. */
  isOver(): boolean
  say(line: string): void
}

/** The result of one kill, or of one scene of two services, by the name of its point. */
export type Result = Outcome & { name: string; seed: number }
export type Results = { done: readonly Result[]; complaints: ReadonlyMap<string, number>; seconds: number }

/** A piece of work for any free worker. */
type Job<Worker> = { name: string; seed: number; run(worker: Worker): Promise<Outcome> }

/** Runs the campaign, with several services at a time; reports its progress. */
export async function campaign(options: CampaignOptions): Promise<Results> {
  const { types, kills, width, seed, points, leases, say } = options
  const began = performance.now()
  const done: Result[] = []
  const complaints = new Map<string, number>()
  const note = (total: number) => (result: Result) => {
    done.push(result)
    for (const { kind, what } of result.faults) say(`FAULT  seed ${result.seed}  ${result.name}  ${kind}: ${what}`)
    if (!result.reached) say(`FAULT  seed ${result.seed}  ${result.name}  this point was never reached`)
    if (done.length % 10 !== 0 && done.length !== total) return
    const seconds = (performance.now() - began) / 1000
    say(`${done.length}/${total}  ${(seconds / done.length).toFixed(1)} s each  ${faultsOf(done)} faults`)
  }
  const scenes = options.pairs ? pairScenes(seed) : []
  const total = kills + scenes.length
  say(`${scenes.length} scenes of two services, then ${kills} kills from seed ${seed} on, ${width} at a time`)
  const dependencies = { note: note(total), complaints, isOver: options.isOver, say }
  await workOff(scenes, Math.ceil(width / 2), () => onItsOwn(openPair, leases, 'sandbox'), dependencies)
  for (const [index, type] of types.entries()) {
    const killing = killsAt(type, points, seed, Math.floor((kills + types.length - 1 - index) / types.length))
    await workOff(killing, width, () => onItsOwn(openSingleService, leases, type), dependencies)
  }
  return { done, complaints, seconds: (performance.now() - began) / 1000 }
}

/** The kills of a service whose users get access by that type of provisioner. */
function killsAt(
  type: ProvisionerType,
  points: readonly CrashPoint[],
  seed: number,
  kills: number,
): Job<SingleService>[] {
  const met = points.filter((point) => comesTo(type, point))
  if (met.length === 0) return []
  return Array.from({ length: kills }, (_, index) => {
    const point = met[index % met.length] as CrashPoint
    return { name: `${type}, ${point.name}`, seed: seed + index, run: (service) => service.kill(point, seed + index) }
  })
}

function pairScenes(seed: number): Job<Pair>[] {
  const dying = [
    pointAt('after', 'entitlement claimed'),
    pointAt('after', 'create sent'),
    pointAt('after', 'events claimed'),
  ]
  return [
    { name: 'two: both work', seed, run: (pair) => pair.share(seed) },
    ...dying.map((point, index) => ({
      name: `two: one is killed, ${point.name}`,
      seed: seed + index,
      run: (pair: Pair) => pair.loseOne(point, seed + index),
    })),
    ...sleepingPoints.map((point) => ({
      name: `two: one is stopped, ${point.name}`,
      seed,
      run: (pair: Pair) => pair.putToSleep(point),
    })),
  ]
}

type Worker = { complaints: ReadonlyMap<string, number>; close(): Promise<void> }

/** A worker on its own PostgreSQL: one server does not have enough connections for several. */
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

type Dependencies = {
  note(result: Result): void
  complaints: Map<string, number>
  isOver(): boolean
  say(line: string): void
}

/** `width` workers take the jobs in order. */
async function workOff<Kind extends Worker>(
  jobs: readonly Job<Kind>[],
  width: number,
  open: () => Promise<Kind>,
  { note, complaints, isOver, say }: Dependencies,
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
  // A worker that cannot be restarted leaves its jobs to the others.
  const ends = await Promise.allSettled(Array.from({ length: Math.min(width, jobs.length) }, work))
  for (const end of ends) if (end.status === 'rejected') say(`a worker gave up: ${String(end.reason)}`)
}

function faultsOf(done: readonly Result[]): number {
  return done.reduce((count, { faults, reached }) => count + faults.length + (reached ? 0 : 1), 0)
}
