import { setImmediate as nextTurn } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { Problem } from '../../src/kernel/errors.ts'

/** Functions that tests call in the thread. */
export const tasksModule = import.meta.url

/** A shared count of the calls under way, and the most there were at once. */
export async function countAtOnce(counts: Int32Array, turns: number): Promise<void> {
  const now = Atomics.add(counts, 0, 1) + 1
  if (now > Atomics.load(counts, 1)) Atomics.store(counts, 1, now)
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
  Atomics.sub(counts, 0, 1)
}

/** Ends when the flag is set. */
export async function waitFor(flag: Int32Array, result: string): Promise<string> {
  while (Atomics.load(flag, 0) === 0) await nextTurn()
  return result
}

export function refuse(field: string): never {
  throw new Problem('invalid_policy', 'the text is not valid', { details: { field } })
}

export function fail(): never {
  throw new TypeError('a mistake')
}

/** Ends the thread. */
export function stop(): void {
  process.exit(1)
}

/** Whether this runs in a thread of its own. */
export const isBeside = () => !isMainThread
