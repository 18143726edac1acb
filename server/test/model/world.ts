/** Everything that can happen in a state: by people, by workers, at the target, by time. */
import { assign, isExtendable, linkGrant, retryGrant, revokeGrant } from './ledger.ts'
import {
  type Entitlement,
  type Grant,
  isDue,
  isLive,
  isWanted,
  lastRequest,
  type Options,
  type State,
  type Worker,
} from './state.ts'
import { claim, effect, stepsOf, type WorkerStep } from './worker.ts'

/**
 * One thing that happens. `kind`: `fair` happens by itself, sooner or later; `time` passes; `person` is what people may do or not;
 * `fault` is a disturbance.
 */
export type Step = {
  what: string
  kind: 'fair' | 'time' | 'person' | 'fault'
  to: State
}

const maxWorkers = 2

/** Every step from the state. */
export function stepsFrom(state: State, options: Options): Step[] {
  const steps: Step[] = []
  steps.push(...workerSteps(state, options), ...claims(state, options), ...targetSteps(state))
  steps.push(...peopleOf(state, 'entitlement'), ...sweep(state, options), ...otherSteps(state, options))
  if (state.left > 0) steps.push(...byHand(state))
  const later = tick(state, options)
  if (later !== undefined) steps.push(later)
  return steps
}

const around = ({ now, corrects_drift }: State, { without }: Options) => ({ now, corrects_drift, without })

function workerSteps(state: State, options: Options): Step[] {
  const fenced = state.workers.length > 1 || state.workers.some((one) => one.fenced)
  return state.workers.flatMap((worker, index) => {
    const who = worker.fenced ? 'the worker that lost its lease' : fenced ? 'the new worker' : 'the worker'
    const isLeased = state.entitlement.row.leased && !worker.fenced
    const steps: Step[] = stepsOf(state.entitlement, worker, around(state, options)).flatMap((step) => {
      if (step.isFault && state.left === 0) return []
      const isHarmless = worker.fenced && !options.without.includes('generation')
      const next = isHarmless ? { ...step, worker: null } : step
      return [stepOf(state, index, next, `${who} ${step.what}`)]
    })
    const gone = { ...state, workers: state.workers.toSpliced(index, 1) }
    if (worker.fenced) return [...steps, { what: `${who} is killed`, kind: 'person', to: gone }]
    if (state.left === 0) return steps
    const released = { ...state.entitlement, row: { ...state.entitlement.row, leased: false } }
    const less = { entitlement: released, left: state.left - 1 }
    steps.push({ what: `${who} is killed, and its lease ends`, kind: 'fault', to: { ...gone, ...less } })
    if (isLeased) steps.push({ what: `${who} stalls, and its lease ends`, kind: 'fault', to: { ...state, ...less } })
    return steps
  })
}

function stepOf(state: State, index: number, step: WorkerStep, what: string): Step {
  const { entitlement, worker, isFault } = step
  const workers = worker === null ? state.workers.toSpliced(index, 1) : state.workers.with(index, worker)
  const to = { ...state, entitlement, workers, left: state.left - (isFault ? 1 : 0) }
  const kind = isFault ? 'fault' : 'fair'
  return { what, kind, to }
}

function claims(state: State, options: Options): Step[] {
  const { entitlement, workers, now } = state
  if (entitlement.row.leased || !isDue(entitlement.row, now) || workers.length >= maxWorkers) return []
  const step = claim(entitlement, around(state, options))
  if (step.worker === null) return []
  const who = workers.length > 0 ? 'a second worker' : 'a worker'
  const to = { ...state, entitlement: step.entitlement, workers: [...fencedOf(workers, options), step.worker] }
  return [{ what: `${who} ${step.what}`, kind: 'fair', to }]
}

/** A worker that writes nothing matters only while it may still call the target to act. */
function fencedOf(workers: readonly Worker[], { without }: Options): Worker[] {
  const fenced = workers.map((worker) => ({ ...worker, fenced: true }))
  return without.includes('generation') ? fenced : fenced.filter(({ at }) => at.startsWith('call'))
}

function targetSteps(state: State): Step[] {
  const { target, row } = state.entitlement
  const steps: Step[] = target.late.map(({ act }, index) => {
    const late = target.late.toSpliced(index, 1)
    const landed = effect({ ...target, late }, act, 'late')
    const to = { ...state, entitlement: { ...state.entitlement, target: landed } }
    return { what: `the unanswered ${act} takes effect at the target`, kind: 'fair', to }
  })
  if (target.operation === null) return steps
  const { operation } = target
  const done = effect({ ...target, operation: null }, operation, row.act === operation ? 'act' : 'late')
  const to = { ...state, entitlement: { ...state.entitlement, target: done } }
  return [...steps, { what: `the target completes the ${operation}`, kind: 'fair', to }]
}

/** A sweep sees that the target differs from the ledger, or that drift is to be corrected. */
function sweep(state: State, { without }: Options): Step[] {
  const { entitlement, now, corrects_drift } = state
  const { row, target } = entitlement
  if (!row.exists || row.act !== null || row.observed === 'unknown' || row.suspected) return []
  const isCompared = row.drift !== null || !row.held_before || isWanted(entitlement)
  const differs = target.held !== (row.observed === 'present') || (row.drift !== null && corrects_drift)
  if (!isCompared || !differs) return []
  const isRunning = state.workers.some((one) => !one.fenced) && !without.includes('sweep-moment')
  const isMoved = isRunning || !isDue(row, now)
  const to = {
    ...state,
    entitlement: { ...entitlement, row: { ...row, suspected: true, next: isMoved ? now : row.next } },
    workers: isMoved ? movedFor(state.workers) : state.workers,
  }
  return [{ what: 'a sweep suspects the entitlement', kind: 'fair', to }]
}

const movedFor = (workers: readonly Worker[]) => workers.map((worker) => ({ ...worker, moved: true }))

function byHand(state: State): Step[] {
  const { entitlement, left, now } = state
  const { target, grants } = entitlement
  const disturbed = (after: Entitlement): State => ({ ...state, left: left - 1, entitlement: after })
  const verb = target.held ? 'removes' : 'adds'
  const turned = disturbed({ ...entitlement, target: { ...target, held: !target.held, by: 'hand' } })
  const retries = grants.flatMap((grant): Step[] => {
    const retried = retryGrant(entitlement, grant, now)
    return retried === undefined ? [] : [{ what: `${grant.id} is retried`, kind: 'fault', to: disturbed(retried) }]
  })
  return [{ what: `an administrator ${verb} the access at the target`, kind: 'fault', to: turned }, ...retries]
}

/** What people do, and planning, which follows. */
function peopleOf(state: State, which: 'entitlement' | 'other'): Step[] {
  const entitlement = state[which]
  if (entitlement === null) return []
  const { now } = state
  const { grants, target, row } = entitlement
  const to = (after: Entitlement): State => {
    const isMoved = which === 'entitlement' && after.row !== row
    return { ...state, [which]: after, workers: isMoved ? movedFor(state.workers) : state.workers }
  }
  const withGrant = (index: number, grant: Grant) => to({ ...entitlement, grants: grants.with(index, grant) })
  return grants.flatMap((grant, index): Step[] => {
    const { id, status } = grant
    if (status === null)
      return requests(state, grants, index).map(({ what, grant }) => ({
        ...{ what, kind: 'person' },
        to: withGrant(index, grant),
      }))
    if (!isLive(grant)) return []
    const ended: Step = { what: `a person revokes ${id}`, kind: 'person', to: to(revokeGrant(entitlement, id, now)) }
    if (status !== 'pending' || grant.linked) return [ended]
    if (grant.plan !== null)
      return [ended, { what: `${id} is linked`, kind: 'fair', to: to(linkGrant(entitlement, grant, now)) }]
    if (grant.activate_by <= now)
      return [{ what: `${id} misses its deadline`, kind: 'fair', to: withGrant(index, assign(grant, 'miss_deadline')) }]
    const plan = target.held ? 'held' : 'absent'
    const planned = withGrant(index, { ...grant, plan })
    return [ended, { what: `${id} is planned: the access is ${plan}`, kind: 'fair', to: planned }]
  })
}

/** Requests that are approved: of access, or of an extension of the first grant. */
function requests({ now }: State, grants: readonly Grant[], index: number): { what: string; grant: Grant }[] {
  const [first] = grants
  const grant = grants[index]
  if (grant === undefined || first === undefined || (index > 0 && first.status === null)) return []
  const pending: Grant = { ...grant, status: 'pending', activate_by: now + lastRequest + 1 }
  const fresh = now <= lastRequest ? [{ what: `${grant.id} is approved`, grant: pending }] : []
  if (index === 0 || !isExtendable(first, now)) return fresh
  const starts = first.expires ?? now
  const activate_by = Math.min(pending.activate_by, starts + grant.duration)
  const what = `${grant.id} is approved, which extends ${first.id}`
  return [...fresh, { what, grant: { ...pending, starts, activate_by } }]
}

/** The other user's access: each run of it is one step, without faults. */
function otherSteps(state: State, options: Options): Step[] {
  const { other, now } = state
  if (other === null) return []
  const steps = peopleOf(state, 'other')
  if (!isDue(other.row, now)) return steps
  let { entitlement, worker } = claim(other, around(state, options))
  while (worker !== null) {
    const next = stepsOf(entitlement, worker, around(state, options)).find(({ isFault }) => !isFault)
    if (next === undefined) throw new Error('a run stopped')
    entitlement = next.entitlement
    worker = next.worker
  }
  return [
    ...steps,
    { what: "the other user's entitlement is converged", kind: 'fair', to: { ...state, other: entitlement } },
  ]
}

/** It waits for the target. A write takes no time. */
const isWaiting = ({ at }: Worker) => at.startsWith('call') || at === 'verify' || at === 'poll'

/** Time passes: a call that began is made before its time is over, and a due check has begun unless there are outages. */
function tick(state: State, { ticks, outages }: Options): Step | undefined {
  const { now, entitlement, other, workers } = state
  const { target, row } = entitlement
  if (now >= ticks || target.late.some(({ left }) => left === 1)) return undefined
  if (workers.some((one) => isWaiting(one) && one.left === 1)) return undefined
  const isRunning = row.leased && workers.some((one) => !one.fenced && isWaiting(one))
  const isBehind = isDue(row, now) && !isRunning
  if (!outages && (isBehind || (other !== null && isDue(other.row, now)))) return undefined
  const late = target.late.map(({ act, left }) => ({ act, left: left - 1 }))
  const to: State = {
    ...state,
    now: now + 1,
    entitlement: { ...entitlement, target: { ...target, late } },
    workers: workers.map((one) => ({ ...one, left: one.left - 1 })),
  }
  return { what: `time passes: it is ${now + 1}`, kind: 'time', to }
}
