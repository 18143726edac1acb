import type { Life, Step, Write } from './lives.ts'
import { initialState, keyOf, type State, statesAfter, statesSeen } from './state.ts'

/** A change that was not answered, or whose answer is left out of account: it may take effect at any moment from its beginning on. */
type Possible = { began: number; write: Write }

/** So many configurations are visited at most: a longer search is a fault of this program, and is reported as one. */
const maxVisited = 1_000_000

/**
 * Whether there is an order of the calls of a life that explains their answers: by Wing and Gong's search, with the improvements of
 * Lowe. `isKept`: the operations whose answers count; of the others, changes may have taken effect at any moment after they
 * began. Leaving an answer out of account allows more orders, never fewer.
 * @throws Error when the search takes too long
 */
export function hasOrder(life: Life, isKept: (step: Step) => boolean = () => true): boolean {
  const counts = (step: Step) => Number.isFinite(step.operation.ended) && isKept(step)
  const certain = life.steps.filter(counts).toSorted((one, other) => one.operation.began - other.operation.began)
  const possible = life.steps
    .filter((step): step is Step & { write: Write } => step.write !== undefined && !counts(step))
    .map(({ operation, write }) => ({ began: operation.began, write }))
  // Of steps that do not count, the answers must not say either who made what.
  return search({ life: { ...life, steps: certain }, certain, possible })
}

type Problem = { life: Life; certain: readonly Step[]; possible: readonly Possible[] }

/** `done`: which of the certain steps are in the order already. */
type Configuration = { done: Done; state: State }

/** All steps before `all`, and those in `more`. */
type Done = { all: number; more: readonly number[] }

function search(problem: Problem): boolean {
  const { certain } = problem
  const left: Configuration[] = [{ done: { all: 0, more: [] }, state: initialState(problem.life) }]
  const visited = new Set<string>()
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { done, state } = settleReads(problem, next)
    if (done.all === certain.length) return true
    const key = `${done.all};${done.more.join()};${keyOf(state)}`
    if (visited.has(key)) continue
    visited.add(key)
    if (visited.size > maxVisited) throw new Error(`no answer after ${maxVisited} configurations`)
    // Last in, first out: first the answered call that began first.
    left.push(...unanswered(problem, { done, state }), ...answered(problem, { done, state }).toReversed())
  }
  return false
}

/** The moment before which all calls that began may come next: the first end of a call that is not in the order. */
function horizon({ certain }: Problem, { all, more }: Done): number {
  let first = Number.POSITIVE_INFINITY
  for (const [nth, { operation }] of certain.entries()) {
    if (nth < all || more.includes(nth)) continue
    if (operation.began > first) return first
    first = Math.min(first, operation.ended)
  }
  return first
}

function candidates(problem: Problem, done: Done): number[] {
  const { certain } = problem
  const until = horizon(problem, done)
  const found: number[] = []
  for (let nth = done.all; nth < certain.length; nth += 1) {
    if ((certain[nth]?.operation.began ?? 0) > until) break
    if (!done.more.includes(nth)) found.push(nth)
  }
  return found
}

function withDone({ all, more }: Done, nth: number): Done {
  const left = new Set([...more, nth])
  let first = all
  while (left.delete(first)) first += 1
  return { all: first, more: [...left].toSorted((one, other) => one - other) }
}

/** Takes each reading that the state explains as it is. To take it later would explain nothing more. */
function settleReads(problem: Problem, { done, state }: Configuration): Configuration {
  const isExplained = (nth: number) => {
    const { write, sights } = problem.certain[nth] as Step
    return write === undefined && statesSeen(state, sights)[0] === state
  }
  for (;;) {
    const next = candidates(problem, done).filter(isExplained)
    if (next.length === 0) return { done, state }
    done = next.reduce(withDone, done)
  }
}

/** The configurations with one more of the answered calls. */
function answered(problem: Problem, { done, state }: Configuration): Configuration[] {
  return candidates(problem, done).flatMap((nth) => {
    const { write, sights } = problem.certain[nth] as Step
    const after = write === undefined ? [state] : statesAfter(problem.life, state, write)
    // What a change was answered is its own result: no worker comes between.
    const right = write === undefined ? (one: State) => statesSeen(one, sights) : (one: State) => only(one, sights)
    return after.flatMap(right).map((one) => ({ done: withDone(done, nth), state: one }))
  })
}

function only(state: State, sights: Step['sights']): State[] {
  return statesSeen(state, sights)[0] === state ? [state] : []
}

/** The configurations in which one of the other changes takes effect now, which it may do after all that ended before it began. */
function unanswered(problem: Problem, { done, state }: Configuration): Configuration[] {
  const until = horizon(problem, done)
  return problem.possible
    .filter(({ began }) => began <= until)
    .flatMap(({ write }) => statesAfter(problem.life, state, write))
    .map((one) => ({ done, state: one }))
}
