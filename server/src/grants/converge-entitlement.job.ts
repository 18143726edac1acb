import type { WorkItem } from '../jobs/claim.ts'
import type { Bounds } from '../jobs/in-hand.ts'
import type { DueWork } from '../jobs/work-list.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { type Driver, NotNow, type Progress, TargetError } from '../provisioners/driver.ts'
import type { Drivers } from '../provisioners/drivers.ts'
import { inTime, longestCallMs } from '../provisioners/in-time.ts'
import { saveDrift } from './drift-store.ts'
import {
  alarmAfterFailures,
  backoffMs,
  contradicts,
  driftSeen,
  type EntitlementState,
  nextStep,
  type Step,
  saysDisabled,
  waitMs,
} from './entitlement.ts'
import { beginGrant, failRefused, nobody, type Permitted, savePresent } from './give-store.ts'
import { beginRevoke, openLook, settle } from './ledger-books.ts'
import { type EntitlementRow, mostWaiting, type Waiting } from './look-store.ts'
import type { AskAgain } from './policy-word.ts'
import type { Settling } from './take-store.ts'

/** What a turn knows of its entitlement. */
type State = EntitlementState & EntitlementRow & { reference: string | null }

/** What the steps of a turn are taken with. */
type Means = {
  driver: Driver
  askAgain: AskAgain
  /** In [0, 1). */
  random(): number
  longestCallMs: number
}

/** How a turn ends. */
type Turn = Pick<Settling, 'wait_ms' | 'last'>

const anew: Turn = { wait_ms: 0, last: undefined }

/** More than any sane course of one turn; what is left is done in the next. */
const mostSteps = 8

/** A poll whose operation the target has lost is asked so often, then the target itself is looked at. */
const mostPollFailures = 4

/** What is taken away goes in crowds, many rows in one trip; what is given is asked about one by one. */
const bounds: Record<'takes' | 'gives', Bounds> = {
  takes: { width: 2_048, perTenant: 1_024 },
  gives: { width: 64, perTenant: 32 },
}

/**
 * Brings entitlements closer to what their live grants want: looks, takes the smallest step, looks again. Nothing is given
 * to a pending grant without policy's word of that moment.
 */
export function convergeEntitlement(drivers: Drivers, askAgain: AskAgain, means: Partial<Means> = {}): DueWork[] {
  const run = async (ctx: WorkCtx, item: WorkItem) => {
    const row = await openLook(ctx.tx, item)
    if (row === undefined) return
    const { random = Math.random } = means
    const turn = await openDriver(ctx, row, drivers, random, (driver) =>
      takeSteps(ctx, item, row, { random, longestCallMs, ...means, driver, askAgain }),
    )
    await settle(ctx.tx, { item, due_at: row.due_at, ...turn })
  }
  return (['takes', 'gives'] as const).map((part) => ({ table: 'entitlement', part, bounds: bounds[part], run }))
}

/** Takes a turn with the driver of an entitlement; one that cannot be had is a failure like the target's own. */
async function openDriver(
  { tx }: WorkCtx,
  row: EntitlementRow,
  drivers: Drivers,
  random: () => number,
  turn: (driver: Driver) => Promise<Turn>,
): Promise<Turn> {
  let driver: Driver
  try {
    driver = await drivers.of(tx, row)
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    return fail(stateOf(row), 'verify', error, random())
  }
  return turn(driver)
}

function stateOf(row: EntitlementRow): State {
  return { ...row, ...desired(row.held, row.waiting), told_now: null, seen_now: false, reference: row.act_reference }
}

async function takeSteps(ctx: WorkCtx, item: WorkItem, row: EntitlementRow, means: Means): Promise<Turn> {
  const state = stateOf(row)
  for (let steps = 0; steps < mostSteps; steps += 1) {
    const step = nextStep(state)
    if (step === 'rest') {
      const isGone = state.seen_now && state.observed === 'absent'
      return { wait_ms: undefined, last: isGone ? { gone: state.reference } : undefined }
    }
    try {
      const turn = await takeStep(ctx, item, state, step, means)
      if (turn !== undefined) return turn
    } catch (error) {
      if (error instanceof NotNow) return comeBack(state, step, error)
      if (!(error instanceof TargetError)) throw error
      return fail(state, step, error, means.random())
    }
  }
  return anew
}

function desired(held: boolean, waiting: Waiting[]) {
  return { waiting, wanted: held || waiting.length > 0, joining: waiting.length > 0 }
}

/** Takes one step and brings `state` up to it; answers how the turn ends, or undefined to go on. */
async function takeStep(
  ctx: WorkCtx,
  item: WorkItem,
  state: State,
  step: Exclude<Step, 'rest'>,
  means: Means,
): Promise<Turn | undefined> {
  const { driver, askAgain } = means
  if (step === 'verify') return look(ctx, item, state, means)
  if (step === 'grant') {
    if (!state.enabled) throw new TargetError('transient', saysDisabled)
    const permitted = await askAbout(ctx, item, state, state.waiting, askAgain)
    if (permitted === undefined) return anew
    // All that wanted it was refused: nothing is given.
    if (!state.wanted) return undefined
    if (!(await beginGrant(ctx.tx, item, permitted, untilOf(state)))) return anew
    const waiting = state.waiting.map((grant) => ({ ...grant, begun: true }))
    Object.assign(state, { waiting, given_until_ms: state.until_ms })
  }
  if (step === 'revoke' && !(await beginRevoke(ctx.tx, item))) return { wait_ms: undefined, last: undefined }
  if (step !== 'poll') state.reference = null
  const progress = await act(ctx, state, step, means)
  state.reference = progress.reference ?? state.reference
  if (progress.done) {
    // Not written down by itself: only a look at the target will say what it holds, and an act is done again without harm.
    const told_now = step === 'poll' ? state.act : step
    Object.assign(state, { observed: 'unknown', act: null, act_reference: null, told_now })
    return undefined
  }
  const polls = step === 'poll' ? state.act_polls : 0
  return { wait_ms: waitMs(driver.pollAfterMs(polls)), last: { under_way: progress.reference, wanted: state.wanted } }
}

/** No room for it now. What was written down as begun in this turn was not: nobody shall look for what it may have left. */
function comeBack(state: State, step: Step, { after_ms }: NotNow): Turn {
  const unbegun = step === 'grant' && state.act === null
  return { wait_ms: waitMs(after_ms), last: unbegun ? { unbegun } : undefined }
}

/** Reads from the target what it holds. Where it holds it, grants that wait become active; what was changed by hand is told. */
async function look(
  ctx: WorkCtx,
  item: WorkItem,
  state: State,
  { driver, askAgain, longestCallMs }: Means,
): Promise<Turn | undefined> {
  const heldUntil = state.wanted ? mustHoldUntil(state) : null
  const held = await inTime(longestCallMs, (signal) => driver.verify(ctx.tx, state.target, heldUntil, signal))
  // What the target will drop too early is given once more; to take it away it is there.
  const observed = held === 'held' || (held === 'ends_early' && !state.wanted) ? 'present' : 'absent'
  if (contradicts(state.told_now, observed)) {
    throw new TargetError('transient', `the target says that the ${state.told_now} is done, and does not show it`)
  }
  const drift = held === 'ends_early' ? null : driftSeen(state, observed)
  if (drift !== null && !(await saveDrift(ctx, item, drift))) return anew
  state.drift = drift ?? state.drift
  if (observed === 'absent') {
    Object.assign(state, { observed, seen_now: true })
    return undefined
  }
  const full = state.waiting.length === mostWaiting
  // What our own act has just given was asked about before it began; whoever joins is asked about now.
  const given = state.waiting.filter((grant) => grant.begun && state.told_now === 'grant')
  const rest = state.waiting.filter((grant) => !given.includes(grant))
  const joining = await askAbout(ctx, item, state, rest, askAgain)
  if (joining === undefined) return anew
  const ends_early = state.told_now === 'grant' && endsEarly(state)
  const activated = await savePresent(ctx, item, idsOf(given), joining, { reference: state.reference, ends_early })
  if (ends_early || full || joining.grant_ids.some((id) => !activated.includes(id))) return anew
  Object.assign(state, { observed, joining: false, seen_now: true })
  return undefined
}

/**
 * Asks policy again about grants that are about to be given; those it refuses fail, and wait no more. Undefined: the rules
 * changed meanwhile.
 */
async function askAbout(
  ctx: WorkCtx,
  item: WorkItem,
  state: State,
  grants: readonly Waiting[],
  askAgain: AskAgain,
): Promise<Permitted | undefined> {
  if (grants.length === 0) return nobody
  const word = await askAgain(
    ctx.tx,
    grants.map((grant) => grant.request_id),
  )
  if (word.refused.size > 0 && !(await failRefused(ctx, item, grants, word))) return undefined
  const refused = grants.filter((grant) => word.refused.has(grant.request_id))
  Object.assign(
    state,
    desired(
      state.held,
      state.waiting.filter((grant) => !refused.includes(grant)),
    ),
  )
  return { grant_ids: idsOf(grants.filter((grant) => !refused.includes(grant))), still: word.still }
}

function idsOf(grants: readonly Waiting[]): string[] {
  return grants.map((grant) => grant.id)
}

function act(
  { tx }: WorkCtx,
  row: EntitlementRow,
  step: 'poll' | 'grant' | 'revoke',
  { driver, longestCallMs }: Means,
): Promise<Progress> {
  const { target, act_reference } = row
  return inTime(longestCallMs, (signal) => {
    if (step === 'poll') return driver.poll(tx, target, act_reference ?? '', signal)
    return step === 'grant' ? driver.grant(tx, target, untilOf(row), signal) : driver.revoke(tx, target, signal)
  })
}

function untilOf({ until_ms }: EntitlementRow): Date {
  return new Date(until_ms ?? 0)
}

/** So much before its grants a target may end it of itself. */
const earlyMs = 60_000

/** What an act took its time for was given to end before its grants do, which begin only now. */
function endsEarly({ given_until_ms, until_ms }: EntitlementRow): boolean {
  return given_until_ms !== null && until_ms !== null && given_until_ms < until_ms - earlyMs
}

/** Until when the target must not end it: what was just given, as long as it was given for. */
function mustHoldUntil(state: State): Date {
  const given = state.told_now === 'grant' && endsEarly(state) ? state.given_until_ms : null
  return new Date(given ?? (state.until_ms ?? 0) - earlyMs)
}

/** Nothing is given up: a revoke is tried for ever, a grant until its deadline or a refusal that will not pass. */
function fail(state: State, step: Step, error: TargetError, random: number): Turn {
  const failures = state.failures + 1
  const giving = step === 'verify' ? state.wanted : (step === 'poll' ? state.act : step) === 'grant'
  const lostTrack = step === 'poll' && (error.kind === 'permanent' || failures >= mostPollFailures)
  const failure = {
    message: error.message,
    giving,
    permanent: error.kind === 'permanent',
    clears_act: step === 'grant' || step === 'revoke' || state.told_now !== null || lostTrack,
    alarm: failures >= alarmAfterFailures,
    may_land: (step === 'grant' || (lostTrack && state.act === 'grant')) && error.kind === 'transient',
    reference: state.reference,
  }
  return { wait_ms: backoffMs(failures, random), last: { failure } }
}
