type Waiting<Call, Answer> = { call: Call; resolve(answer: Answer): void; reject(error: unknown): void }

/**
 * Sends many calls in few round trips. Calls to one `client` in the same tick of the event loop, or during the previous round
 * trip, form one batch of at most `max` calls; `atOnce` of them are under way, by default one. `send` returns the answers in the order of the calls. If a batch fails and
 * `eachAlone` returns true for the error, each call is sent alone, so that one bad call fails no other. `apart`: the batches after it do not wait
 * for these, one of which may take long to fail.
 */
export function batched<Client extends object, Call, Answer>(
  max: number,
  send: (client: Client, calls: readonly Call[]) => Promise<readonly Answer[]>,
  eachAlone: (error: unknown) => boolean,
  { atOnce = 1, apart = false }: { atOnce?: number; apart?: boolean } = {},
): (client: Client, call: Call) => Promise<Answer> {
  const queues = new WeakMap<Client, { waiting: Waiting<Call, Answer>[]; underWay: number }>()

  const roundTrip = async (client: Client, batch: readonly Waiting<Call, Answer>[]): Promise<void> => {
    try {
      const calls = batch.map(({ call }) => call)
      const answers = await send(client, calls)
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      if (batch.length === 1 || !eachAlone(error)) for (const { reject } of batch) reject(error)
      else if (apart) void oneByOne(client, batch)
      else await oneByOne(client, batch)
    }
  }

  const oneByOne = async (client: Client, batch: readonly Waiting<Call, Answer>[]): Promise<void> => {
    for (const one of batch) await roundTrip(client, [one])
  }

  return (client, call) => {
    const queue = queues.get(client) ?? { waiting: [], underWay: 0 }
    queues.set(client, queue)
    const work = async () => {
      while (queue.waiting.length > 0) await roundTrip(client, queue.waiting.splice(0, max))
      queue.underWay -= 1
    }
    return new Promise((resolve, reject) => {
      queue.waiting.push({ call, resolve, reject })
      if (queue.underWay === atOnce) return
      queue.underWay += 1
      setImmediate(() => void work())
    })
  }
}
