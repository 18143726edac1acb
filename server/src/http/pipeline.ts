import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { Database } from '../db/transaction.ts'
import {
  type Ctx,
  type Discovery,
  type Egress,
  type ProviderSignIn,
  type Sealer,
  type StreamHub,
  systemActor,
  type Tokens,
} from '../kernel/context.ts'
import { invalidInput, notFound, type Problem, refusesRights } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { pageLimit, pageOf, replyOf } from '../kernel/page.ts'
import {
  type Admission,
  type Authenticate,
  findAdmission,
  findRefusal,
  findTenantHeader,
  type Prove,
  presentedCredential,
  requireSingleHeaders,
  requireTenantHeader,
} from './admission.ts'
import type { Answer, KeyedAnswer } from './answer-once.ts'
import { type AroundEntries, carryOut } from './carry-out.ts'
import { confirmedTx, lossOf } from './confirmed-tx.ts'
import { type CursorCodec, resumeTokensOf } from './cursor.ts'
import { keyedCall, readKey, takesKey } from './idempotency-key.ts'
import type { Limits } from './limits.ts'
import type { Operation, Page } from './operation.ts'
import { headerOf } from './request-header.ts'
import { type Check, compileCheck, jsonSchemaOf, readQuery } from './schema.ts'
import type { SessionCookie } from './session-cookie.ts'
import { callerAddress } from './source.ts'

/** The pipeline's dependencies, provided by `app.ts`. */
export type PipelineParts = {
  database: Database
  cursors: CursorCodec
  tokens: Tokens
  sealer: Sealer
  egress: Egress
  public_url: string
  sends_mail: boolean
  providerSignIn: ProviderSignIn
  discovery: Discovery
  streams: StreamHub
  authenticate: Authenticate
  prove: Prove
  sessionCookie: SessionCookie
  /** Drops the cached rights of a tenant's users. */
  dropAdmissions(tenant_id: string): void
  /** Records a refusal in the audit log of the credential's own tenant. */
  recordRefusal(ctx: Ctx, operationId: string, problem: Problem): Promise<void>
  /** Called after a write: workers that act on it should check for work now. */
  afterWrite(): void
}

type Target = { parts: PipelineParts; operationId: string; operation: Operation }

/** A tenant without rows: operations without a tenant see nothing. */
const noTenant = '00000000-0000-0000-0000-000000000000'

/**
 * The steps of every operation, in this order: single headers → credential → rate limits → tenant header → tenant match →
 * permission, all before the body is read; then, for a change, the credential again → body and query → run. The reply schema and
 * the error reply follow in `server.ts`.
 */
export function pipeline(parts: PipelineParts, limits: Limits, operationId: string, operation: Operation) {
  const target = { parts, operationId, operation }
  const checks = {
    query: operation.query === undefined ? undefined : compileCheck(operation.query),
    body: operation.body === undefined ? undefined : compileCheck(operation.body),
  }

  /** All checks that come before the body is read. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<Ctx> {
    // A cache on the way may not know that a cookie or a key is a credential; and the answer to a sign-in is a secret.
    // What is counted without a credential is meant for the caller alone.
    const isPublic = operation.credential === 'none' && operation.method === 'GET' && operation.limitedBy === undefined
    if (!isPublic) reply.header('cache-control', 'no-store')
    requireSingleHeaders(request.raw.rawHeaders)
    if (operation.limitedBy !== undefined) limits.meet(operation.limitedBy, callerAddress(request))
    // A browser that forgets its cookie does not send it again and again.
    const forgetCookie = () => setCookie(reply, parts.sessionCookie.clear())
    const admission = await findAdmission(parts, operation, request, forgetCookie)
    if (admission !== undefined) limits.admit(admission, reply)
    const tenant_id = tenantOf(operation, admission, request)
    const ctx = contextOf(parts, { request, reply, admission, tenant_id })
    if (admission !== undefined) await requireAllowed(target, ctx, admission, tenant_id)
    return ctx
  }

  /**
   * Checks path, query and body against their schemas, then runs the operation. Returns the operation's result. With an
   * `Idempotency-Key`, returns what `finish` makes of the result, or made of it in an earlier call.
   */
  async function run(
    admitted: Ctx,
    request: FastifyRequest,
    finish: (body: unknown) => Answer,
  ): Promise<{ body: unknown } | KeyedAnswer> {
    const again = await admitAgain(target, admitted, request)
    const key = takesKey(operation) ? readKey(headerOf(request, 'idempotency-key')) : undefined
    const params = readParams(operation.params, request.params as Record<string, string>)
    const query = operation.query === undefined ? undefined : readQuery(operation.query, request.query)
    requireValid(checks.query, query)
    const body = operation.withoutIgnored(request.body ?? (checks.body?.({}).length === 0 ? {} : undefined))
    requireValid(checks.body, body)
    const ctx = inNamedTenant(target, again, body)
    const list = [ctx.tx.tenant_id, operationId, JSON.stringify(params)]
    const page = readPage(parts.cursors, list, query ?? {})
    const resumeTokens = resumeTokensOf(parts.cursors, [...list, 'stream', ctx.actor.user_id ?? ''])
    const header = (name: string) => headerOf(request, name)
    const input = { params, query, body, page, resumeTokens, header, sent: request.sentBody }
    const asked = { query, body, if_match: header('if-match') }
    const caller = { ...ctx, tenant_id: ctx.tx.tenant_id }
    const called = { operationId, params, asked, ofSession: operation.keyOfSession }
    const call = key === undefined ? undefined : keyedCall(key, caller, called)
    const around = aroundEntries(target, admitted, request)
    const work = () => carryOut({ operation, ctx, input, call, finish, around })
    const answer = await thenDrop(ctx, () => recordingRefusal(target, admitted, work))
    if (operation.method !== 'GET') parts.afterWrite()
    return answer
  }

  /** Drops admissions even when the work fails: it may have committed something first. */
  async function thenDrop<Result>(ctx: Ctx, work: () => Promise<Result>): Promise<Result> {
    try {
      return await limits.counted(operation.limitedBy, ctx.source_ip, work)
    } finally {
      if (operation.changes === 'authority') parts.dropAdmissions(ctx.tx.tenant_id)
    }
  }

  return { admit, run, mayGoOn: (ctx: Ctx, request: FastifyRequest) => mayGoOn(target, ctx, request) }
}

type Admitted = {
  request: FastifyRequest
  reply: FastifyReply
  /** Undefined for an operation without a credential. */
  admission: Admission | undefined
  tenant_id: string
}

function contextOf(parts: PipelineParts, { request, reply, admission, tenant_id }: Admitted): Ctx {
  const { tokens, sealer, egress, public_url, sends_mail, providerSignIn, discovery, streams } = parts
  return {
    tx: parts.database.tenant(admission?.tenant_id ?? tenant_id),
    actor: admission?.actor ?? systemActor,
    now: admission?.now ?? new Date(),
    via: admission?.via === 'api_key' ? 'api_key' : 'token',
    session: admission?.session ?? null,
    setCookie: (text) => setCookie(reply, text),
    dropAdmissions: parts.dropAdmissions,
    source_ip: callerAddress(request),
    request_id: request.id,
    ...{ tokens, sealer, egress, public_url, sends_mail, providerSignIn, discovery, streams },
  }
}

/** Proxies must not give one person's cookie to another. */
function setCookie(reply: FastifyReply, text: string): void {
  reply.header('set-cookie', text).header('cache-control', 'no-store')
}

function aroundEntries(target: Target, admitted: Ctx, request: FastifyRequest): AroundEntries {
  return {
    admitAgain: () => admitAgain(target, admitted, request),
    recordingRefusal: (ctx, work) => recordingRefusal(target, ctx, work),
    logFault: (thrown, entry) => request.server.logFault(request, thrown, { entry }),
    afterWrite: target.parts.afterWrite,
  }
}

/**
 * @throws Problem 403 where the admission does not allow the operation in this tenant; the refusal is recorded. Calls to a suspended tenant
 *   are not: its suspension is on record, and programs would call for as long as it lasts.
 */
async function requireAllowed(
  { parts, operationId, operation }: Target,
  ctx: Ctx,
  admission: Admission,
  tenant_id: string,
): Promise<void> {
  const refusal = findRefusal(admission, tenant_id, operation)
  if (refusal === undefined) return
  if (!admission.tenant_suspended) await recordOnce({ parts, operationId }, ctx, refusal)
  throw refusal
}

/** What an operation refuses for missing rights, and has not recorded itself. */
async function recordingRefusal<Result>(target: Target, ctx: Ctx, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (refusesRights(thrown) && ctx.actor.kind !== 'system') await recordOnce(target, ctx, thrown)
    throw thrown
  }
}

async function recordOnce({ parts, operationId }: Pick<Target, 'parts' | 'operationId'>, ctx: Ctx, refusal: Problem) {
  if (refusal.isRecorded) return
  refusal.isRecorded = true
  await parts.recordRefusal(ctx, operationId, refusal)
}

/**
 * Admits the caller of a change again when the body has arrived: a body may take its time, and the caller's rights may have ended
 * meanwhile. What an administrator changes, and what persons change of their own, is also confirmed before it commits.
 */
async function admitAgain(target: Target, before: Ctx, request: FastifyRequest): Promise<Ctx> {
  const { parts, operation } = target
  const admission = operation.method === 'GET' ? undefined : await findAdmission(parts, operation, request)
  if (admission === undefined) return before
  const { actor, now, session } = admission
  const ctx = { ...before, actor, now, session }
  await requireAllowed(target, ctx, admission, ctx.tx.tenant_id)
  if (!operation.confirms) return ctx
  // What is one's own needs no scope: a person who lost one meanwhile goes on.
  const needed = operation.scope === null ? new Set<string>() : actor.scopes
  const findLoss = async () => lossOf(needed, await parts.prove(presentedCredential(request, parts.sessionCookie)))
  const recordLoss = (loss: Problem) => recordOnce(target, ctx, loss)
  return { ...ctx, tx: confirmedTx(ctx.tx, { findLoss, recordLoss }) }
}

/** A cookie names the tenant itself. Beside a credential in a header, and where there is none, the caller names it. */
function tenantOf({ credential, tenantHeader }: Operation, admission: Admission | undefined, request: FastifyRequest) {
  if (credential === 'none') return noTenant
  const isKnown = admission !== undefined && (admission.via === 'session' || tenantHeader === 'optional')
  return isKnown ? (findTenantHeader(request) ?? admission.tenant_id) : requireTenantHeader(request)
}

/** For a caller without a credential whose body names the tenant, such as by a challenge of this service. */
function inNamedTenant({ parts, operation }: Target, ctx: Ctx, body: unknown): Ctx {
  const tenant_id = operation.tenantIn?.(body as never)
  return tenant_id === undefined ? ctx : { ...ctx, tx: parts.database.tenant(tenant_id) }
}

/** Reauthorizes a running stream: whether the caller could begin it now. */
async function mayGoOn({ parts, operation }: Target, { tx, actor }: Ctx, request: FastifyRequest) {
  const admission = await findAdmission(parts, operation, request).catch(() => undefined)
  if (admission === undefined || findRefusal(admission, tx.tenant_id, operation) !== undefined) return false
  return !operation.endsWithScopes || actor.scopes.symmetricDifference(admission.actor.scopes).size === 0
}

/** A path parameter declared as uuid that is no uuid addresses no record. Other parameters pass as their decoded text. */
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

/** `list` identifies the list; the filters are part of its identity. */
function readPage(cursors: CursorCodec, list: readonly string[], query: Record<string, unknown>): Page {
  const { limit: requested, cursor, ...filters } = query as { limit?: number; cursor?: string }
  const limit = pageLimit(requested)
  const boundTo = [...list, JSON.stringify(Object.entries(filters).sort())]
  const seal = (key: readonly string[]) => cursors.seal(key, boundTo)
  return {
    limit,
    after: cursor === undefined ? undefined : cursors.open(cursor, boundTo),
    of: (rows, keyOf) => pageOf(rows, limit, keyOf, seal),
    reply: (found) => replyOf(found, seal),
  }
}
