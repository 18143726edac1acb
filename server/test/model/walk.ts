import { keyOf } from './key.ts'
import { brokenBy, brokenIn, mustEnd, type Property } from './properties.ts'
import { initialStates, type Options, type State } from './state.ts'
import { type Step, stepsFrom } from './world.ts'

/** The shortest way to a broken property: where it begins, and what happens. */
export type Counterexample = { property: Property; begin: State; steps: readonly Step[] }

/** What a walk found. `isWhole`: it saw every state. */
export type Walk = {
  states: number
  transitions: number
  depth: number
  isWhole: boolean
  counterexample: Counterexample | undefined
}

/** Bounds of a walk, and who is told how far it is. */
export type Bounds = { maxStates?: number; onProgress?: (states: number, transitions: number, depth: number) => void }

const progressEvery = 50_000

/** Visits every state that can be reached, the nearest first, and stops at the first broken property. */
export function walk(options: Options, { maxStates = Number.POSITIVE_INFINITY, onProgress }: Bounds = {}): Walk {
  const seen = new Seen()
  let level = initialStates(options)
  for (const state of level) seen.add(keyOf(state), -1, state)
  let [transitions, depth, index] = [0, 0, 0]
  const result = (isWhole: boolean, counterexample?: Counterexample): Walk => ({
    ...{ states: seen.size, transitions, depth, isWhole, counterexample },
  })
  for (; level.length > 0; depth += 1) {
    const next: State[] = []
    for (const state of level) {
      const steps = stepsFrom(state, options)
      transitions += steps.length
      const broken = visit(seen, { state, index, steps }, next)
      if (broken !== undefined) return result(false, seen.way(index, options, broken.property, broken.step))
      index += 1
      if (index % progressEvery === 0) onProgress?.(seen.size, transitions, depth)
      if (seen.size >= maxStates) return result(false)
    }
    level = next
  }
  const stuck = seen.stuck()
  return result(true, stuck && seen.way(stuck.index, options, stuck.property))
}

/** Adds the states after each step to `next` if they are new. Returns the first step that breaks a property. */
function visit(
  seen: Seen,
  { state, index, steps }: { state: State; index: number; steps: readonly Step[] },
  next: State[],
): { property: Property; step: Step } | undefined {
  for (const step of steps) {
    const property = brokenBy(state, step) ?? brokenIn(step.to)
    if (property !== undefined) return { property, step }
    const found = seen.add(keyOf(step.to), index, step.to)
    if (step.kind === 'fair') seen.link(index, found.index)
    if (found.isNew) next.push(step.to)
  }
  return undefined
}

/** The states seen so far, by their keys, with the one before each. */
class Seen {
  readonly #numbers = new Map<string, number>()
  readonly #keys: string[] = []
  readonly #before = new Numbers()
  /** For each state, a bit for each condition of `mustEnd` that holds. */
  readonly #holds = new Numbers()
  /** For each step that happens by itself, where it begins, and the step before that leads to the same state; steps count from 1. */
  readonly #from = new Numbers()
  readonly #earlier = new Numbers()
  /** For each state, the last step that leads to it. */
  readonly #lastInto = new Numbers()

  get size(): number {
    return this.#keys.length
  }

  add(key: string, before: number, state: State): { index: number; isNew: boolean } {
    const known = this.#numbers.get(key)
    if (known !== undefined) return { index: known, isNew: false }
    const index = this.#keys.length
    this.#numbers.set(key, index)
    this.#keys.push(key)
    this.#before.push(before)
    this.#lastInto.push(0)
    this.#holds.push(mustEnd.reduce((bits, { holds }, bit) => bits + (holds(state) ? 1 << bit : 0), 0))
    return { index, isNew: true }
  }

  /** A step that happens by itself. */
  link(from: number, to: number): void {
    this.#from.push(from)
    this.#earlier.push(this.#lastInto.at(to))
    this.#lastInto.put(to, this.#from.length)
  }

  /** The nearest state in which a condition holds that cannot end. */
  stuck(): { index: number; property: Property } | undefined {
    const found = mustEnd.flatMap(({ property }, bit) => {
      const canEnd = this.#canEnd(bit)
      const index = canEnd.indexOf(0)
      return index < 0 ? [] : [{ index, property }]
    })
    return found.sort((one, other) => one.index - other.index)[0]
  }

  /** Backwards from all states in which the condition does not hold. */
  #canEnd(bit: number): Uint8Array {
    const canEnd = new Uint8Array(this.size)
    const open: number[] = []
    const mark = (state: number) => {
      if (canEnd[state] === 1) return
      canEnd[state] = 1
      open.push(state)
    }
    for (let state = 0; state < this.size; state += 1) if ((this.#holds.at(state) & (1 << bit)) === 0) mark(state)
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      for (let step = this.#lastInto.at(state); step > 0; step = this.#earlier.at(step - 1)) {
        mark(this.#from.at(step - 1))
      }
    }
    return canEnd
  }

  /** How the state is reached from the beginning, and the step that follows. */
  way(index: number, options: Options, property: Property, last?: Step): Counterexample {
    const chain: string[] = []
    for (let at = index; at >= 0; at = this.#before.at(at)) chain.unshift(this.#keys[at] ?? '')
    const begin = initialStates(options).find((state) => keyOf(state) === chain[0])
    if (begin === undefined) throw new Error('a way has no beginning')
    const steps: Step[] = []
    let state = begin
    for (const key of chain.slice(1)) {
      const step = stepsFrom(state, options).find(({ to }) => keyOf(to) === key)
      if (step === undefined) throw new Error('a way has a gap')
      steps.push(step)
      state = step.to
    }
    return { property, begin, steps: last === undefined ? steps : [...steps, last] }
  }
}

/** A list of numbers that grows, without an object for each. */
class Numbers {
  #values = new Int32Array(1_024)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Int32Array(this.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.length] = value
    this.length += 1
  }

  put(index: number, value: number): void {
    this.#values[index] = value
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }
}
