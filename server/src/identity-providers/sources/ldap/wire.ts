import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { withinDeadline } from '../../../kernel/deadline.ts'
import { openFrames } from './frames.ts'
import { type Message, readMessage } from './read-message.ts'

/** A request as `ldapts` writes it. */
export type Request = { messageId: number; write(): Buffer }

/** What is done with each message of an answer: true after the last one. It may throw, which ends the connection. */
type Take = (message: Message) => boolean

/** A connection to a server, for one request at a time. Once it is lost, each request fails: nothing connects again by itself. */
export type Wire = {
  /** @throws Error when the server answers too slowly, too much, or something else */
  ask(request: Request, limits: { ms: number; bytes: number }, take: Take): Promise<void>
  /** Goes on with TLS (RFC 4511, 4.14). @throws Error unless the server proves who it is */
  startTls(options: ConnectionOptions, ms: number): Promise<void>
  /** Ends it; a request that waits fails with the error. */
  close(why?: Error): void
}

type Waiting = { id: number; take: Take; bytesLeft: number; done(): void; fail(error: Error): void }

/** The server did not answer in time. */
class TooSlow extends Error {}

/** The server sent more than is read for one request. */
export class TooMuch extends Error {}

/** `connected`: open and, except on the loopback interface and before `startTls`, with TLS. */
export function openWire(connected: Socket): Wire {
  let socket = connected
  let waiting: Waiting | undefined
  let lost: Error | undefined
  let lastId = 0
  const frames = openFrames()

  const lose = (error: Error) => {
    lost ??= error
    socket.destroy()
    const left = waiting
    waiting = undefined
    left?.fail(lost)
  }
  const onClose = () => lose(new Error('it ended the connection'))
  const onData = (chunk: Buffer) => {
    try {
      if (waiting !== undefined) waiting.bytesLeft -= chunk.length
      if (waiting !== undefined && waiting.bytesLeft < 0) throw new TooMuch()
      for (const frame of frames.push(chunk)) give(readMessage(frame))
    } catch (error) {
      lose(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const give = (message: Message) => {
    // A notice that no request asked for (RFC 4511, 4.4): the server is about to end the connection.
    if (message.id === 0 && message.kind === 'result') {
      throw new Error(`it ended the connection: ${message.result.diagnostic || `code ${message.result.code}`}`)
    }
    if (message.id !== waiting?.id) throw new Error('it sent an answer that nothing asked for')
    if (!waiting.take(message)) return
    const answered = waiting
    waiting = undefined
    answered.done()
  }
  const attach = () => socket.on('data', onData).on('error', lose).on('close', onClose)
  attach()

  return {
    async ask(request, { ms, bytes }, take) {
      if (lost !== undefined) throw lost
      lastId += 1
      request.messageId = lastId
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting = { id: lastId, take, bytesLeft: bytes, done: resolve, fail: reject }
      socket.write(request.write())
      await withinDeadline(
        ms,
        () => promise,
        () => lose(new TooSlow(`it did not answer within ${Math.ceil(ms / 1_000)} s`)),
      )
      // Lost in the meantime: the promise was rejected after the deadline.
      await promise
    },
    async startTls(options, ms) {
      // Whoever sits between could have added it, to be read as the beginning of what comes over TLS.
      if (frames.isWithin()) lose(new Error('it sent something between StartTLS and TLS'))
      if (lost !== undefined) throw lost
      const plain = socket
      plain.off('data', onData)
      socket = connectTls({ ...options, socket: plain })
      try {
        await untilConnected(socket, 'secureConnect', ms)
      } catch (error) {
        plain.destroy()
        throw error
      }
      attach()
    },
    close: (why = new Error('the connection is closed')) => lose(why),
  }
}

/** Waits until a new socket is connected. @throws Error, and the socket is destroyed */
export async function untilConnected(socket: Socket, event: 'connect' | 'secureConnect', ms: number): Promise<void> {
  try {
    await withinDeadline<unknown>(
      ms,
      (signal) => once(socket, event, { signal }),
      () => {
        throw new TooSlow(`it did not answer within ${Math.ceil(ms / 1_000)} s`)
      },
    )
  } catch (error) {
    // An error of a socket that is given up must not end the process.
    socket.on('error', () => undefined).destroy()
    throw error
  }
}
