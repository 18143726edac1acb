import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { ConnectionTarget } from '../../src/db/client/connect.ts'
import {
  type BatchOutcome,
  endsBatch,
  isWithinBatch,
  messageCutter,
  outcomeReader,
  type SentStatement,
  statementReader,
} from './wire.ts'

/** A client's messages up to a Sync. `connection` numbers the client's connections. */
export type Batch = { connection: number; statements: readonly SentStatement[] }

export type AnsweredBatch = Batch & BatchOutcome

/** Callbacks for batches and answers; each is forwarded when its callback is done. */
export type Listener = {
  sent?(batch: Batch): void | Promise<void>
  answered?(batch: AnsweredBatch): void | Promise<void>
}

export type WireProxy = {
  port: number
  /** Sets the listener; there is one at a time. */
  listen(listener: Listener): void
  /** Stops all traffic, both ways, on every current connection; later connections pass. */
  freeze(): void
  close(): Promise<void>
}

/**
 * A proxy between a service and its PostgreSQL that parses each batch, in both forms: the statements of a transaction each
 * with their own Sync, or all before one. Without TLS: only for the loopback.
 */
export async function startWireProxy(target: ConnectionTarget): Promise<WireProxy> {
  let listener: Listener = {}
  let connectionCount = 0
  const open = new Set<{ frozen: boolean; end(): void }>()
  const server = createServer((client) => {
    const upstream = connectTo(target)
    const connection = {
      frozen: false,
      end() {
        client.destroy()
        upstream.destroy()
      },
    }
    open.add(connection)
    connectionCount += 1
    const ends = {
      client,
      upstream,
      connection: connectionCount,
      isFrozen: () => connection.frozen,
      listener: () => listener,
    }
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    Promise.race(pass(ends))
      .catch(() => undefined)
      .finally(() => {
        connection.end()
        open.delete(connection)
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    listen(next) {
      listener = next
    },
    freeze() {
      for (const connection of open) connection.frozen = true
    },
    async close() {
      for (const connection of open) connection.end()
      server.close()
      await once(server, 'close')
    },
  }
}

function connectTo({ host = '', port = 0 }: ConnectionTarget): Socket {
  return host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host)
}

type Ends = {
  client: Socket
  upstream: Socket
  connection: number
  isFrozen(): boolean
  listener(): Listener
}

/** Both directions of one connection: the end of one ends the connection. */
function pass(ends: Ends): Promise<void>[] {
  const unanswered: Batch[] = []
  return [passQuestions(ends, unanswered), passAnswers(ends, unanswered)]
}

async function passQuestions({ client, upstream, connection, isFrozen, listener }: Ends, unanswered: Batch[]) {
  const cut = messageCutter(true)
  const statementOf = statementReader()
  let held: Buffer[] = []
  let statements: SentStatement[] = []
  for await (const chunk of client) {
    for (const message of cut(chunk as Buffer)) {
      held.push(message.bytes)
      const statement = statementOf(message)
      if (statement !== undefined) statements.push(statement)
      if (isWithinBatch(message)) continue
      if (endsBatch(message)) {
        const batch = { connection, statements }
        statements = []
        await listener().sent?.(batch)
        unanswered.push(batch)
      }
      if (isFrozen()) return
      upstream.write(Buffer.concat(held))
      held = []
    }
  }
}

async function passAnswers({ client, upstream, isFrozen, listener }: Ends, unanswered: Batch[]) {
  const cut = messageCutter(false)
  const outcome = outcomeReader()
  let held: Buffer[] = []
  for await (const chunk of upstream) {
    for (const message of cut(chunk as Buffer)) {
      held.push(message.bytes)
      const [batch] = unanswered
      const end = outcome(message)
      if (batch !== undefined && end === undefined) continue
      if (batch !== undefined && end !== undefined) {
        unanswered.shift()
        await listener().answered?.({ ...batch, ...end })
      }
      if (isFrozen()) return
      client.write(Buffer.concat(held))
      held = []
    }
  }
}
