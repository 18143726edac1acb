import { Readable } from 'node:stream'
import helmet from '@fastify/helmet'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { ConsoleState } from '../kernel/console-state.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { throttledLog } from '../kernel/throttled-log.ts'
import type { Log } from '../log/log.ts'
import type { Answer, KeyedAnswer } from './answer-once.ts'
import { bodyLimit, readBodiesStrictly } from './body.ts'
import { callerFields, callerOf, keepCaller } from './caller.ts'
import { serveConsole } from './console.ts'
import { drainOnClose } from './drain.ts'
import { answerBrokenRequest, problemOf, replyProblem, sendText } from './error-reply.ts'
import { eventStreamHeaders, openEventStream } from './event-stream.ts'
import { type Health, isProbe, serveHealth } from './health.ts'
import { countInFlight, requireRoom, stopCounting } from './in-flight.ts'
import { type Limits, type LimitsOptions, openLimits } from './limits.ts'
import { streamedLines } from './line-stream.ts'
import { openNodeServer } from './node-server.ts'
import { serveOneTimeLinkPages } from './one-time-link-pages.ts'
import { describeApi } from './openapi.ts'
import type { OperationExample } from './openapi-examples.ts'
import type { Operation, ServerEvent } from './operation.ts'
import type { Outgoing } from './outgoing.ts'
import { openPaths, type Paths, spellsFixedSegments } from './paths.ts'
import { type PipelineParts, pipeline } from './pipeline.ts'
import { serveReference } from './reference.ts'
import { compileWhenNeeded } from './reply-text.ts'
import { headFault } from './request-head.ts'
import type { Redirect } from './schema.ts'
import { callerAddress } from './source.ts'

export type ServerOptions = Health & {
  operations: Record<string, Operation>
  /** The messages sent to receivers, for the reference. */
  outgoing?: Readonly<Record<string, Outgoing>>
  /** Examples of operations, for the reference. */
  examples?: Readonly<Record<string, OperationExample>>
  parts: PipelineParts
  /** Where the console is, which can change. Absent: there is none. */
  console?: (() => ConsoleState) | undefined
  trustProxy: string[] | boolean
  publicUrl: string
  log: Log
  /** Absent: no rate limits. */
  limits?: LimitsOptions
  /** How long a server that shuts down still accepts connections; its answers carry `Connection: close`. */
  stopDelayMs?: number
  /** Called for each answer, for metrics. `operationId` is undefined for a path that is no operation. */
  onAnswered?: ((operationId: string | undefined, status: number, seconds: number) => void) | undefined
  /** Called for each answer 429, with the name of the limit. */
  onLimited?: ((limit: string) => void) | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: string
    keepsBody?: boolean
    bodyValues?: number | undefined
    /** The field that takes a plain-text body; undefined when plain text is refused. */
    bodyText?: string | undefined
    bodyType?: 'form' | 'scim' | undefined
  }
  interface FastifyRequest {
    /** The raw body, when the operation keeps it; else empty. */
    sentBody: string
  }
  interface FastifyReply {
    /** A stream of events, which may go on for an hour: it counts as answered when it begins. */
    isEvents: boolean
  }
  interface FastifyInstance {
    /** The number of requests in flight. */
    underWay: number
    limits: Limits
    /** Logs an error that the service itself causes. `more`: what the log entry says beside it. */
    logFault(request: FastifyRequest, thrown: unknown, more?: object): void
  }
}

/** The server, for the code that composes it. */
export type HttpServer = FastifyInstance

/** The HTTP server: every operation behind the pipeline, health checks, the OpenAPI document and its reference page. */
export async function buildServer(options: ServerOptions): Promise<HttpServer> {
  const server = fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit,
    // `true` trusts the proxy that connects, and not what it was told: proxies append, and callers begin the list.
    trustProxy: options.trustProxy === true ? (_address: string, hop: number) => hop === 0 : options.trustProxy,
    genReqId: requestId,
    routerOptions: {
      // An action of 256 characters has up to 512 code units. Its operation refuses a longer one with 400.
      maxParamLength: 520,
      caseSensitive: true,
    },
    serverFactory: (handle) => openNodeServer(handle),
    // Requests that arrive during shutdown are answered normally: `drainOnClose` ends them.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => replyProblem(reply, problemOf(error)),
    clientErrorHandler: answerBrokenRequest,
  })
  drainOnClose(server, options.stopDelayMs ?? 0)
  readBodiesStrictly(server)
  // The pipeline checks every schema, with Sallyport's own error messages.
  server.setValidatorCompiler(() => () => true)
  server.setSerializerCompiler(compileWhenNeeded)
  countInFlight(server)
  server.decorateRequest('sentBody', '')
  server.decorateReply('isEvents', false)
  const paths = openPaths()
  server.addHook('onRoute', ({ url, method }) => paths.add(url, [method].flat()))
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const fault = headFault(request.raw)
    if (fault !== undefined) {
      reply.header('connection', 'close')
      throw new Problem('invalid_input', fault)
    }
    requirePath(paths, request, reply)
  })
  server.addHook('onResponse', async (request, reply) => {
    const { method } = request
    const ip = callerAddress(request)
    // Without the query: a credential that a caller put there is not accepted, and must not be logged either.
    const url = request.url.split('?', 1)[0]
    const ms = Math.round(reply.elapsedTime * 10) / 10
    const { operationId } = request.routeOptions.config
    const operation = operationId === undefined ? {} : { operation: operationId }
    const level = isProbe(url) && reply.statusCode < 500 ? 'debug' : 'info'
    request.log[level](
      { method, url, status: reply.statusCode, ms, ip, ...operation, ...callerFields(request) },
      'answered',
    )
    if (reply.isEvents) return
    options.onAnswered?.(operationId, reply.statusCode, reply.elapsedTime / 1000)
  })
  answerErrors(server, options.onLimited)
  server.setNotFoundHandler((_request, reply) => replyProblem(reply, notFound('path')))
  await server.register(helmet, { contentSecurityPolicy: false })
  const limits = openLimits(options.limits ?? {})
  server.decorate('limits', limits)
  const { operations, publicUrl, outgoing, examples } = options
  await serveReference(server, () => describeApi(operations, publicUrl, outgoing, examples), limits)
  serveHealth(server, options)
  serveOneTimeLinkPages(server)
  await serveConsole(server, options.console)
  serveOperations(server, options, limits)
  return server
}

/** Answers what is thrown with its error object, and logs the service's own faults. */
function answerErrors(server: FastifyInstance, onLimited: ServerOptions['onLimited']): void {
  const logUnavailable = throttledLog<unknown>(1_000, (err, keptBack) =>
    server.log.error({ err, keptBack }, 'unavailable'),
  )
  server.decorate('logFault', (request, thrown, more = {}) => {
    const { code, status } = problemOf(thrown)
    // One cause can make every request unavailable, so this log is throttled.
    if (code === 'unavailable') logUnavailable(thrown)
    else if (status >= 500) request.log.error({ err: thrown, ...callerFields(request), ...more }, code)
  })
  server.setErrorHandler((thrown, request, reply) => {
    const problem = problemOf(thrown)
    server.logFault(request, thrown)
    if (problem.code === 'rate_limited') onLimited?.(String(problem.details?.limit))
    return replyProblem(reply, problem)
  })
}

/** Refuses a path that does not exist, or a method that it does not support, before the body is read. */
function requirePath(paths: Paths, request: FastifyRequest, reply: FastifyReply): void {
  const [path = ''] = request.url.split('?', 1)
  const { url } = request.routeOptions
  const methods = paths.otherMethods(path, request.method, url)
  if (methods !== undefined) {
    reply.header('allow', methods.join(', '))
    const message = `this path does not support the method; use ${methods.join(', ')}`
    throw new Problem('method_not_allowed', message)
  }
  if (url === undefined || !spellsFixedSegments(path, url)) throw notFound('path')
}

/** The caller's own request id when it is well-formed, else a new one. */
function requestId(raw: { headers: NodeJS.Dict<string | string[]> }): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newId()
}

function serveOperations(server: FastifyInstance, options: ServerOptions, limits: Limits): void {
  for (const [operationId, operation] of Object.entries(options.operations)) {
    const url = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const steps = pipeline(options.parts, limits, operationId, operation)
    const begin = (reply: FastifyReply, events: Readable) => {
      options.onAnswered?.(operationId, reply.statusCode, reply.elapsedTime / 1000)
      return sendEvents(server, reply, events)
    }
    serveOperation(server, url, operation, operationId, steps, begin)
  }
}

function serveOperation(
  server: FastifyInstance,
  url: string,
  operation: Operation,
  operationId: string,
  { admit, run, mayGoOn }: ReturnType<typeof pipeline>,
  begin: (reply: FastifyReply, events: Readable) => FastifyReply,
): void {
  server.route({
    method: operation.method,
    url,
    config: { operationId, ...bodyConfigOf(operation) },
    ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
    schema:
      operation.reply === null || operation.streams !== undefined || operation.status === 302
        ? {}
        : { response: { [operation.status]: operation.reply } },
    onRequest: async (request, reply) => {
      requireRoom(server)
      keepCaller(request, await admit(request, reply))
    },
    handler: async (request, reply) => {
      const ctx = callerOf(request)
      const isEvents = operation.streams === 'text/event-stream'
      if (isEvents && request.method === 'HEAD') return reply.headers(eventStreamHeaders).send()
      const answer = await run(ctx, request, (body) => finished(operation, reply, body))
      if ('text' in answer) return sendAnswer(reply, answer)
      const { body } = answer
      if (operation.status === 302) return sendElsewhere(reply, body as Redirect)
      reply.headers(headersOf(operation, body))
      if (operation.replyText !== undefined) {
        reply.header('vary', 'accept')
        if (prefersText(request.headers.accept))
          return reply.type('text/plain; charset=utf-8').send(operation.replyText(body as never))
      }
      if (isEvents) {
        const events = body as AsyncIterable<ServerEvent<unknown> | undefined>
        return begin(reply, await openEventStream(events, () => mayGoOn(ctx, request)))
      }
      if (operation.streams === undefined) return reply.code(operation.status).send(body)
      const lines = streamedLines(operation, body, () => mayGoOn(ctx, request))
      return reply.type(operation.streams).send(Readable.from(lines))
    },
  })
}

function bodyConfigOf({ keepsBody, bodyValues, bodyText, bodyType }: Operation) {
  return { keepsBody, bodyValues, bodyText, bodyType }
}

/** A stream holds nothing that other requests wait for, so it does not count as in flight. */
function sendEvents(server: FastifyInstance, reply: FastifyReply, events: Readable): FastifyReply {
  reply.isEvents = true
  stopCounting(server, reply)
  return reply.headers(eventStreamHeaders).send(events)
}

/** The complete answer, before anything is sent. @throws when the body does not match the reply's schema. */
function finished(operation: Operation, reply: FastifyReply, body: unknown): Answer {
  const { status, reply: schema } = operation
  const text = schema === null ? '' : String(reply.code(status).serialize(body))
  return { status, text, ...headersOf(operation, body) }
}

/** The headers that follow from what is answered. */
function headersOf({ etag, location, fileName }: Operation, body: unknown) {
  return {
    ...(fileName !== undefined && { 'content-disposition': `attachment; filename="${fileName}"` }),
    ...(etag !== undefined && { etag: etag(body as never) }),
    ...(location !== undefined && { location: location(body as never) }),
  }
}

function sendAnswer(reply: FastifyReply, { status, text, isReplay, ...headers }: KeyedAnswer): FastifyReply {
  reply.code(status).headers(headers)
  if (isReplay) reply.header('idempotency-replayed', 'true')
  return text === '' ? reply.send() : sendText(reply, text)
}

/** A redirect belongs to one person, so proxies must not cache it. */
function sendElsewhere(reply: FastifyReply, { location }: Redirect): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(location, 302)
}

/** Whether `Accept` names text before JSON; JSON is the default. */
function prefersText(accept = ''): boolean {
  return /text\/plain|application\/json/i.exec(accept)?.[0].toLowerCase() === 'text/plain'
}
