type Waiting<Ask, Answer> = { ask: Ask; resolve(answer: Answer): void; reject(error: unknown): void }

/**
 * Makes few trips of many asks: whatever is asked of one `door` in the same turn of the event loop, or while the trip before
 * is under way, goes together, at most `most` at once. `flush` answers in the order of the asks. Where a trip fails and
 * `eachAlone` says so, each of its asks is tried alone, so that one bad ask spoils no other.
 */
export function gather<Door extends object, Ask, Answer>(
  most: number,
  flush: (door: Door, asks: readonly Ask[]) => Promise<readonly Answer[]>,
  eachAlone: (error: unknown) => boolean,
): (door: Door, ask: Ask) => Promise<Answer> {
  const queues = new WeakMap<Door, { waiting: Waiting<Ask, Answer>[]; busy: boolean }>()

  const trip = async (door: Door, batch: readonly Waiting<Ask, Answer>[]): Promise<void> => {
    try {
      const asks = batch.map(({ ask }) => ask)
      const answers = await flush(door, asks)
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      if (batch.length > 1 && eachAlone(error)) for (const one of batch) await trip(door, [one])
      else for (const { reject } of batch) reject(error)
    }
  }

  return (door, ask) => {
    const queue = queues.get(door) ?? { waiting: [], busy: false }
    queues.set(door, queue)
    const work = async () => {
      while (queue.waiting.length > 0) await trip(door, queue.waiting.splice(0, most))
      queue.busy = false
    }
    return new Promise((resolve, reject) => {
      queue.waiting.push({ ask, resolve, reject })
      if (queue.busy) return
      queue.busy = true
      setImmediate(() => void work())
    })
  }
}
