/**
 * A worker with an entitlement, as `converge-entitlement.job.ts`: each step here is one call of the target or one write. What follows from
 * what is decided by the product's own functions.
 */
import {
  beginRun,
  comeBack,
  type Ending,
  endsEarly,
  fail,
  type Run,
  reduce,
  rest,
  runAgain,
  stop,
  underWay,
} from '../../src/grants/convergence.ts'
import { contradicts, driftSeen, nextStep, type Step } from '../../src/grants/entitlement.ts'
import { NotNow, TargetError } from '../../src/provisioners/driver.ts'
import { beginGrant, beginRevoke, failRefused, openEntitlement, saveDrift, savePresent, settle } from './ledger.ts'
import { type Entitlement, type Guard, lateTicks, lateWindow, type Target, type Tick, type Worker } from './state.ts'

/** A possible step of a worker. `worker`: null when its run is over. `isFault`: something went wrong. */
export type WorkerStep = {
  what: string
  isFault: boolean
  entitlement: Entitlement
  worker: Worker | null
}

/** What a step needs to know besides the entitlement. */
export type Surroundings = { now: Tick; corrects_drift: boolean; without: readonly Guard[] }

/** After so many failed polls the run no longer follows the operation: one failed poll changes nothing. */
const manyFailures = 3

const unanswered = new TargetError('transient', 'no answer')
const refused = new TargetError('permanent', 'refused')
const notNow = new NotNow(0)

const idle: Worker = { at: 'settle', run: null, ending: null, saw: null, fenced: false, moved: false, left: lateTicks }

const ending = (worker: Worker, how: Ending): Worker => ({ ...worker, at: 'settle', run: null, ending: how, saw: null })

/** The worker before the next step of its run. */
function onward(worker: Worker, run: Run): Worker {
  const step = nextStep(run)
  if (step === 'rest') return ending(worker, rest(run))
  const at = step === 'grant' ? 'begin grant' : step === 'revoke' ? 'begin revoke' : step
  return { ...worker, at, run, saw: null }
}

/** A worker claims the entitlement and reads it. */
export function claim(before: Entitlement, { now, corrects_drift, without }: Surroundings): WorkerStep {
  const { entitlement, row } = openEntitlement(before, now, corrects_drift, !without.includes('last-grant'))
  const worker = onward(idle, beginRun(row))
  const leased = { ...entitlement, row: { ...entitlement.row, leased: true } }
  return { what: 'claims the entitlement', isFault: false, entitlement: leased, worker }
}

/** Every step that the worker can take now. */
export function stepsOf(entitlement: Entitlement, worker: Worker, around: Surroundings): WorkerStep[] {
  const writes = !worker.fenced || around.without.includes('generation')
  const on = { entitlement, worker, around, writes }
  switch (worker.at) {
    case 'verify':
      return verify(on)
    case 'poll':
      return poll(on)
    case 'begin grant':
      return refusals(on, on.worker.run?.waiting ?? []).concat(writeBegin(on))
    case 'begin revoke':
      return [writeBeginRevoke(on)]
    case 'call grant':
      return call(on, 'grant')
    case 'call revoke':
      return call(on, 'revoke')
    case 'save drift':
      return [writeDrift(on)]
    case 'save presence':
      return refusals(on, joiningOf(runOf(worker))).concat(writePresence(on))
    case 'settle':
      return [writeEnding(on)]
  }
}

type On = { entitlement: Entitlement; worker: Worker; around: Surroundings; writes: boolean }

function runOf({ run }: Worker): Run {
  if (run === null) throw new Error('the run is over')
  return run
}

/** Each way in which a call fails and nothing happens at the target. */
function failing({ entitlement, worker }: On, step: Step, run: Run): WorkerStep[] {
  const after = (error: TargetError) => ending(worker, fail(run, step, error, 0))
  return [
    { what: `gets no answer to its ${step}`, isFault: true, entitlement, worker: after(unanswered) },
    { what: `is refused its ${step}`, isFault: true, entitlement, worker: after(refused) },
  ]
}

function verify(on: On): WorkerStep[] {
  const { entitlement, worker } = on
  const before = runOf(worker)
  const observed = entitlement.target.held ? 'present' : 'absent'
  const what = `reads the target: ${observed}`
  const lost = failing(on, 'verify', before).slice(0, 1)
  if (contradicts(before.completed_now, observed)) {
    const failed = ending(worker, fail(before, 'verify', unanswered, 0))
    return [{ what: `${what}, which the act contradicts`, isFault: false, entitlement, worker: failed }, ...lost]
  }
  const drift = driftSeen(before, observed)
  const next: Worker =
    drift === null
      ? observing(worker, before, observed, null)
      : { ...worker, at: 'save drift', saw: { observed, drift } }
  return [{ what, isFault: false, entitlement, worker: next }, ...lost]
}

function observing(
  worker: Worker,
  before: Run,
  observed: 'absent' | 'present',
  drift: 'removed' | 'added' | null,
): Worker {
  const run = reduce(before, { type: 'observed', observed, drift })
  return observed === 'present' ? { ...worker, at: 'save presence', run, saw: null } : onward(worker, run)
}

function writeDrift({ entitlement, worker, writes }: On): WorkerStep {
  const { saw } = worker
  if (saw === null) throw new Error('nothing was observed')
  const what = `writes drift "${saw.drift}"`
  if (!writes) return { what, isFault: false, entitlement, worker: ending(worker, runAgain) }
  const next = observing(worker, runOf(worker), saw.observed, saw.drift)
  return { what, isFault: false, entitlement: saveDrift(entitlement, saw.drift), worker: next }
}

/** Grants that our own act gave are active without another evaluation; these need one. */
function joiningOf(run: Run) {
  return run.waiting.filter((one) => !(one.begun && run.completed_now === 'grant'))
}

/** Policy refuses one of the waiting grants. */
function refusals({ entitlement, worker, writes }: On, waiting: readonly { id: string }[]): WorkerStep[] {
  return waiting.map(({ id }) => {
    const what = `finds that policy refuses ${id}`
    const failed = writes ? failRefused(entitlement, id) : undefined
    const how = writes ? runAgain : stop
    if (failed === undefined) return { what, isFault: true, entitlement, worker: ending(worker, how) }
    const run = reduce(runOf(worker), { type: 'refused', ids: [id] })
    const next = worker.at === 'begin grant' && !run.wanted ? onward(worker, run) : { ...worker, run }
    return { what, isFault: true, entitlement: failed, worker: next }
  })
}

function writePresence({ entitlement: before, worker, around, writes }: On): WorkerStep {
  const run = runOf(worker)
  const what = 'writes that the access is there'
  const [ends_early, permitted] = [endsEarly(run), joiningOf(run)]
  const ids = run.waiting.map(({ id }) => id)
  const pendingOnly = !around.without.includes('pending-only')
  const saved = writes
    ? savePresent(before, { ids, ends_early, now: around.now, pendingOnly })
    : { entitlement: before, activated: [] }
  const { entitlement, activated } = saved
  const isAgain = ends_early || permitted.some(({ id }) => !activated.includes(id))
  const next = isAgain ? ending(worker, runAgain) : onward(worker, reduce(run, { type: 'activated' }))
  return { what, isFault: false, entitlement, worker: next }
}

function writeBegin({ entitlement, worker, around, writes }: On): WorkerStep {
  const run = runOf(worker)
  const what = 'writes that it begins to give the access'
  if (!writes) return { what, isFault: false, entitlement, worker: ending(worker, stop) }
  const ids = run.waiting.map(({ id }) => id)
  const begun = beginGrant(entitlement, { ids, until_ms: run.until_ms, ...clockOf(around) })
  if (begun === undefined) {
    const found = `finds that a grant is no longer pending`
    return { what: found, isFault: false, entitlement, worker: ending(worker, runAgain) }
  }
  const next: Worker = {
    ...worker,
    at: 'call grant',
    run: reduce(run, { type: 'begun', act: 'grant' }),
    left: lateTicks,
  }
  return { what, isFault: false, entitlement: recorded(entitlement, begun, around), worker: next }
}

function writeBeginRevoke({ entitlement, worker, around, writes }: On): WorkerStep {
  const what = 'writes that it begins to revoke the access'
  if (!writes) return { what, isFault: false, entitlement, worker: ending(worker, stop) }
  const run = reduce(runOf(worker), { type: 'begun', act: 'revoke' })
  const begun = recorded(entitlement, beginRevoke(entitlement, clockOf(around)), around)
  return { what, isFault: false, entitlement: begun, worker: { ...worker, at: 'call revoke', run, left: lateTicks } }
}

const clockOf = ({ now, without }: Surroundings) => ({ now, window: without.includes('late-effect') ? 0 : lateWindow })

const recorded = (before: Entitlement, after: Entitlement, { without }: Surroundings) =>
  without.includes('begin-record') ? { ...before, target: after.target } : after

/** The target after an act took effect. What is there by hand stays of that hand. */
export function effect(target: Target, act: 'grant' | 'revoke', by: Target['by']): Target {
  if (act === 'grant' && target.held) return target
  return { ...target, held: act === 'grant', by }
}

/** A call that acts: the target carries it out at once, as an operation, without an answer, late, or never. */
function call(on: On, act: 'grant' | 'revoke'): WorkerStep[] {
  const { entitlement, worker } = on
  const run = runOf(worker)
  const { target } = entitlement
  const no = (what: string, isFault: boolean): WorkerStep[] => [
    { what, isFault, entitlement, worker: ending(worker, comeBack(run, act, notNow)) },
  ]
  if (target.operation !== null && target.operation !== act)
    return no(`cannot ${act} while the target still carries out a ${target.operation}`, false)
  const done = effect({ ...target, operation: null }, act, worker.fenced ? 'late' : 'act')
  const later = (left: number): Target => ({ ...target, late: [...target.late, { act, left }] })
  // Nobody polls the operation of a worker that lost its lease.
  const going: Target = worker.fenced ? later(worker.left) : { ...target, operation: act }
  const lost = ending(worker, fail(run, act, unanswered, 0))
  const answered = (progress: { done: true } | { done: false; reference: string }) =>
    reduce(run, { type: 'answered', step: act, progress })
  const goes = ending(worker, underWay(answered({ done: false, reference: 'operation' }), 'operation', 0))
  const step = (what: string, isFault: boolean, at: Target, next: Worker): WorkerStep => ({
    ...{ what, isFault, entitlement: { ...entitlement, target: at }, worker: next },
  })
  return [
    step(`calls the target: the ${act} is done`, false, done, onward(worker, answered({ done: true }))),
    step(`calls the target: the ${act} is under way`, false, going, goes),
    step(`calls the target: the ${act} takes effect, and the answer is lost`, true, done, lost),
    step(`calls the target: no answer, and the ${act} will take effect late`, true, later(worker.left), lost),
    ...failing(on, act, run),
    ...no(`has no room for its ${act} at the target now`, true),
  ]
}

function poll(on: On): WorkerStep[] {
  const { entitlement, worker } = on
  const { target } = entitlement
  const run = runOf(worker)
  const answered = (progress: { done: true } | { done: false; reference: string }) =>
    reduce(run, { type: 'answered', step: 'poll', progress })
  const [lost] = failing(on, 'poll', { ...run, failures: manyFailures })
  const lostTrack = lost === undefined ? [] : [{ ...lost, what: 'gets no answer to four polls' }]
  if (run.act === null || target.operation !== run.act) {
    const worked = onward(worker, answered({ done: true }))
    return [{ what: `polls: the ${run.act} is done`, isFault: false, entitlement, worker: worked }, ...lostTrack]
  }
  const going = ending(worker, underWay(answered({ done: false, reference: 'operation' }), 'operation', 0))
  const dropped = { ...entitlement, target: { ...target, operation: null } }
  const unknown = ending(worker, fail(run, 'poll', refused, 0))
  return [
    { what: `polls: the ${run.act} is under way`, isFault: false, entitlement, worker: going },
    { what: `polls: the target knows no such ${run.act}`, isFault: true, entitlement: dropped, worker: unknown },
    ...lostTrack,
  ]
}

function writeEnding({ entitlement, worker, around, writes }: On): WorkerStep {
  const { ending: how, moved } = worker
  const what = `writes how the run ended (${shortly(how)})`
  if (!writes || how === null) return { what, isFault: false, entitlement, worker: null }
  const nextCheck = !around.without.includes('next-check')
  const isKept = moved && !around.without.includes('due-moment')
  const settled = settle(unfollowed(entitlement, how), how, { moved: isKept, nextCheck, ...clockOf(around) })
  return { what, isFault: false, entitlement: settled, worker: null }
}

/** After too many failed polls nobody polls the operation any more. */
function unfollowed(entitlement: Entitlement, { last }: Ending): Entitlement {
  const { row, target } = entitlement
  const { operation } = target
  if (last === undefined || !('failure' in last) || !last.failure.clears_act || !row.named) return entitlement
  if (operation === null || operation !== row.act) return entitlement
  const late = [...target.late, { act: operation, left: lateTicks }]
  return { ...entitlement, target: { ...target, operation: null, late } }
}

function shortly(how: Ending | null): string {
  const last = how?.last
  if (last === undefined) return how?.wait_ms === undefined ? 'at rest' : 'again at once'
  if ('failure' in last) return 'a failure'
  if ('gone' in last) return 'the access is gone'
  return 'unbegun' in last ? 'nothing was begun' : 'the act is under way'
}
