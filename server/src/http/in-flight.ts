import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../kernel/errors.ts'
import { noteUrgentWork } from '../kernel/give-way.ts'
import { bodyLimit } from './body.ts'
import { callerAddress, sourceOf } from './source.ts'

/** With more requests in flight, waiting takes longer than a retry, so the server refuses further requests at once. */
const maxInFlight = 1_000
/**
 * How many bodies of one source may arrive at once, of up to 1 MiB each; a larger one counts several times. Behind a proxy that is not
 * trusted, all callers are one source.
 */
const maxArriving = 500

const tooMany = new Problem('unavailable', 'too many requests in flight; retry in a moment')
const tooManyArriving = new Problem('unavailable', 'too many bodies arrive from your address; retry in a moment')

/** Where a request is: its body arrives, or the server has all of it. Absent once its connection or its answer ended. */
type Stage = 'arriving' | 'in flight'

/**
 * Counts the requests that the server has to answer, in `underWay`. One whose body is still to come is none of them: for the price of a byte,
 * its sender could take the place of somebody else's. Those are counted by source. Long work gives way while requests come and go.
 */
export function countInFlight(server: FastifyInstance): void {
  const stages = new WeakMap<FastifyRequest, Stage>()
  const arriving = new Map<string, number>()

  /** Counts a body that arrives, or is here; returns the weight of those of its source that still arrive. */
  function count(request: FastifyRequest, change: 1 | -1): number {
    const source = sourceOf(callerAddress(request))
    const counted = (arriving.get(source) ?? 0) + change * weightOf(request)
    if (counted === 0) arriving.delete(source)
    else arriving.set(source, counted)
    return counted
  }

  server.decorate('underWay', 0)
  server.addHook('onRequest', async (request, reply) => {
    server.underWay += 1
    stages.set(request, 'in flight')
    noteUrgentWork()
    // A caller may disconnect before the answer, and between any two steps: the steps that follow then count nothing.
    reply.raw.once('close', () => {
      noteUrgentWork()
      if (stages.get(request) === 'arriving') count(request, -1)
      else server.underWay -= 1
      stages.delete(request)
    })
  })
  server.addHook('preParsing', async (request) => {
    if (!stages.has(request) || !hasBodyToCome(request)) return
    server.underWay -= 1
    stages.set(request, 'arriving')
    if (count(request, 1) > maxArriving) throw tooManyArriving
  })
  server.addHook('preValidation', async (request) => {
    if (stages.get(request) !== 'arriving') return
    count(request, -1)
    server.underWay += 1
    stages.set(request, 'in flight')
    requireRoom(server)
  })
}

/** The most memory that the body may take, in MiB. */
function weightOf({ headers, routeOptions }: FastifyRequest): number {
  const bytes = Number(headers['content-length'] ?? routeOptions.bodyLimit ?? bodyLimit)
  return Math.max(1, Math.ceil(bytes / bodyLimit))
}

function hasBodyToCome({ headers, raw }: FastifyRequest): boolean {
  const isSent = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
  return isSent && !raw.complete
}

/** @throws Problem 503 when too many requests are in flight */
export function requireRoom(server: FastifyInstance): void {
  if (server.underWay > maxInFlight) throw tooMany
}

/** From now on an answer counts no longer: its reader may take it as slowly as they like, and nothing that others wait for is held. */
export function stopCounting(server: FastifyInstance, reply: FastifyReply): void {
  if (reply.raw.destroyed) return
  server.underWay -= 1
  // Compensates for the decrement at the end of each request.
  reply.raw.once('close', () => {
    server.underWay += 1
  })
}
