import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../kernel/errors.ts'
import { errorText } from './error-reply.ts'

/** Requests of one connection that may wait for the answer to an earlier one; with more, the connection is closed. */
const maxWaiting = 20

const refusal = new Problem(
  'unavailable',
  `more than ${maxWaiting} requests wait on this connection; read their answers before you send more`,
)

/** The requests of one connection that wait, in order. `isClosing`: one more came than may wait, so the rest is ignored. */
type Turns = { waiting: (() => void)[]; isClosing: boolean }

/**
 * Handles the requests of each connection one at a time, in the order in which they came. A caller who sends many before
 * reading an answer therefore holds at most one answer in memory, and does as much work as any other caller.
 */
export function inTurn(handle: RequestListener): RequestListener {
  const turnsOf = new WeakMap<Socket, Turns>()

  function begin(request: IncomingMessage, response: ServerResponse, turns: Turns): void {
    response.once('close', () => {
      if (request.socket.destroyed) turns.waiting.length = 0
      const next = turns.waiting.shift()
      if (next === undefined) turnsOf.delete(request.socket)
      else next()
    })
    handle(request, response)
  }

  return (request, response) => {
    const { socket } = request
    const turns = turnsOf.get(socket)
    if (turns === undefined) {
      const first = { waiting: [], isClosing: false }
      turnsOf.set(socket, first)
      begin(request, response, first)
    } else if (turns.waiting.length < maxWaiting) {
      turns.waiting.push(() => begin(request, response, turns))
    } else {
      // One read of the socket can hold many more requests; without further reads, their number stays bounded.
      socket.pause()
      if (!turns.isClosing) turns.waiting.push(() => refuse(response))
      turns.isClosing = true
    }
  }
}

function refuse(response: ServerResponse): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', connection: 'close', 'retry-after': '1' }
  response.writeHead(refusal.status, headers).end(errorText(refusal))
}
