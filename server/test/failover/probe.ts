import { setTimeout as pause } from 'node:timers/promises'
import { type ConnectionTarget, clientOn } from '../../src/db/client/connect.ts'

/** A write that was acknowledged: by which server's port, and when, in milliseconds of the machine's clock. */
type Write = { id: number; port: number; at: number }

/** Writes without a break from its start to its stop, on one connection at a time, each of which is opened again when it is lost. */
export type Probe = {
  /** The first write after `since` that a server other than the one on `oldPort` acknowledged; undefined so far. */
  firstElsewhere(oldPort: number, since: number): Write | undefined
  acknowledged: readonly Write[]
  /** The longest time between two acknowledged writes that follow each other, in seconds. */
  longestGap(): number
  stop(): Promise<void>
}

/** No statement of the probe takes longer where the database works. */
const patienceMs = 3_000

/** Makes the probe's table on the primary. */
export const probeTable = 'create table if not exists probe (id bigint primary key, port int not null)'

const write = 'insert into probe values ($1, inet_server_port()) returning port'

let lastId = 0

/** Starts to write. `target`: HAProxy's address, or that of one node. */
export function startProbe(target: ConnectionTarget): Probe {
  const acknowledged: Write[] = []
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await writeOnOne(target, acknowledged, stopping.signal).catch(() => undefined)
      await pause(50)
    }
  })()
  return {
    acknowledged,
    firstElsewhere: (oldPort, since) => acknowledged.find(({ port, at }) => port !== oldPort && at > since),
    longestGap: () =>
      acknowledged.reduce((longest, { at }, index) => {
        const before = acknowledged[index - 1]?.at ?? at
        return Math.max(longest, (at - before) / 1_000)
      }, 0),
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function writeOnOne(target: ConnectionTarget, acknowledged: Write[], stopping: AbortSignal): Promise<void> {
  const timeouts = { connectionTimeoutMillis: patienceMs, query_timeout: patienceMs }
  const client = clientOn({ ...target, ...timeouts }, 'sallyport-probe')
  client.on('error', () => undefined)
  try {
    await client.connect()
    while (!stopping.aborted) {
      lastId += 1
      const id = lastId
      const { rows } = await client.query<{ port: number }>(write, [id])
      acknowledged.push({ id, port: rows[0]?.port ?? 0, at: Date.now() })
      await pause(50)
    }
  } finally {
    // With a statement that has no answer, this cuts the connection.
    void client.end().catch(() => undefined)
  }
}
