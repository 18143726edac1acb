import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** A keep-alive connection whose caller is at work sends its next request well within this time. */
const quietMs = 500
/** Callers that go on opening connections are not waited for longer than this. */
const maxDrainMs = 2_000
/** What is under way then has this long; a reader that takes longer is cut off. */
const maxAnswerMs = 10_000

/**
 * Lets a server that is told to close end without failing a call. Every answer says `Connection: close` from then on,
 * while the port stays open for `delayMs`, so that a balancer can notice first, and until callers have gone or fallen
 * silent: to close a connection just when its caller sends the next request would lose that one. Then the port closes,
 * and what is under way is finished.
 */
export function drainOnClose(server: FastifyInstance, delayMs: number): void {
  let closing = false
  let open = 0
  let activeAt = Number.NEGATIVE_INFINITY
  server.server.on('connection', (socket) => {
    activeAt = performance.now()
    open += 1
    socket.once('close', () => {
      open -= 1
    })
  })
  server.server.on('request', () => {
    activeAt = performance.now()
  })
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  server.addHook('preClose', async () => {
    closing = true
    if (!server.server.listening) return
    await pause(delayMs)
    const deadline = performance.now() + maxDrainMs
    while (open > 0 && performance.now() < Math.min(deadline, activeAt + quietMs)) await pause(10)
    setTimeout(() => server.server.closeAllConnections(), maxAnswerMs).unref()
  })
}
