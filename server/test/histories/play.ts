import { setTimeout as pause } from 'node:timers/promises'
import type { Query } from '../kill/acknowledged.ts'
import type { Chance } from '../kill/chance.ts'
import { until } from '../support/wait.ts'
import type { Call, Operation } from './history.ts'
import type { Cast } from './house.ts'
import { type Board, type Move, movesOf } from './moves.ts'
import { processes } from './processes.ts'
import type { Person, Recorder } from './recorder.ts'
import { seenIn } from './seen.ts'

/** A disturbance: a process is killed, or the database fails over. Returns when all serve again. */
export type Disturbance = () => Promise<unknown>

type Playing = {
  cast: Cast
  chance: Chance
  recorder: Recorder
  query: Query
  disturb: Disturbance | undefined
}

/** Plays one history: what there is at the beginning, the concurrent calls, and the last readings, when nothing is asked any longer. */
export async function play(playing: Playing): Promise<void> {
  const stage = { ...playing, board: { requests: new Map(), grants: new Map() } }
  await setUp(stage)
  stage.recorder.setupIsOver()
  await callAtOnce(stage)
  await readAll(stage)
}

type Stage = Playing & { board: Board }

async function ask(stage: Stage, caller: Person, call: Call, process = stage.chance.below(processes)) {
  const operation = await stage.recorder.call(caller, process, call)
  if (operation !== undefined) note(stage.board, operation)
  return operation
}

/** Whose a request or grant is: its holder sees it, and others only where they may see all. */
function note({ requests, grants }: Board, operation: Operation): void {
  const seen = seenIn(operation)
  for (const { id, requester_id } of seen.requests) if (requester_id !== undefined) requests.set(id, requester_id)
  for (const { id, request_id, user_id } of seen.grants) {
    const owner = user_id ?? requests.get(request_id)
    if (owner !== undefined) grants.set(id, owner)
  }
}

/**
 * Two requests that wait for a decision; access of which half is used, so that it can be extended; access that ends in the middle of the
 * history. Time is moved by statements, before anything is compared.
 */
async function setUp(stage: Stage): Promise<void> {
  const { cast, chance, query } = stage
  const [ada, cyd] = cast.holders
  const byPerson = chance.below(2) === 0
  const [used, ending] = await Promise.all([
    given(stage, ada, byPerson ? 'require' : 'auto'),
    given(stage, cyd, 'auto'),
    made(stage, ada, 'require'),
    made(stage, cyd, 'require'),
  ])
  await moveEnd(query, used, 1_200)
  await moveEnd(query, ending, 0.2 + chance.below(8) / 10)
}

async function made(stage: Stage, holder: Person, mode: 'require' | 'auto'): Promise<string> {
  return until('a request is made', async () => {
    const operation = await ask(stage, holder, { name: 'create', mode })
    if (operation?.answer?.status === 201) return String(operation.answer.body.id)
    if (operation?.answer !== undefined && operation.answer.status < 500)
      throw new Error(`a request was refused: ${JSON.stringify(operation.answer)}`)
    return undefined
  })
}

/** The id of new active access. */
async function given(stage: Stage, holder: Person, mode: 'require' | 'auto'): Promise<string> {
  const request = await made(stage, holder, mode)
  const [ben] = stage.cast.deciders
  if (mode === 'require') await ask(stage, ben, { name: 'approve', request, seconds: null })
  return until('access is given', async () => {
    const operation = await ask(stage, holder, { name: 'list its grants', request })
    const [grant] = operation === undefined ? [] : seenIn(operation).grants
    if (grant?.status === 'failed') await ask(stage, holder, { name: 'retry', grant: grant.id })
    return grant?.status === 'active' && grant.id
  })
}

/** Moves an active grant in time, so that it ends in so many seconds. Its entitlement is locked first, as the service does. */
async function moveEnd(query: Query, grant: string, seconds: number): Promise<void> {
  await query(
    `with locked as materialized (
        select id from entitlement where id = (select entitlement_id from access_grant where id = $1)
        for no key update),
      moved as materialized (
        select clock_timestamp() + make_interval(secs => $2::float8) as until,
          (select make_interval(secs => duration_seconds) from access_grant where id = $1) as lasts from locked),
      checked as (
        update entitlement e set next_look_at = least(e.next_look_at, moved.until),
          held_since = moved.until - moved.lasts
        from locked, moved where e.id = locked.id returning e.id)
      update access_grant g set activated_at = moved.until - moved.lasts, held_since = moved.until - moved.lasts,
        expires_at = moved.until, expiring_at = null
      from checked, moved where g.entitlement_id = checked.id and g.id = $1 and g.status = 'active'`,
    [grant, seconds],
  )
}

/** While a disturbance lasts, callers call slowly: a start takes seconds. */
const slowMs = 80
/** So many calls each caller makes after a disturbance is over. */
const callsAfter = 5

async function callAtOnce(stage: Stage): Promise<void> {
  const { cast, chance, disturb } = stage
  const callers = [...cast.holders, ...cast.deciders, cast.owner]
  const quota = 12 + chance.below(10)
  const strikeAt = Math.floor((callers.length * quota) / 3)
  let begun = 0
  let state: 'before' | 'during' | 'over' = disturb === undefined ? 'over' : 'before'
  let failed: unknown
  const strike = () => {
    state = 'during'
    disturb?.()
      .catch((error: unknown) => {
        failed = error
      })
      .finally(() => {
        state = 'over'
      })
  }
  const act = async (caller: Person) => {
    const moves = movesOf(caller, cast)
    for (let left = quota; left > 0; ) {
      begun += 1
      if (begun >= strikeAt && state === 'before') strike()
      if (state === 'over') left -= 1
      else left = Math.max(left - 1, callsAfter)
      const sent = await move(stage, caller, moves)
      if (state === 'during' || !sent) await pause(slowMs)
      else if (chance.below(3) === 0) await pause(chance.below(40))
    }
  }
  await Promise.all(callers.map(act))
  if (failed !== undefined) throw failed
}

/** Makes one of the caller's moves; false if it could not be sent. */
async function move(stage: Stage, caller: Person, moves: readonly Move[]): Promise<boolean> {
  const { board, chance } = stage
  const total = moves.reduce((sum, { weight }) => sum + weight, 0)
  let left = chance.below(total)
  const chosen = moves.find(({ weight }) => {
    left -= weight
    return left < 0
  })
  const call = chosen?.call(board, chance)
  return call === undefined || (await ask(stage, caller, call)) !== undefined
}

/** Nothing is asked any longer: each object is read through each process, by those who see it, until they are answered. */
async function readAll(stage: Stage): Promise<void> {
  const { cast, board } = stage
  const answered = (caller: Person, process: number, call: Call) =>
    until(`${call.name} is answered`, async () => {
      const operation = await ask(stage, caller, call, process)
      return operation?.answer !== undefined && operation.answer.status < 500
    })
  for (let process = 0; process < processes; process += 1) {
    for (const holder of cast.holders) {
      await answered(holder, process, { name: 'list own grants', status: null })
      await answered(holder, process, { name: 'list own grants', status: 'active' })
      await answered(holder, process, { name: 'list own requests', status: null })
    }
    for (const request of board.requests.keys()) {
      await answered(cast.owner, process, { name: 'read request', request })
      await answered(cast.owner, process, { name: 'read status', request })
      await answered(cast.owner, process, { name: 'read its events', request })
    }
    for (const grant of board.grants.keys()) {
      await answered(cast.owner, process, { name: 'read grant', grant })
      await answered(cast.owner, process, { name: 'read grant events', grant })
    }
  }
}
