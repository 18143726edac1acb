import { chanceOf } from '../kill/chance.ts'
import { injectFaults } from '../support/sandbox-faults.ts'
import { until } from '../support/wait.ts'
import { findViolations } from './check.ts'
import type { Answer, Operation, Violation } from './history.ts'
import { foundHouse, type House } from './house.ts'
import { keepHistory } from './kept.ts'
import { type Lane, openClusterLane, openLane } from './lane.ts'
import { type Disturbance, play } from './play.ts'
import { linesOf } from './print.ts'
import { processes } from './processes.ts'
import { openRecorder } from './recorder.ts'

export type CampaignOptions = {
  histories: number
  /** How many of the histories have a killed process in the middle, and how many a failover of the database. */
  kills: number
  failovers: number
  parallel: number
  /** The seed of the first history; each further one adds 1. */
  seed: number
  /** Once it returns true nothing new begins, and the results so far are reported. */
  isOver(): boolean
  say(line: string): void
}

/** What is in the middle of a history. */
export type Kind = 'plain' | 'kill' | 'failover'

/** One history, as the report counts it. `fault`: it could not be recorded or checked, or the database itself lost something. */
export type Result = {
  kind: Kind
  calls: number
  /** How many of them have no answer that says what happened. */
  open: number
  /** How often each call was answered in each way, by `call: answer`. */
  answers: ReadonlyMap<string, number>
  violations: number
  fault: string | undefined
  checkMs: number
}

export type Results = { done: readonly Result[]; complaints: ReadonlyMap<string, number>; seconds: number }

/** A recorded and checked history. */
type Checked = {
  seed: number
  kind: Kind
  operations: readonly Operation[]
  violations: readonly Violation[]
  fault?: string
  checkMs: number
}

/** A tenant is left after so many histories. */
const historiesPerHouse = 20

/** Records and checks histories, in several lanes, each with two processes and a database of its own; those with a failover in one more. */
export async function campaign(options: CampaignOptions): Promise<Results> {
  const { histories, kills, failovers, parallel, seed, isOver, say } = options
  const began = performance.now()
  const done: Result[] = []
  const complaints = new Map<string, number>()
  const note = async (checked: Checked) => {
    // A thousand histories do not fit into memory: figures are enough where nothing is wrong.
    done.push(figuresOf(checked))
    await report(checked, say)
    if (done.length % 25 !== 0 && done.length !== histories) return
    const seconds = (performance.now() - began) / 1_000
    const wrong = done.filter(({ violations, fault }) => violations > 0 || fault !== undefined).length
    say(`${done.length}/${histories}  ${seconds.toFixed(0)} s  ${wrong} histories with violations or faults`)
  }
  const local = histories - failovers
  say(
    `${histories} histories from seed ${seed} on, ${parallel} at a time: ${kills} with a kill, ${failovers} with a failover`,
  )
  const jobs = Array.from({ length: local }, (_, nth) => ({
    seed: seed + nth,
    // Spread evenly over all.
    kind: (Math.floor(((nth + 1) * kills) / local) > Math.floor((nth * kills) / local) ? 'kill' : 'plain') as Kind,
  }))
  const left = [...jobs]
  const lane = async (next: () => Job | undefined, open: () => Promise<Lane>) => {
    await workOff({ next: () => (isOver() ? undefined : next()), open, note, complaints, say })
  }
  const onCluster = Array.from({ length: failovers }, (_, nth) => ({
    seed: seed + local + nth,
    kind: 'failover' as const,
  }))
  // A failover is mostly waiting, so its lane runs beside the others.
  const lanes = Array.from({ length: Math.min(parallel, local) }, () => lane(() => left.shift(), openLane))
  await Promise.all([...lanes, lane(() => onCluster.shift(), openClusterLane)])
  return { done, complaints, seconds: (performance.now() - began) / 1_000 }
}

type Job = { seed: number; kind: Kind }

type Work = {
  next(): Job | undefined
  open(): Promise<Lane>
  note(checked: Checked): Promise<void>
  complaints: Map<string, number>
  say(line: string): void
}

async function workOff({ next, open, note, complaints, say }: Work): Promise<void> {
  let lane: Lane | undefined
  let house: House | undefined
  let played = 0
  const end = async () => {
    await lane?.close().catch((error: unknown) => say(`a lane did not close: ${String(error)}`))
    for (const [text, count] of lane?.services.complaints ?? [])
      complaints.set(text, (complaints.get(text) ?? 0) + count)
    lane = undefined
    house = undefined
  }
  for (let job = next(); job !== undefined; job = next()) {
    const recorded: Operation[] = []
    try {
      lane ??= await open()
      if (house === undefined || played % historiesPerHouse === 0) house = await found(lane)
      played += 1
      await note(await playOne(lane, house, job, recorded))
    } catch (error) {
      // What was recorded before may say why.
      const violations = violationsIn(recorded)
      await note({ ...job, operations: recorded, violations, fault: String(error), checkMs: 0 })
      await end()
    }
  }
  await end()
}

function found(lane: Lane): Promise<House> {
  return patiently(lane, 'a tenant is founded', () => foundHouse(lane.database, lane.services.address(0)))
}

/** After a failover, the pool of this program has connections to the former primary, which fail once. */
function patiently<Made>({ failOver }: Lane, what: string, make: () => Promise<Made>): Promise<Made> {
  return failOver === undefined ? make() : until(what, () => make().catch(() => undefined))
}

async function playOne(lane: Lane, house: House, { seed, kind }: Job, recorded: Operation[]): Promise<Checked> {
  const { services, query, failOver } = lane
  const chance = chanceOf(seed)
  const recorder = openRecorder(services.address, recorded)
  await injectFaults(query, house.tenant_id, chance.oneOf([{}, {}, { polls: 3 }, { failed: 2 }, { delay_ms: 30 }]))
  const victim = chance.below(processes)
  const faults: string[] = []
  const disturbances: Record<Kind, Disturbance | undefined> = {
    plain: undefined,
    kill: () => services.killAndStart(victim),
    failover: async () => faults.push(...((await failOver?.(seed)) ?? [])),
  }
  const cast = await patiently(lane, 'the callers have joined', house.cast)
  await play({ cast, chance, recorder, query, disturb: disturbances[kind] })
  const began = performance.now()
  const violations = findViolations(recorded)
  const fault = faults.length > 0 && { fault: `the cluster: ${faults.join('; ')}` }
  return { seed, kind, operations: recorded, violations, ...fault, checkMs: performance.now() - began }
}

function violationsIn(operations: readonly Operation[]): Violation[] {
  try {
    return findViolations(operations)
  } catch {
    return []
  }
}

function figuresOf({ kind, operations, violations, fault, checkMs }: Checked): Result {
  const answers = new Map<string, number>()
  for (const { call, answer } of operations) {
    const name = `${call.name}: ${answerOf(answer)}`
    answers.set(name, (answers.get(name) ?? 0) + 1)
  }
  const open = operations.filter(({ ended }) => !Number.isFinite(ended)).length
  return { kind, calls: operations.length, open, answers, violations: violations.length, fault, checkMs }
}

function answerOf(answer: Answer | undefined): string {
  if (answer === undefined) return 'no answer'
  return answer.status < 300 ? String(answer.status) : `${answer.status} ${String(answer.body.code)}`
}

/** Prints what is wrong with a history, and keeps the whole of it in a file. */
async function report(
  { seed, kind, operations, violations, fault }: Checked,
  say: (line: string) => void,
): Promise<void> {
  if (violations.length === 0 && fault === undefined) return
  const path = await keepHistory({ seed, operations, ...{ kind, violations, fault } })
  if (fault !== undefined) say(`FAULT  seed ${seed} (${kind}): ${fault}`)
  for (const violation of violations)
    for (const line of linesOf(violation)) say(`VIOLATION  seed ${seed} (${kind})  ${line}`)
  say(`the whole history: ${path}`)
}
