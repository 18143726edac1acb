import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** An active caller sends its next request on a keep-alive connection well within this time. */
const quietMs = 500
/** The server waits no longer than this for callers that keep opening connections. */
const maxDrainMs = 2_000
/** Requests in flight then have this long; the connection of a slower reader is closed. */
const maxAnswerMs = 10_000

/**
 * Shuts a server down without failing a call. From the start of the shutdown, every answer carries `Connection: close`.
 * The port stays open for `delayMs`, so that a load balancer notices first. It then stays open until callers have
 * disconnected or are idle: closing a connection just as its caller sends a request would lose that request. Then the port
 * closes, and requests in flight finish.
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
