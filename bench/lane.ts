import { connect, type Socket } from 'node:net'

/** `body`: its text, in Latin-1. */
export type Reply = { status: number; body: string }

/** A persistent connection that sends one request at a time, as cheaply as possible. */
export type Lane = { call(request: string): Promise<Reply>; close(): void }

/** The message of the error where the service closed the connection before it answered. */
export const connectionClosed = 'the service closed the connection'

/** A request that was sent in the moment in which the service closed an idle connection is closed within so many milliseconds. */
const crossedMs = 500

/** The service closes a connection that was idle for a while: the next request opens another, also if it crossed the close. */
export async function openLane(port: number): Promise<Lane> {
  let held = ''
  let settle: { resolve(reply: Reply): void; reject(error: Error): void } | undefined
  const listen = (socket: Socket) => {
    const fail = (error: Error) => settle?.reject(error)
    socket.on('error', fail)
    socket.on('close', () => fail(new Error(connectionClosed)))
    socket.on('data', (chunk) => {
      held = held === '' ? chunk.toString('latin1') : held + chunk.toString('latin1')
      const end = held.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(held)?.[1] ?? 0)
      if (held.length < end + 4 + length) return
      const reply = { status: Number(held.slice(9, 12)), body: held.slice(end + 4) }
      held = ''
      settle?.resolve(reply)
    })
    return socket
  }
  let socket = listen(await open(port))
  const send = (request: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    settle = { resolve, reject }
    socket.write(request, 'latin1')
    return promise
  }
  return {
    async call(request) {
      const isFresh = !socket.writable
      if (isFresh) socket = listen(await open(port))
      const sentAt = performance.now()
      return send(request).catch(async (error: Error) => {
        if (isFresh || error.message !== connectionClosed || performance.now() - sentAt > crossedMs) throw error
        socket = listen(await open(port))
        return send(request)
      })
    },
    close: () => socket.destroy(),
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}
