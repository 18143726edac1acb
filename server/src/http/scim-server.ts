/** Serves SCIM below `/scim/v2/{id}`: its own credential, its own errors, its own media type. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../db/transaction.ts'
import { Problem, tenantSuspended } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import {
  type Admission,
  type AuthenticateDirectory,
  findTenantHeader,
  type ProveDirectory,
  requireSingleHeaders,
} from './admission.ts'
import { logCaller } from './caller.ts'
import { confirmedTx, lossOf } from './confirmed-tx.ts'
import { problemOf } from './error-reply.ts'
import { requireRoom } from './in-flight.ts'
import { setRetryHeaders } from './limits.ts'
import { headerOf } from './request-header.ts'
import type { ScimAnswer, ScimCtx, ScimOperation } from './scim-operation.ts'
import { ScimProblem } from './scim-problem.ts'
import type { HttpServer } from './server.ts'
import { callerAddress } from './source.ts'

export type ScimParts = {
  database: Pick<Database, 'tenant'>
  authenticateDirectory: AuthenticateDirectory
  proveDirectory: ProveDirectory
  public_url: string
  /** Drops the cached rights of a tenant's users. */
  dropAdmissions(tenant_id: string): void
  /** Called after a write: workers that act on it should check for work now. */
  afterWrite(): void
}

const mediaType = 'application/scim+json; charset=utf-8'
const base = '/scim/v2/:identity_provider_id'

/** The base address of a directory's SCIM service. */
const scimUrl = (public_url: string, identity_provider_id: string): string =>
  `${public_url}/scim/v2/${identity_provider_id}`

/** Serves the operations, each under its name. */
export function serveScim(
  server: HttpServer,
  parts: ScimParts,
  operations: Readonly<Record<string, ScimOperation>>,
): void {
  for (const [operationId, operation] of Object.entries(operations)) {
    serveOperation(server, parts, operationId, operation)
  }
  server.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/scim/v2/*',
    errorHandler: answerError(server),
    onRequest: async () => {
      throw new ScimProblem(404, 'there is no such endpoint')
    },
    handler: () => undefined,
  })
}

function serveOperation(server: HttpServer, parts: ScimParts, operationId: string, operation: ScimOperation): void {
  const callers = new WeakMap<FastifyRequest, ScimCtx>()
  server.route({
    method: operation.method,
    url: `${base}${operation.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    config: { operationId, bodyType: 'scim' },
    ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
    errorHandler: answerError(server),
    onRequest: async (request, reply) => {
      requireRoom(server)
      reply.header('cache-control', 'no-store')
      callers.set(request, await admit(server, parts, request, reply))
    },
    handler: async (request, reply) => {
      const ctx = callers.get(request)
      if (ctx === undefined) throw new Error('a SCIM operation ran without admission')
      try {
        return send(reply, await operation.run(confirmed(parts, operation, ctx, request), callOf(request)))
      } finally {
        if (operation.changes === 'authority') parts.dropAdmissions(ctx.tx.tenant_id)
        if (operation.method !== 'GET') parts.afterWrite()
      }
    },
  })
}

/** @throws ScimProblem 401 without a live SCIM key, 403 where it is not for this path, tenant or time */
async function admit(
  server: HttpServer,
  parts: ScimParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ScimCtx> {
  requireSingleHeaders(request.raw.rawHeaders)
  const key = keyIn(request)
  const admission = key === undefined ? undefined : await parts.authenticateDirectory(key, callerAddress(request))
  if (admission?.directory === undefined) {
    throw new ScimProblem(401, 'send the SCIM key of this directory as `Authorization: Bearer spscim_…`')
  }
  const { tenant_id, actor, directory } = admission
  const tx = parts.database.tenant(tenant_id)
  logCaller(request, { tx, actor })
  server.limits.admit(admission, reply)
  requireOwn(request, admission)
  const { id } = directory
  return {
    ...{ tx, actor, request_id: request.id, identity_provider_id: id },
    ...{ author: actor.user_id, source: 'scim' },
    base_url: scimUrl(parts.public_url, id),
  }
}

/** Before a change commits, the key is proved again: revoking it, or switching the provider off, ends what is under way too. */
function confirmed(
  { proveDirectory }: ScimParts,
  { method, path }: ScimOperation,
  ctx: ScimCtx,
  request: FastifyRequest,
): ScimCtx {
  if (method === 'GET' || path.endsWith('/.search')) return ctx
  const findLoss = async () => {
    const now = await proveDirectory(keyIn(request) ?? '')
    const isOff = now?.directory?.enabled === false
    return isOff ? new Problem('forbidden', switchedOff) : lossOf(new Set(), now)
  }
  return { ...ctx, tx: confirmedTx(ctx.tx, { findLoss, recordLoss: async () => undefined }) }
}

const switchedOff = 'this identity provider is switched off; switch it on first'

/** On these paths alone a bearer token is a key. */
function keyIn({ headers }: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': key } = headers
  if (authorization !== undefined && key !== undefined) {
    throw new ScimProblem(400, 'the request carries both `Authorization` and `X-API-Key`; send only one of them')
  }
  if (authorization === undefined) return typeof key === 'string' ? key : undefined
  return /^bearer +(\S+)$/i.exec(authorization)?.[1]
}

function requireOwn(request: FastifyRequest, { tenant_id, tenant_suspended, directory }: Admission): void {
  const { identity_provider_id = '' } = request.params as Record<string, string>
  if (tenant_suspended) throw tenantSuspended()
  const named = findTenantHeader(request)
  if (named !== undefined && named !== tenant_id) {
    throw new ScimProblem(403, '`X-Tenant-ID` is not the tenant of the key')
  }
  // The same for every other id, so that no key shows which ids exist.
  if (readUuid(identity_provider_id) !== directory?.id) {
    throw new ScimProblem(403, 'the key is that of another identity provider than the one in the address')
  }
  if (!directory?.enabled) throw new ScimProblem(403, switchedOff)
}

function callOf(request: FastifyRequest) {
  return {
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    body: request.body,
    header: (name: string) => headerOf(request, name),
  }
}

function send(reply: FastifyReply, { status, body, etag, location }: ScimAnswer): FastifyReply {
  if (etag !== undefined) reply.header('etag', etag)
  if (location !== undefined) reply.header('location', location)
  reply.code(status)
  return body === undefined ? reply.send() : sendJson(reply, body)
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply
    .type(mediaType)
    .serializer((text: string) => text)
    .send(JSON.stringify(body))
}

/** Answers what is thrown as SCIM has it, and logs the service's own faults. */
function answerError(server: HttpServer) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { status, scimType, message } = thrown instanceof ScimProblem ? thrown : scimProblemOf(thrown)
    if (!(thrown instanceof ScimProblem)) {
      server.logFault(request, thrown)
      const problem = problemOf(thrown)
      if (problem.status === 429) setRetryHeaders(reply, problem)
    }
    if (status === 401) reply.header('www-authenticate', 'Bearer realm="sallyport"')
    if (status === 503) reply.header('retry-after', '1')
    return sendJson(reply.code(status), {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      ...(scimType !== undefined && { scimType }),
      detail: message,
    })
  }
}

/** An error of the service as SCIM has it. */
function scimProblemOf(thrown: unknown): ScimProblem {
  const problem = problemOf(thrown)
  const { code, status, message } = problem
  if (code === 'user_exists') return new ScimProblem(409, message, 'uniqueness')
  if (code === 'invalid_input') return new ScimProblem(400, describe(problem), 'invalidSyntax')
  return new ScimProblem(status, message)
}

/** The faulty fields are details elsewhere; SCIM has one sentence. */
function describe({ message, details }: Problem): string {
  const fields = (details?.fields ?? []) as { pointer: string; why: string }[]
  const [first] = Array.isArray(fields) ? fields : []
  return first === undefined ? message : `${first.pointer === '' ? 'the body' : `\`${first.pointer}\``} ${first.why}`
}
