import type { Ending, Run } from '../../src/grants/convergence.ts'
import type { Entitlement, Grant, Place, State, Target, Worker } from './state.ts'
import { isLive } from './state.ts'

/** A state as a short string. States that differ in nothing that a later step reads have one key. */
export function keyOf(state: State): string {
  length = 0
  put(state.now)
  put(state.left * 2 + Number(state.corrects_drift))
  putEntitlement(state.entitlement, state.now)
  if (state.other !== null) putEntitlement(state.other, state.now)
  for (const worker of state.workers) putWorker(worker)
  return bytes.toString('latin1', 0, length)
}

const bytes = Buffer.alloc(256)
let length = 0

function put(value: number): void {
  bytes[length] = value
  length += 1
}

const none = 255
const putTick = (tick: number | null) => put(tick ?? none)

/** The number of a value among the few that it can have. */
const numbered = <Value>(...values: Value[]) => {
  const numbers = new Map(values.map((value, index) => [value, index]))
  return (value: Value): number => numbers.get(value) ?? none
}

const ofAct = numbered<'grant' | 'revoke' | null>(null, 'grant', 'revoke')
const ofObserved = numbered<string>('unknown', 'absent', 'present')
const ofDrift = numbered<string | null>(null, 'removed', 'added')
const ofBy = numbered<Target['by']>('act', 'late', 'hand')
const ofPlan = numbered<Grant['plan']>(null, 'absent', 'held')
const ofStatus = numbered<Grant['status']>(null, 'pending', 'active', 'expired', 'revoked', 'failed')
const ofProvisioning = numbered<Grant['provisioning']>(
  ...(['not_attempted', 'attempting', 'successful', 'failed'] as const),
  ...(['deprovisioning', 'deprovisioning_failed', 'deprovisioned'] as const),
)
const ofPlace = numbered<Place>(
  ...(['verify', 'poll', 'begin grant', 'begin revoke', 'call grant', 'call revoke'] as const),
  ...(['save drift', 'save presence', 'settle'] as const),
)

const flags = (...all: boolean[]): number => all.reduce((sum, flag) => sum * 2 + Number(flag), 0)

function putEntitlement({ row, target, grants }: Entitlement, now: number): void {
  put(flags(row.exists, row.held_before, row.suspected, row.named, row.leased, target.held, target.reported_gone))
  put(((ofObserved(row.observed) * 3 + ofDrift(row.drift)) * 3 + ofAct(row.act)) * 3 + ofBy(target.by))
  put(row.may_land_until < 0 ? 0 : 1 + Math.max(0, row.may_land_until - now))
  // Whether the next check is due after that time.
  put(row.may_land_until < 0 || row.next === null ? 0 : Math.max(0, row.may_land_until - row.next))
  // It is read only once the act is done.
  putTick(row.act === 'grant' ? row.given_until : null)
  putTick(row.next === null ? null : Math.max(0, row.next - now))
  put(ofAct(target.operation))
  put(target.late.length)
  for (const { act, left } of target.late) put(left * 3 + ofAct(act))
  for (const grant of grants) putGrant(grant, now)
}

function putGrant(grant: Grant, now: number): void {
  const { status, provisioning, plan, linked, activated, starts, expires, activate_by } = grant
  const isOpen = isLive(grant)
  put(ofStatus(status) * 8 + ofProvisioning(provisioning))
  const hasJustExpired = status === 'expired' && expires === now
  put(flags(linked, status === 'failed' && activated, hasJustExpired) * 3 + ofPlan(isOpen ? plan : null))
  putTick(isOpen || status === 'failed' ? starts : null)
  putTick(status === 'active' && expires !== null ? Math.max(0, expires - now) : null)
  putTick(status === 'pending' || status === 'failed' ? Math.max(0, activate_by - now) : null)
}

function putWorker({ at, run, ending, saw, fenced, moved, left }: Worker): void {
  put(ofPlace(at) * 4 + flags(fenced, moved))
  put(at === 'settle' ? 0 : left)
  if (run !== null) putRun(run, at)
  if (ending !== null) putEnding(ending)
  if (saw !== null) put(ofObserved(saw.observed) * 3 + ofDrift(saw.drift))
}

function putRun(run: Run, at: Place): void {
  put(flags(run.held, run.held_before, run.suspected, run.may_land, run.wanted, run.joining, run.observed_now))
  put(Number(run.awaited))
  put(ofObserved(run.observed) * 3 + ofDrift(run.drift))
  put((ofAct(run.act) * 3 + ofAct(run.completed_now)) * 2 + Number(run.act_reference !== null))
  for (const { id, begun } of run.waiting) put(Number(id.at(-1)) * 2 + Number(begun))
  put(none)
  const isGiving = run.act === 'grant' || run.completed_now === 'grant' || at === 'call grant'
  putMs(run.until_ms)
  putMs(isGiving ? run.given_until_ms : null)
}

const putMs = (ms: number | null) => putTick(ms === null ? null : ms / 600_000)

function putEnding({ wait_ms, last }: Ending): void {
  put(Number(wait_ms !== undefined) * 64 + ofLast(last))
}

function ofLast(last: Ending['last']): number {
  if (last === undefined) return 0
  if ('gone' in last) return 1
  if ('unbegun' in last) return 2
  if ('under_way' in last) return 3 + Number(last.wanted)
  const { giving, permanent, clears_act, repeats_act, may_land } = last.failure
  return 16 + flags(giving, permanent, clears_act, repeats_act, may_land)
}
