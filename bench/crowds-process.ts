import { setTimeout as pause } from 'node:timers/promises'
import { type Keyed, keyedCall } from './keyed-call.ts'
import { type Lane, openLane } from './lane.ts'

/**
 * A separate process in which people of one tenant ask for access and read, at a low fixed rate: a call does not wait for the answer to the
 * one before. It receives its order from its parent, and returns the samples.
 */
export type SamplesOrder = {
  port: number
  /** People whose requests a rule approves. */
  askers: readonly Keyed[]
  /** Reads the requests of all of them. */
  reader: Keyed
  action: string
  asks: number
  asksPerSecond: number
  /** Asks before them, with their reads, that do not count. */
  warmUp: number
  /** The first of as many accounts, each named once. */
  firstAccount: number
}

/** `asked`: milliseconds since 1970, by the clock that the database has too. */
export type Asked = { request_id: string; asked: number }

/** `reads` and `lists`: milliseconds of each, one of both for each ask. */
export type Samples = { asks: Asked[]; reads: number[]; lists: number[] }

const now = () => performance.timeOrigin + performance.now()

process.on('message', (order: SamplesOrder) => {
  void sample(order).then(
    (samples) => process.send?.(samples),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})

async function sample(order: SamplesOrder): Promise<Samples> {
  const { asks: count, asksPerSecond, warmUp, port, reader } = order
  const samples: Samples = { asks: [], reads: [], lists: [] }
  const lanes = openLanes(port)
  const known: string[] = []
  const list = () => lanes.call((lane) => keyedCall({ lane, port }, reader, 'GET', '/v1/requests?limit=50'))
  const read = (id: string) => lanes.call((lane) => keyedCall({ lane, port }, reader, 'GET', `/v1/requests/${id}`))
  const ask = async (place: number) => {
    const asked = await lanes.call((lane) => askOnce(lane, order, place))
    known.push(asked.request_id)
    if (place >= warmUp) samples.asks.push(asked)
  }
  const began = now()
  const calls: Promise<void>[] = []
  const slot = 1_000 / asksPerSecond
  // At a random moment: at a fixed one, reads would always meet the same part of the work for the ask before them.
  const readSoon = async (work: () => Promise<unknown>, samples: number[], place: number) => {
    await pause(Math.random() * slot)
    const ms = await timed(work)
    if (place >= warmUp) samples.push(ms)
  }
  for (let place = 0; place < warmUp + count; place += 1) {
    await pause(Math.max(0, began + place * slot - now()))
    calls.push(ask(place))
    // There is nothing to read before the first answer.
    if (known.length === 0) await calls[0]
    const id = known[Math.floor(Math.random() * known.length)] ?? ''
    calls.push(
      readSoon(() => read(id), samples.reads, place),
      readSoon(list, samples.lists, place),
    )
  }
  await Promise.all(calls)
  lanes.close()
  return samples
}

async function askOnce(lane: Lane, order: SamplesOrder, place: number): Promise<Asked> {
  const asker = order.askers[place % order.askers.length]
  if (asker === undefined) throw new Error('nobody asks')
  const body = {
    resource: { type: 'cloud_account', id: String(order.firstAccount + place).padStart(12, '0') },
    action: order.action,
    reason: 'a look at the logs',
    duration_seconds: 3_600,
  }
  const asked = now()
  const { id } = await keyedCall<{ id: string }>({ lane, port: order.port }, asker, 'POST', '/v1/requests', body)
  return { request_id: id, asked }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Connections, as many as there are calls at once. */
function openLanes(port: number) {
  const all: Lane[] = []
  const free: Lane[] = []
  const open = async () => {
    const lane = await openLane(port)
    all.push(lane)
    return lane
  }
  return {
    async call<Answer>(work: (lane: Lane) => Promise<Answer>): Promise<Answer> {
      const lane = free.pop() ?? (await open())
      try {
        return await work(lane)
      } finally {
        free.push(lane)
      }
    },
    close() {
      for (const lane of all) lane.close()
    },
  }
}
