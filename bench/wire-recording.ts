import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { ConnectionTarget } from '../server/src/db/client/connect.ts'

/** A statement as it went over the wire, its values as text: bytes as PostgreSQL writes them in hexadecimal. */
export type WireCall = { text: string; values: (string | null)[] }

/** What a connection sent between two Syncs, and the tenants that its rows named. */
type Pipeline = { calls: WireCall[]; tenants: string[] }

/** A transaction: one pipeline, or all of those from `begin` to its end. `answered`: its place in the order of all answers. */
export type WireTransaction = { pipelines: WireCall[][]; tenants: string[]; answered: number }

/** A proxy in front of PostgreSQL that keeps all transactions that succeed, in the order of their answers. */
export type WireRecording = {
  target: ConnectionTarget
  transactions: readonly WireTransaction[]
  /** How many transactions failed. */
  failed(): number
  close(): void
}

export async function recordWire(target: ConnectionTarget): Promise<WireRecording> {
  const transactions: WireTransaction[] = []
  const sockets = new Set<Socket>()
  let failed = 0
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect(`${target.host}/.s.PGSQL.${target.port}`)
    const reader = transactionsOf((pipelines, hasFailed) => {
      if (hasFailed) failed++
      else if (pipelines.some(({ calls }) => calls.length > 0))
        transactions.push({
          pipelines: pipelines.map(({ calls }) => calls),
          tenants: pipelines.flatMap(({ tenants }) => tenants),
          answered: transactions.length,
        })
    })
    const [sent, received] = [framesOf(reader.send, true), framesOf(reader.receive, false)]
    // The bytes first: the recording must not delay them.
    near.on('data', (bytes) => {
      far.write(bytes)
      sent(bytes)
    })
    far.on('data', (bytes) => {
      near.write(bytes)
      received(bytes)
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    target: { ...target, host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 },
    transactions,
    failed: () => failed,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Cuts a stream of bytes into messages of the protocol. The first message of a client has no letter. */
function framesOf(take: (letter: string, body: Buffer) => void, isClient: boolean): (bytes: Buffer) => void {
  let held: Buffer = Buffer.alloc(0)
  let isFirst = isClient
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    for (;;) {
      const head = isFirst ? 0 : 1
      if (held.length < head + 4) return
      const end = head + held.readInt32BE(head)
      if (held.length < end) return
      if (!isFirst) take(String.fromCharCode(held[0] ?? 0), held.subarray(5, end))
      isFirst = false
      held = held.subarray(end)
    }
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Puts the messages of one connection together. */
function transactionsOf(settle: (pipelines: Pipeline[], hasFailed: boolean) => void) {
  const texts = new Map<string, string>()
  const waiting: Pipeline[] = []
  let next: Pipeline = { calls: [], tenants: [] }
  let open: Pipeline[] = []
  let hasFailed = false
  return {
    send(letter: string, body: Buffer): void {
      if (letter === 'P') {
        const [name = '', text = ''] = body.toString('utf8').split('\0')
        texts.set(name, text)
      } else if (letter === 'B') next.calls.push(callOf(body, texts))
      else if (letter === 'S' || letter === 'Q') {
        waiting.push(next)
        next = { calls: [], tenants: [] }
      }
    },
    receive(letter: string, body: Buffer): void {
      if (letter === 'E') hasFailed = true
      else if (letter === 'D') {
        const first = firstValueOf(body)
        if (uuid.test(first)) waiting[0]?.tenants.push(first)
      } else if (letter === 'Z') {
        const pipeline = waiting.shift()
        if (pipeline !== undefined) open.push(pipeline)
        if (body.toString('latin1') !== 'I') return
        settle(open, hasFailed)
        open = []
        hasFailed = false
      }
    },
  }
}

function callOf(body: Buffer, texts: ReadonlyMap<string, string>): WireCall {
  const nameAt = body.indexOf(0) + 1
  const nameEnd = body.indexOf(0, nameAt)
  const text = texts.get(body.toString('utf8', nameAt, nameEnd))
  if (text === undefined) throw new Error('a statement was bound that was never parsed')
  let at = nameEnd + 1
  const int16 = () => {
    at += 2
    return body.readInt16BE(at - 2)
  }
  const formats = Array.from({ length: int16() }, int16)
  const values = Array.from({ length: int16() }, (_, place) => {
    const length = body.readInt32BE(at)
    at += 4 + Math.max(0, length)
    if (length < 0) return null
    const isBinary = (formats.length === 1 ? formats[0] : formats[place]) === 1
    return isBinary ? `\\x${body.toString('hex', at - length, at)}` : body.toString('utf8', at - length, at)
  })
  return { text, values }
}

/** The first column of a row, which names the tenant where rows are of several tenants. */
function firstValueOf(body: Buffer): string {
  if (body.readInt16BE(0) === 0) return ''
  const length = body.readInt32BE(2)
  return length === 36 ? body.toString('latin1', 6, 6 + length) : ''
}
