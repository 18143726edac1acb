import type { Life, LifeObject, Write } from './lives.ts'
import { absent, newGrant, type ObjectState, reachable, retried, revoked, textOf } from './machine.ts'
import type { Sight } from './sights.ts'

/** The states of all objects of a life at one moment, by their ids. */
export type State = ReadonlyMap<string, ObjectState>

export function initialState({ objects }: Life): State {
  return new Map(objects.map(({ id }) => [id, absent]))
}

/** States with the same text are the same. */
export function keyOf(state: State): string {
  return [...state.values()].map(textOf).join()
}

const isSeen = (state: ObjectState, { is, not, by, step }: Sight): boolean =>
  (is === undefined || is.includes(state.status)) &&
  (not === undefined || !not.includes(state.status)) &&
  (by === undefined || state.by === by) &&
  (step === undefined || state.step === step)

/**
 * The states in which all of this can be seen at one moment, with steps of workers before it where it takes them; the state itself where
 * it takes none. Steps that are not needed are left out: they can come later.
 */
export function statesSeen(state: State, sights: readonly Sight[]): State[] {
  let states = [state]
  for (const [object, seen] of Map.groupBy(sights, (sight) => sight.object)) {
    states = states.flatMap((one) => bring(one, object, (candidate) => seen.every((sight) => isSeen(candidate, sight))))
  }
  return states
}

/** The states in which workers have brought the object to where `isRight`, or left it there. */
function bring(state: State, object: string, isRight: (candidate: ObjectState) => boolean): State[] {
  const now = state.get(object)
  if (now === undefined) throw new Error(`${object} is no object of this life`)
  if (isRight(now)) return [state]
  return reachable(now)
    .filter(isRight)
    .map((next) => new Map(state).set(object, next))
}

/** The states after a change, each with the steps of workers that it takes before; none: the change is not possible now. */
export function statesAfter(life: Life, state: State, write: Write): State[] {
  const { call, by, answered } = write
  switch (call.name) {
    case 'create':
      return creating(life, state, call.mode, write)
    case 'approve':
      return goesOn(life, state, call.request).flatMap((one) => leave(life, one, call.request, 'approved', by))
    case 'deny':
      return leave(life, state, call.request, 'denied', by)
    case 'cancel':
      return leave(life, state, call.request, 'cancelled', null)
    case 'extend':
      return extending(life, state, call.grant, answered)
    case 'revoke':
      return revoking(life, state, call.grant, by)
    case 'retry':
      return changing(state, call.grant, retried)
    default:
      return []
  }
}

function changing(state: State, id: string, change: (now: ObjectState) => ObjectState[]): State[] {
  const after = reachable(state.get(id) ?? absent).flatMap(change)
  return after.map((next) => new Map(state).set(id, next))
}

/** A call that was not answered made any of its caller's requests that no answered call made. */
function creating(life: Life, state: State, mode: 'require' | 'auto', { by, answered }: Write): State[] {
  if (answered !== undefined) return making(life, state, answered)
  return life.objects
    .filter((object) => object.kind === 'request' && object.extends === undefined && object.owner === by)
    .filter(({ id }) => !isMadeBySomeAnswer(life, id))
    .flatMap(({ id }) => making(life, state, id, mode === 'auto'))
}

function isMadeBySomeAnswer({ steps }: Life, id: string): boolean {
  return steps.some(({ write }) => write?.answered === id)
}

/** The request is made: pending, or approved at once with its grants; `isAtOnce`: undefined where no answer says which. */
function making(life: Life, state: State, id: string, isAtOnce = isMadeAtOnce(life, id)): State[] {
  if (state.get(id) !== absent) return []
  const pending = new Map(state).set(id, { status: 'pending', step: null, by: null })
  const approved = () => leave(life, pending, id, 'approved', null)
  if (isAtOnce === undefined) return [pending, ...approved()]
  return isAtOnce ? approved() : [pending]
}

function isMadeAtOnce({ objects }: Life, id: string): boolean | undefined {
  const request = objects.find((object) => object.id === id)
  return request?.kind === 'request' ? request.isAtOnce : undefined
}

/** pending → decided, with the grants of an approval. Workers let a request expire, and none comes back. */
function leave({ objects }: Life, state: State, id: string, status: string, by: string | null): State[] {
  if (state.get(id)?.status !== 'pending') return []
  const next = new Map(state).set(id, { status, step: null, by })
  if (status !== 'approved') return [next]
  for (const object of objects) if (object.kind === 'grant' && object.request === id) next.set(object.id, newGrant)
  return [next]
}

const isActive = ({ status }: ObjectState) => status === 'active'
const isLive = ({ status }: ObjectState) => status === 'active' || status === 'pending'

/** A request to extend a grant is approved only while that grant is active. */
function goesOn({ objects }: Life, state: State, id: string): State[] {
  const request = objects.find((object) => object.id === id)
  const former = request?.kind === 'request' ? request.extends : undefined
  return former === undefined ? [state] : bring(state, former, isActive)
}

function grantsOf({ objects }: Life, request: string): LifeObject[] {
  return objects.filter((object) => object.kind === 'grant' && object.request === request)
}

function requestsExtending({ objects }: Life, grant: string): LifeObject[] {
  return objects.filter((object) => object.kind === 'request' && object.extends === grant)
}

/**
 * One request at a time extends an active grant. Where the call was not answered, it made any of the requests to extend the grant that no
 * answered call made.
 */
function extending(life: Life, state: State, grant: string, answered: string | undefined): State[] {
  const all = requestsExtending(life, grant)
  let states = bring(state, grant, isActive)
  for (const { id } of all) {
    states = states.flatMap((one) => bring(one, id, ({ status }) => status !== 'pending'))
    for (const given of grantsOf(life, id))
      states = states.flatMap((one) => bring(one, given.id, (now) => !isLive(now)))
  }
  const byNobody = all.filter(({ id }) => !isMadeBySomeAnswer(life, id))
  const made = answered === undefined ? byNobody.map(({ id }) => id) : [answered]
  return states.flatMap((one) => made.flatMap((id) => making(life, one, id)))
}

/** Ends a live grant, and with it what extends it, and cancels what asks for that. */
function revoking(life: Life, state: State, grant: string, by: string): State[] {
  return changing(state, grant, (now) => revoked(now, by)).flatMap((one) => endExtensions(life, one, grant, by))
}

function endExtensions(life: Life, state: State, grant: string, by: string): State[] {
  let states = [state]
  for (const { id } of requestsExtending(life, grant)) {
    states = states.flatMap((one) => [...leave(life, one, id, 'cancelled', null), ...unlessPending(one, id)])
    for (const given of grantsOf(life, id)) {
      states = states.flatMap((one) => [
        ...changing(one, given.id, (now) => revoked(now, by)),
        ...bring(one, given.id, (now) => !isLive(now)),
      ])
      states = states.flatMap((one) => endExtensions(life, one, given.id, by))
    }
  }
  return states
}

function unlessPending(state: State, id: string): State[] {
  return bring(state, id, ({ status }) => status !== 'pending')
}
