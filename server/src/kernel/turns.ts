import { Problem } from './errors.ts'

/** Lets work run that goes by a name, or has it wait for its turn. */
export type Turns = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>

type Queue = { running: number; waiting: (() => void)[] }

/**
 * At most `most` pieces of work of one name run at once; the others wait, in the order in which they came. Names do not
 * wait for each other. Who has waited for `longestWaitMs` is told `unavailable`.
 */
export function openTurns(most: number, longestWaitMs: number): Turns {
  const queues = new Map<string, Queue>()

  const turn = (queue: Queue) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        queue.waiting.splice(queue.waiting.indexOf(begin), 1)
        reject(new Problem('unavailable', 'too many such calls of this tenant are under way; try again in a moment'))
      }, longestWaitMs)
      queue.waiting.push(begin)
    })

  return async (name, work) => {
    const queue = queues.get(name) ?? { running: 0, waiting: [] }
    queues.set(name, queue)
    // Whoever ends hands its place on, so that nobody who comes just then takes it first.
    if (queue.running < most) queue.running++
    else await turn(queue)
    try {
      return await work()
    } finally {
      const next = queue.waiting.shift()
      if (next !== undefined) next()
      else if (--queue.running === 0) queues.delete(name)
    }
  }
}
