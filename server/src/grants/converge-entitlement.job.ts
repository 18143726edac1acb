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
  beginGrant,
  beginRevoke,
  closeLook,
  type EntitlementRow,
  endAct,
  failRefused,
  mostWaiting,
  nobody,
  openLook,
  type Permitted,
  saveAbsent,
  saveFailure,
  savePresent,
  saveProgress,
  type Waiting,
} from './entitlement-store.ts'
import type { AskAgain } from './policy-word.ts'

/** What a turn knows of its entitlement. */
type State = EntitlementState & EntitlementRow

/** What the steps of a turn are taken with. */
type Means = { provisioner: Provisioner; askAgain: AskAgain }

/** How a turn ends: milliseconds until the next look (undefined: at the next deadline), or how often it has failed. */
type Turn = { wait_ms: number | undefined } | { failures: number }

/** More than any sane course of one turn; what is left is done in the next. */
const mostSteps = 8

/** A poll whose operation the target has lost is asked so often, then the target itself is looked at. */
const mostPollFailures = 4

/**
 * Brings one entitlement closer to what its live grants want: looks, takes the smallest step, looks again. Nothing is given
 * to a pending grant without policy's word of that moment.
 */
export function convergeEntitlement(
  provisionerOf: (name: string) => Provisioner,
  askAgain: AskAgain,
  random = Math.random,
): DueWork {
  return {
    table: 'entitlement',
    async run(ctx, item) {
      const row = await openLook(ctx, item)
      if (row === undefined) return
      const turn = await takeSteps(ctx, item, row, { provisioner: provisionerOf(row.provisioner), askAgain })
      const wait_ms = 'failures' in turn ? backoffMs(turn.failures, random()) : turn.wait_ms
      await closeLook(ctx.tx, item, row.due_at, wait_ms)
    },
  }
}

async function takeSteps(ctx: WorkCtx, item: WorkItem, row: EntitlementRow, means: Means): Promise<Turn> {
  const state: State = { ...row, ...desired(row.held, row.waiting), told_now: null, seen_now: false }
  for (let steps = 0; steps < mostSteps; steps += 1) {
    const step = nextStep(state)
    if (step === 'rest') return { wait_ms: undefined }
    try {
      const turn = await takeStep(ctx, item, state, step, means)
      if (turn !== undefined) return turn
    } catch (error) {
      if (!(error instanceof TargetError)) throw error
      return await fail(ctx, item, state, step, error)
    }
  }
  return { wait_ms: 0 }
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
  const { provisioner, askAgain } = means
  if (step === 'verify') return look(ctx, item, state, means)
  if (step === 'grant') {
    const permitted = await askAbout(ctx, item, state, state.waiting, askAgain)
    if (permitted === undefined) return { wait_ms: 0 }
    // All that wanted it was refused: nothing is given.
    if (!state.wanted) return undefined
    if (!(await beginGrant(ctx.tx, item, permitted))) return { wait_ms: 0 }
    state.waiting = state.waiting.map((grant) => ({ ...grant, begun: true }))
  }
  if (step === 'revoke' && !(await beginRevoke(ctx.tx, item))) return { wait_ms: undefined }
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

/** Reads from the target what it holds. Where it holds it, grants that wait become active. */
async function look(
  ctx: WorkCtx,
  item: WorkItem,
  state: State,
  { provisioner, askAgain }: Means,
): Promise<Turn | undefined> {
  const observed = (await provisioner.verify(ctx.tx, state.target)) ? 'present' : 'absent'
  if (contradicts(state.told_now, observed)) {
    throw new TargetError('transient', `the target says that the ${state.told_now} is done, and does not show it`)
  }
  if (observed === 'absent') {
    await saveAbsent(ctx, item)
    Object.assign(state, { observed, seen_now: true })
    return undefined
  }
  const full = state.waiting.length === mostWaiting
  // What our own act has just given was asked about before it began; whoever joins is asked about now.
  const given = state.waiting.filter((grant) => grant.begun && state.told_now === 'grant')
  const rest = state.waiting.filter((grant) => !given.includes(grant))
  const joining = await askAbout(ctx, item, state, rest, askAgain)
  if (joining === undefined) return { wait_ms: 0 }
  const activated = await savePresent(ctx, item, idsOf(given), joining)
  if (full || joining.grant_ids.some((id) => !activated.includes(id))) return { wait_ms: 0 }
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
  ctx: WorkCtx,
  state: EntitlementRow,
  step: 'poll' | 'grant' | 'revoke',
  provisioner: Provisioner,
): Promise<Progress> {
  if (step === 'poll') return provisioner.poll(ctx.tx, state.act_reference ?? '')
  return provisioner[step](ctx.tx, state.target)
}

/** Nothing is given up: a revoke is tried for ever, a grant until its deadline or a refusal that will not pass. */
async function fail(ctx: WorkCtx, item: WorkItem, state: State, step: Step, error: TargetError): Promise<Turn> {
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
