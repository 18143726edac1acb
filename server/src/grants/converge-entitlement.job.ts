import type { DueWork, WorkItem } from '../jobs/work-list.ts'
import type { WorkCtx } from '../kernel/context.ts'
import type { Progress, Provisioner } from '../provisioners/provisioner.ts'
import { TargetError } from '../provisioners/provisioner.ts'
import {
  alarmAfterFailures,
  backoffMs,
  contradicts,
  type EntitlementState,
  nextStep,
  type Step,
} from './entitlement.ts'
import {
  beginAct,
  closeLook,
  type EntitlementRow,
  endAct,
  openLook,
  saveFailure,
  saveObserved,
  saveProgress,
} from './entitlement-store.ts'

/** How a turn ends: milliseconds until the next look (undefined: at the next deadline), or how often it has failed. */
type Turn = { wait_ms: number | undefined } | { failures: number }

/** More than any sane course of one turn; what is left is done in the next. */
const mostSteps = 8

/** A poll whose operation the target has lost is asked so often, then the target itself is looked at. */
const mostPollFailures = 4

/** Brings one entitlement closer to what its live grants want: looks, takes the smallest step, looks again. */
export function convergeEntitlement(provisionerOf: (name: string) => Provisioner, random = Math.random): DueWork {
  return {
    table: 'entitlement',
    async run(ctx, item) {
      const row = await openLook(ctx, item)
      if (row === undefined) return
      const turn = await takeSteps(ctx, item, row, provisionerOf(row.provisioner))
      const wait_ms = 'failures' in turn ? backoffMs(turn.failures, random()) : turn.wait_ms
      await closeLook(ctx.tx, item, row.due_at, wait_ms)
    },
  }
}

async function takeSteps(ctx: WorkCtx, item: WorkItem, row: EntitlementRow, provisioner: Provisioner): Promise<Turn> {
  const state: EntitlementState & EntitlementRow = { ...row, told_now: null, seen_now: false }
  for (let steps = 0; steps < mostSteps; steps += 1) {
    const step = nextStep(state)
    if (step === 'rest') return { wait_ms: undefined }
    try {
      const turn = await takeStep(ctx, item, state, step, provisioner)
      if (turn !== undefined) return turn
    } catch (error) {
      if (!(error instanceof TargetError)) throw error
      return await fail(ctx, item, state, step, error)
    }
  }
  return { wait_ms: 0 }
}

/** Takes one step and brings `state` up to it; answers how the turn ends, or undefined to go on. */
async function takeStep(
  ctx: WorkCtx,
  item: WorkItem,
  state: EntitlementState & EntitlementRow,
  step: Exclude<Step, 'rest'>,
  provisioner: Provisioner,
): Promise<Turn | undefined> {
  if (step === 'verify') {
    const observed = (await provisioner.verify(ctx.tx, state.target)) ? 'present' : 'absent'
    if (contradicts(state.told_now, observed)) {
      throw new TargetError('transient', `the target says that the ${state.told_now} is done, and does not show it`)
    }
    await saveObserved(ctx, item, observed)
    Object.assign(state, { observed, joining: false, seen_now: true })
    return undefined
  }
  if (step !== 'poll' && !(await beginAct(ctx.tx, item, step))) return { wait_ms: undefined }
  const progress = await act(ctx, state, step, provisioner)
  if (progress.done) {
    await endAct(ctx.tx, item)
    const told_now = step === 'poll' ? state.act : step
    Object.assign(state, { observed: 'unknown', act: null, act_reference: null, told_now })
    return undefined
  }
  await saveProgress(ctx.tx, item, progress.reference)
  return { wait_ms: provisioner.pollAfterMs(step === 'poll' ? state.act_polls : 0) }
}

function act(
  ctx: WorkCtx,
  state: EntitlementRow,
  step: 'poll' | 'grant' | 'revoke',
  provisioner: Provisioner,
): Promise<Progress> {
  if (step === 'poll') return provisioner.poll(ctx.tx, state.act_reference ?? '')
  return provisioner[step](ctx.tx, state.target)
}

/** Nothing is given up: a revoke is tried for ever, a grant until its deadline or a refusal that will not pass. */
async function fail(
  ctx: WorkCtx,
  item: WorkItem,
  state: EntitlementState & EntitlementRow,
  step: Step,
  error: TargetError,
): Promise<Turn> {
  const failures = state.failures + 1
  const giving = step === 'verify' ? state.wanted : (step === 'poll' ? state.act : step) === 'grant'
  const lostTrack = step === 'poll' && (error.kind === 'permanent' || failures >= mostPollFailures)
  await saveFailure(ctx, item, {
    message: error.message,
    giving,
    permanent: error.kind === 'permanent',
    clears_act: step === 'grant' || step === 'revoke' || lostTrack,
    alarm: failures === alarmAfterFailures,
  })
  return { failures }
}
