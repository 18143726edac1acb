import type { WorkItem } from '../jobs/claim.ts'
import type { Bounds } from '../jobs/in-flight.ts'
import type { DueWork } from '../jobs/work-list.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { noteUrgentWork } from '../kernel/give-way.ts'
import { type Driver, type Held, NotNow, type Progress, TargetError } from '../provisioners/driver.ts'
import type { Drivers } from '../provisioners/drivers.ts'
import { inTime, maxCallMs } from '../provisioners/in-time.ts'
import { beginGrant, beginRevoke, openEntitlement, savePresent, settle } from './batched-entitlement-store.ts'
import { saveConnect } from './connect-store.ts'
import {
  beginRun,
  comeBack,
  type Ending,
  type EntitlementRow,
  endOf,
  endsEarly,
  fail,
  maxWaiting,
  mustHoldUntil,
  type Run,
  reduce,
  rest,
  runAgain,
  stop,
  underWay,
  type Waiting,
} from './convergence.ts'
import { saveDrift, saveLeftBehind } from './drift-store.ts'
import { changeSeen, contradicts, driftSeen, nextStep, type Step, saysDisabled } from './entitlement.ts'
import { type Blocked, failRefused, noGrants, type StillPermitted } from './give-store.ts'
import type { Reauthorize } from './policy-verdict.ts'
import { saveSessions } from './session-store.ts'

/** What a run needs besides the entitlement. */
type Dependencies = {
  driver: Driver
  reauthorize: Reauthorize
  /** In [0, 1). */
  random(): number
  maxCallMs: number
}

/** The result of a step: the run continues with its new state, or it ends. */
type Outcome = { run: Run } | { ending: Ending }

/** More steps than any normal run needs. The next run does the rest. */
const maxSteps = 8

/** Many rows run in one round trip. */
const bounds: Record<'takes' | 'gives', Bounds> = {
  takes: { width: 2_048, perTenant: 1_024 },
  gives: { width: 512, perTenant: 256 },
}

/**
 * Brings entitlements closer to what their live grants want: it observes, decides on the smallest step, takes it, and observes
 * again. A pending grant gets access only if policy permits it at that moment.
 */
export function convergeEntitlement(
  drivers: Drivers,
  reauthorize: Reauthorize,
  options: Partial<Pick<Dependencies, 'random' | 'maxCallMs'>> = {},
): DueWork[] {
  const run = async (ctx: WorkCtx, item: WorkItem) => {
    noteUrgentWork()
    const row = await openEntitlement(ctx.tx, item)
    if (row === undefined) return
    const deps = { reauthorize, random: Math.random, maxCallMs, ...options }
    const ending = await converge(ctx, item, row, drivers, deps)
    await settle(ctx.tx, { item, due_at: row.due_at, ...ending })
  }
  return (['takes', 'gives'] as const).map((part) => ({
    table: 'entitlement',
    part,
    isPrompt: true,
    bounds: bounds[part],
    run,
  }))
}

async function converge(
  ctx: WorkCtx,
  item: WorkItem,
  row: EntitlementRow,
  drivers: Drivers,
  deps: Omit<Dependencies, 'driver'>,
): Promise<Ending> {
  let run = beginRun(row)
  let step: Step = 'verify'
  try {
    // A driver that cannot be created counts as a failure of the target.
    const driver = await drivers.of(ctx.tx, row)
    for (let steps = 0; steps < maxSteps; steps += 1) {
      step = nextStep(run)
      if (step === 'rest') return rest(run)
      const outcome = await take(step, ctx, item, run, { ...deps, driver })
      if ('ending' in outcome) return outcome.ending
      run = outcome.run
    }
    return runAgain
  } catch (error) {
    if (error instanceof NotNow) return comeBack(run, step, error)
    if (!(error instanceof TargetError)) throw error
    return fail(run, step, error, deps.random())
  }
}

function take(
  step: Exclude<Step, 'rest'>,
  ctx: WorkCtx,
  item: WorkItem,
  run: Run,
  deps: Dependencies,
): Promise<Outcome> {
  if (step === 'verify') return verify(ctx, item, run, deps)
  if (step === 'poll') return poll(ctx, item, run, deps)
  return step === 'grant' ? grant(ctx, item, run, deps) : revoke(ctx, item, run, deps)
}

/** Gives access to the waiting grants that policy still permits. */
async function grant(ctx: WorkCtx, item: WorkItem, before: Run, deps: Dependencies): Promise<Outcome> {
  const { driver, reauthorize, maxCallMs } = deps
  if (!before.enabled) throw new TargetError('transient', saysDisabled, true)
  const result = await reauthorizeGrants(ctx, item, before, before.waiting, reauthorize)
  if ('ending' in result) return result
  const { run, permitted } = result
  // Policy refused every grant that wanted it.
  if (!run.wanted) return { run }
  const outcome = await beginGrant(ctx.tx, { item, permitted, until: endOf(run) })
  if (outcome !== 'begun') return blocked(outcome)
  const begun = reduce(run, { type: 'begun', act: 'grant' })
  const progress = await inTime(maxCallMs, (signal) => driver.grant(ctx.tx, run.target, endOf(run), signal))
  await keepSaid(ctx, item, progress)
  return onProgress(begun, 'grant', progress, driver)
}

async function revoke(ctx: WorkCtx, item: WorkItem, run: Run, { driver, maxCallMs }: Dependencies) {
  if (!(await beginRevoke(ctx.tx, item))) return { ending: stop }
  const begun = reduce(run, { type: 'begun', act: 'revoke' })
  const progress = await inTime(maxCallMs, (signal) => driver.revoke(ctx.tx, run.target, signal))
  await keepSaid(ctx, item, progress)
  return onProgress(begun, 'revoke', progress, driver)
}

async function poll(ctx: WorkCtx, item: WorkItem, run: Run, { driver, maxCallMs }: Dependencies): Promise<Outcome> {
  const { target, act_reference } = run
  const progress = await inTime(maxCallMs, (signal) => driver.poll(ctx.tx, target, act_reference ?? '', signal))
  await keepSaid(ctx, item, progress)
  return onProgress(run, 'poll', progress, driver)
}

/**
 * Before the grants become active, or end, since their holders are notified then; and before the act goes on, which moves what was left
 * behind.
 */
async function keepSaid(ctx: WorkCtx, item: WorkItem, { connect, sessions, left_behind }: Progress): Promise<void> {
  if (left_behind !== undefined) await saveLeftBehind(ctx, item, left_behind)
  if (connect !== undefined) await saveConnect(ctx.tx, item, connect)
  if (sessions !== undefined) await saveSessions(ctx.tx, item, sessions)
}

function onProgress(before: Run, step: 'grant' | 'revoke' | 'poll', progress: Progress, driver: Driver): Outcome {
  const run = reduce(before, { type: 'answered', step, progress })
  if (progress.done) return { run }
  const polls = step === 'poll' ? run.act_polls : 0
  return { ending: underWay(run, progress.reference, driver.pollAfterMs(polls)) }
}

/** Reads the entitlement's state from the target. If the access is there, waiting grants become active. Drift is saved. */
async function verify(ctx: WorkCtx, item: WorkItem, before: Run, deps: Dependencies): Promise<Outcome> {
  const { driver, maxCallMs } = deps
  const heldUntil = mustHoldUntil(before)
  const given = before.given_until_ms === null ? null : new Date(before.given_until_ms)
  const held = await inTime(maxCallMs, (signal) => driver.verify(ctx.tx, before.target, heldUntil, signal, given))
  const observed = observedState(held, before)
  if (contradicts(before.completed_now, observed)) {
    throw new TargetError(
      'transient',
      `the target reports that the ${before.completed_now} is done, but does not show it`,
    )
  }
  if (held === 'changed' && changeSeen(before) && !(await saveDrift(ctx, item, held))) return { ending: runAgain }
  const drift = held === 'held' || held === 'absent' ? driftSeen(before, observed) : null
  if (drift !== null && !(await saveDrift(ctx, item, drift))) return { ending: runAgain }
  const run = reduce(before, { type: 'observed', observed, drift })
  return observed === 'present' ? activate(ctx, item, run, deps) : { run }
}

/**
 * Access that the target will end too early, or that is not as Sallyport made it, counts as absent while a grant wants it, and as present when it
 * is to be revoked.
 */
function observedState(held: Held, { wanted }: Run): 'present' | 'absent' {
  return held === 'held' || (held !== 'absent' && !wanted) ? 'present' : 'absent'
}

/** The target holds the access: waiting grants become active. */
async function activate(ctx: WorkCtx, item: WorkItem, before: Run, { reauthorize }: Dependencies): Promise<Outcome> {
  const full = before.waiting.length === maxWaiting
  // Policy was evaluated before our own act began. For grants that joined since, it is evaluated now.
  const given = before.waiting.filter((one) => one.begun && before.completed_now === 'grant')
  const joining = before.waiting.filter((one) => !given.includes(one))
  const result = await reauthorizeGrants(ctx, item, before, joining, reauthorize)
  if ('ending' in result) return result
  const { run, permitted } = result
  const ends_early = endsEarly(run)
  const activated = await savePresent(ctx.tx, {
    item,
    begun: idsOf(given),
    permitted,
    reference: run.reference,
    ends_early,
  })
  if (ends_early || full || permitted.grant_ids.some((id) => !activated.includes(id))) return { ending: runAgain }
  return { run: reduce(run, { type: 'activated' }) }
}

/** Reauthorizes grants that are about to be given. Grants that policy refuses fail and stop waiting. */
async function reauthorizeGrants(
  ctx: WorkCtx,
  item: WorkItem,
  run: Run,
  grants: readonly Waiting[],
  reauthorize: Reauthorize,
): Promise<{ run: Run; permitted: StillPermitted } | { ending: Ending }> {
  if (grants.length === 0) return { run, permitted: noGrants }
  const request_ids = grants.map(({ request_id }) => request_id)
  const { rulesUnchanged, refused } = await reauthorize(ctx.tx, request_ids)
  const failing = grants.filter(({ request_id }) => refused.has(request_id))
  const outcome = failing.length === 0 ? 'failed' : await failRefused(ctx, item, failing, { rulesUnchanged, refused })
  if (outcome !== 'failed') return blocked(outcome)
  const permitted = { grant_ids: idsOf(grants.filter((one) => !failing.includes(one))), rulesUnchanged }
  return { run: reduce(run, { type: 'refused', ids: idsOf(failing) }), permitted }
}

/** How a run ends when a guard blocked its write. */
function blocked(guard: Blocked): { ending: Ending } {
  return { ending: guard === 'lease_lost' ? stop : runAgain }
}

function idsOf(grants: readonly Waiting[]): string[] {
  return grants.map(({ id }) => id)
}
