import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { Database } from '../db/transaction.ts'
import {
  type Actor,
  type Bell,
  type Ctx,
  type Egress,
  type ProviderSignIn,
  type Sealer,
  systemActor,
  type Tokens,
} from '../kernel/context.ts'
import { invalidInput, notFound, Problem } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { pageLimit, pageOf } from '../kernel/page.ts'
import { type Answer, answerOnce, type KeyedAnswer } from './answer-once.ts'
import type { CursorCodec } from './cursor.ts'
import { keyedCall, readKey, takesKey } from './idempotency-key.ts'
import type { Limits } from './limits.ts'
import type { Operation, Page } from './operation.ts'
import { type Check, compileCheck, jsonSchemaOf, readQuery } from './schema.ts'

/** What a credential proves. */
export type Admission = { tenant_id: string; actor: Actor; via: 'token' | 'api_key'; now: Date }

/** The credential as it came; at most one is there. */
export type PresentedCredential = { authorization: string | undefined; api_key: string | undefined }

/** What the pipeline needs of the slices, given by `app.ts`. */
export type PipelineParts = {
  database: Database
  cursors: CursorCodec
  tokens: Tokens
  sealer: Sealer
  egress: Egress
  public_url: string
  providerSignIn: ProviderSignIn
  bell: Bell
  /**
   * Undefined when the credential is missing, malformed, unknown, expired or revoked: which of them is not told.
   * @throws Problem 429 where `address` brought too many that are not valid
   */
  authenticate(presented: PresentedCredential, address: string): Promise<Admission | undefined>
  /** Forgets what was kept of the rights of a tenant's people. */
  dropAdmissions(tenant_id: string): void
  /** Keeps a refusal in the audit log of the credential's own tenant. */
  recordRefusal(ctx: Ctx, operationId: string, problem: Problem): Promise<void>
  /** Something was written: whoever acts on it afterwards should look now. */
  afterWrite(): void
}

/** The tenant that no row belongs to: operations without a tenant see nothing. */
const noTenant = '00000000-0000-0000-0000-000000000000'

/**
 * What every operation passes, in this order: one header each → credential → limits → tenant named → tenant match →
 * permission, all before the body is read; then body and query → run. The reply schema and the error reply follow in `server.ts`.
 */
export function pipeline(parts: PipelineParts, limits: Limits, operationId: string, operation: Operation) {
  const checks = {
    query: operation.query === undefined ? undefined : compileCheck(operation.query),
    body: operation.body === undefined ? undefined : compileCheck(operation.body),
  }

  /** Everything that can be said before the body is read. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<Ctx> {
    requireSingleHeaders(request.raw.rawHeaders)
    if (operation.limitedBy !== undefined) limits.meet(operation.limitedBy, request.ip)
    const admission = await findAdmission(parts, operation, request)
    if (admission !== undefined) limits.admit(admission, reply)
    const tenant_id = operation.credential === 'none' ? noTenant : requireTenantHeader(request)
    const ctx: Ctx = {
      tx: parts.database.tenant(admission?.tenant_id ?? tenant_id),
      actor: admission?.actor ?? systemActor,
      now: admission?.now ?? new Date(),
      via: admission?.via ?? 'token',
      source_ip: request.ip,
      request_id: request.id,
      tokens: parts.tokens,
      sealer: parts.sealer,
      egress: parts.egress,
      public_url: parts.public_url,
      providerSignIn: parts.providerSignIn,
      bell: parts.bell,
    }
    const refusal = admission === undefined ? undefined : findRefusal(admission, tenant_id, operation)
    if (refusal !== undefined) {
      await parts.recordRefusal(ctx, operationId, refusal)
      throw refusal
    }
    return ctx
  }

  /**
   * Path, query and body against their schemas, then the operation itself. Answers what it answered; with an
   * `Idempotency-Key` what `finish` makes of that, or has made of it before.
   */
  async function run(
    ctx: Ctx,
    request: FastifyRequest,
    finish: (body: unknown) => Answer,
  ): Promise<{ body: unknown } | KeyedAnswer> {
    const key = takesKey(operation) ? readKey(headerOf(request, 'idempotency-key')) : undefined
    const params = readParams(operation.params, request.params as Record<string, string>)
    const query = operation.query === undefined ? undefined : readQuery(operation.query, request.query)
    requireValid(checks.query, query)
    const body = request.body ?? (checks.body?.({}).length === 0 ? {} : undefined)
    requireValid(checks.body, body)
    const page = readPage(parts.cursors, [ctx.tx.tenant_id, operationId, JSON.stringify(params)], query ?? {})
    const header = (name: string) => headerOf(request, name)
    const input = { params, query, body, page, header, sent: request.sentBody } as never
    const answer = await thenDrop(ctx, async () => {
      if (key === undefined) return { body: await operation.run(ctx, input) }
      const asked = { query, body, if_match: header('if-match') }
      const call = keyedCall(key, { tenant_id: ctx.tx.tenant_id, actor: ctx.actor }, { operationId, params, asked })
      return answerOnce(ctx, call, async (inside) => finish(await operation.run(inside, input)))
    })
    if (operation.method !== 'GET') parts.afterWrite()
    return answer
  }

  /** Whatever comes of it: something may have been committed before it failed. */
  async function thenDrop<Result>(ctx: Ctx, work: () => Promise<Result>): Promise<Result> {
    try {
      return await limits.counted(operation.limitedBy, ctx.source_ip, work)
    } finally {
      if (operation.changes === 'authority') parts.dropAdmissions(ctx.tx.tenant_id)
    }
  }

  return { admit, run, mayGoOn: (ctx: Ctx, request: FastifyRequest) => mayGoOn(parts, operation, ctx, request) }
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

async function findAdmission(
  parts: PipelineParts,
  operation: Operation,
  request: FastifyRequest,
): Promise<Admission | undefined> {
  if (operation.credential === 'none' || operation.credential === 'tenant') return undefined
  const { authorization } = request.headers
  const api_key = request.headers['x-api-key'] as string | undefined
  if (authorization !== undefined && api_key !== undefined) {
    throw new Problem(
      'ambiguous_credentials',
      'the request carries `Authorization` and `X-API-Key`; leave out the one you do not mean',
    )
  }
  const admission = await parts.authenticate({ authorization, api_key }, request.ip)
  if (admission === undefined) {
    throw new Problem('unauthenticated', 'the credential is missing or not valid; send a token or an API key')
  }
  if (operation.credential === 'user' && admission.actor.kind !== 'user') {
    throw new Problem('unauthenticated', 'this belongs to a person; send a token, an API key is no credential here')
  }
  return admission
}

/** Whether what the caller began may go on: asked as if it began now. */
async function mayGoOn(parts: PipelineParts, operation: Operation, { tx }: Ctx, request: FastifyRequest) {
  const admission = await findAdmission(parts, operation, request).catch(() => undefined)
  return admission !== undefined && findRefusal(admission, tx.tenant_id, operation) === undefined
}

function findRefusal(admission: Admission, tenant_id: string, operation: Operation): Problem | undefined {
  if (admission.tenant_id !== tenant_id) {
    return new Problem('tenant_mismatch', '`X-Tenant-ID` is not the tenant of the credential')
  }
  if (operation.scope !== null && !admission.actor.scopes.has(operation.scope)) {
    return new Problem('forbidden', `this needs the scope \`${operation.scope}\``, {
      details: { scope: operation.scope },
    })
  }
  return undefined
}

const singleHeaders = new Set(['authorization', 'x-api-key', 'x-tenant-id'])

/** Node keeps the first of two credentials and joins two tenants without a word: either would be a guess. */
function requireSingleHeaders(rawHeaders: readonly string[]): void {
  const seen = new Set<string>()
  for (const [index, name] of rawHeaders.entries()) {
    const header = name.toLowerCase()
    if (index % 2 === 1 || !singleHeaders.has(header)) continue
    if (seen.has(header)) {
      throw new Problem('ambiguous_credentials', `the header \`${name}\` is there twice; leave one of them out`)
    }
    seen.add(header)
  }
}

function requireTenantHeader(request: FastifyRequest): string {
  const header = request.headers['x-tenant-id']
  const tenant_id = typeof header === 'string' ? readUuid(header) : undefined
  if (tenant_id === undefined) {
    const why = header === undefined ? 'is required' : 'must be a uuid with hyphens and nothing else'
    throw invalidInput([{ pointer: 'X-Tenant-ID', why }])
  }
  return tenant_id
}

/** Path parts that are declared as uuids address no record in any other form; the rest pass as the text they decode to. */
function readParams(schema: TSchema | undefined, raw: Record<string, string>): Record<string, string> {
  const { properties = {} } = schema === undefined ? {} : jsonSchemaOf(schema)
  const params: Record<string, string> = {}
  for (const [name, text] of Object.entries(raw)) {
    const read = properties[name]?.format === 'uuid' ? readUuid(text) : text
    if (read === undefined) throw notFound('record')
    params[name] = read
  }
  return params
}

function requireValid(check: Check | undefined, value: unknown): void {
  if (check === undefined) return
  const fields = value === undefined ? [{ pointer: '', why: 'is required: send a JSON body' }] : check(value)
  if (fields.length > 0) throw invalidInput(fields)
}

/** `list` names the list whose page it is; its filters are part of that name. */
function readPage(cursors: CursorCodec, list: readonly string[], query: Record<string, unknown>): Page {
  const { limit: asked, cursor, ...filters } = query as { limit?: number; cursor?: string }
  const limit = pageLimit(asked)
  const boundTo = [...list, JSON.stringify(Object.entries(filters).sort())]
  return {
    limit,
    after: cursor === undefined ? undefined : cursors.open(cursor, boundTo),
    of: (rows, keyOf) => pageOf(rows, limit, keyOf, (key) => cursors.seal(key, boundTo)),
  }
}
