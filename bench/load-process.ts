import { type Lane, openLane } from './lane.ts'

/**
 * A separate process that calls the service as cheaply as possible: persistent raw sockets, one request at a time on each,
 * sent from prepared text. It receives its order from its parent, and returns the result.
 */
export type Order = {
  port: number
  connections: number
  seconds: number
  /** The request, split at the row's id, if it has one. */
  request: [string, string]
  ids: { head: string; first: number; count: number; order: 'random' | 'once' } | undefined
}

/** `wrong`: answers other than 200, with the first one's text. */
export type Outcome = {
  answered: number
  wrong: number
  firstWrong: string | undefined
  seconds: number
  medianMs: number
  p99Ms: number
}

process.on('message', (order: Order) => {
  void measure(order).then((outcome) => process.send?.(outcome))
})

async function measure({ port, connections, seconds, request, ids }: Order): Promise<Outcome> {
  const outcome = { answered: 0, wrong: 0, firstWrong: undefined as string | undefined }
  const latencies: number[] = []
  let sent = 0
  let isOver = false

  const next = () => {
    if (ids === undefined) return request.join('')
    const place = ids.order === 'once' ? sent : Math.floor(Math.random() * ids.count)
    sent++
    return `${request[0]}${ids.head}${ids.first + place}${request[1]}`
  }

  async function drive(lane: Lane): Promise<void> {
    while (!isOver && !(ids?.order === 'once' && sent >= ids.count)) {
      const since = performance.now()
      const { status, body } = await lane.call(next())
      latencies.push(performance.now() - since)
      if (status === 200) outcome.answered++
      else {
        outcome.wrong++
        outcome.firstWrong ??= `${status} ${body.slice(0, 2_000)}`
      }
    }
  }

  const lanes = await Promise.all(Array.from({ length: connections }, () => openLane(port)))
  const began = performance.now()
  setTimeout(() => {
    isOver = true
  }, seconds * 1000)
  await Promise.all(lanes.map(drive))
  const took = (performance.now() - began) / 1000
  for (const lane of lanes) lane.close()
  const sorted = latencies.sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { ...outcome, seconds: took, medianMs: at(0.5), p99Ms: at(0.99) }
}
