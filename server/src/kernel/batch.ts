type Waiting<Ask, Answer> = { ask: Ask; resolve(answer: Answer): void; reject(error: unknown): void }

/**
 * Sends many asks in few round trips: whatever is asked of one `client` in the same turn of the event loop, or while the round
 * trip before is under way, goes as one batch of at most `max` asks. `send` answers in the order of the asks. Where a batch
 * fails and `eachAlone` says so, each of its asks is sent alone, so that one bad ask spoils no other.
 */
export function batched<Client extends object, Ask, Answer>(
  max: number,
  send: (client: Client, asks: readonly Ask[]) => Promise<readonly Answer[]>,
  eachAlone: (error: unknown) => boolean,
): (client: Client, ask: Ask) => Promise<Answer> {
  const queues = new WeakMap<Client, { waiting: Waiting<Ask, Answer>[]; busy: boolean }>()

  const roundTrip = async (client: Client, batch: readonly Waiting<Ask, Answer>[]): Promise<void> => {
    try {
      const asks = batch.map(({ ask }) => ask)
      const answers = await send(client, asks)
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      if (batch.length > 1 && eachAlone(error)) for (const one of batch) await roundTrip(client, [one])
      else for (const { reject } of batch) reject(error)
    }
  }

  return (client, ask) => {
    const queue = queues.get(client) ?? { waiting: [], busy: false }
    queues.set(client, queue)
    const work = async () => {
      while (queue.waiting.length > 0) await roundTrip(client, queue.waiting.splice(0, max))
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
