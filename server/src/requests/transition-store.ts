import { sql } from '../db/sql.ts'
import { emit, emitEach, type NewEvent } from '../events/emit.ts'
import { endOfGrant, goesOn, isExtendable, withExtensions } from '../grants/extension-store.ts'
import { insertGrants, revokeGrantsOf, revokeGrantsOfAll } from '../grants/grant-store.ts'
import type { WorkItem } from '../jobs/claim.ts'
import { type Statement, systemActor, type Tx, type WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import type { Decision } from '../policy-engine/deciding/decide.ts'
import { rulesAreStill } from '../policy-engine/deciding/rule-set-store.ts'
import { isActive } from '../users/active-store.ts'
import type { EndAccess, EndedAccess } from '../users/lifecycle.ts'
import { scopesAsArray } from '../users/user-store.ts'
import { keepDecision } from './decision-store.ts'
import type { Circumstances, RequestedAccess } from './policy-question.ts'
import { insertReminder } from './reminder-store.ts'
import { type AccessRequest, maxPendingRequests } from './request.ts'
import { asRequest, type RequestRow, requestColumns } from './request-store.ts'
import type { Risk } from './risk.ts'

/** A request to store, already decided by policy. */
export type DecidedRequest = {
  requester_id: string
  requested: Omit<RequestedAccess, 'id'>
  when: Circumstances
  risk: Risk
  pending_ttl_seconds: number
  /** The time until the approvers are first reminded; 0: never. */
  reminder_seconds: number
  /** No user may decide it: an event says so. */
  unapprovable: boolean
}

/**
 * Stores a request with its decision, its events, and its grants where it is approved at once. One guarded statement: undefined
 * when the rules changed since the evaluation, the requester is no longer active, or what it extends can no longer be extended. A
 * deactivation of the requester at the same moment comes either before the statement, or after it and then ends the request.
 * @throws Problem 422 when the request would wait, and the requester has `maxPendingRequests` that do
 */
export async function insertRequest(
  ctx: WorkCtx,
  { requester_id, requested, when, risk, pending_ttl_seconds, reminder_seconds, unapprovable }: DecidedRequest,
  decision: Decision,
): Promise<AccessRequest | undefined> {
  const { tx } = ctx
  const id = newId()
  const atOnce = decision.mode !== 'require'
  const saved = sql`saved`
  const requester = sql`from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${requester_id}`
  const { extension } = requested
  const data = { approval_mode: decision.mode, ...(extension !== undefined && { extends: extension.grant_id }) }
  const subject = { subject_type: 'request', subject_id: id, data }
  const deadline = sql`clock_timestamp() + make_interval(secs => ${pending_ttl_seconds})`
  const decidedBy = extension === undefined ? deadline : sql`least(${deadline}, ${endOfGrant(tx, extension.grant_id)})`
  const events: NewEvent[] = [{ type: 'request.created', ...subject }]
  if (unapprovable) events.push({ type: 'request.unapprovable', ...subject })
  if (atOnce) events.push({ type: 'request.approved', ...subject, by: systemActor })
  if (decision.mode === 'break_glass') events.push({ type: 'request.break_glass', ...subject })
  const [, [row]] = await tx.write([
    // A statement of its own, so that the next one sees what the lock waited for. What is approved at once is not counted.
    sql`select u.id ${requester} for ${atOnce && extension === undefined ? sql`share` : sql`no key update`}`,
    sql<RequestRow & { is_full: boolean }>`with bound as materialized (
        select ${atOnce ? sql`false` : hasMaxPending(tx, requester_id)} as is_full),
      saved as (
        insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, reason, status,
          decision_reasoning, approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via,
          source_ip, created_at, updated_at, risk, risk_reasons, extends, held_seconds, next_look_at)
        select ${tx.tenant_id}::uuid, ${id}::uuid, u.id, ${requested.resource.type}::text,
          ${requested.resource.id}::text, ${requested.action}::text, ${requested.reason}::text,
          ${atOnce ? 'approved' : 'pending'}::text,
          ${atOnce ? decision.reasoning : null}::text, ${decision.mode}::text, ${requested.break_glass}::boolean,
          ${durationOf(requested)}::integer, ${JSON.stringify(requested.metadata)}::jsonb,
          ${decision.audit_session}::boolean, ${JSON.stringify(requested.places)}::jsonb, ${when.via}::text,
          ${when.source_ip}::text, ${when.now.toISOString()}::timestamptz, ${when.now.toISOString()}::timestamptz,
          ${risk.risk}::text, ${risk.risk_reasons}::text[], ${extension?.grant_id}::uuid,
          ${extension?.held_seconds}::integer, case when ${!atOnce}::boolean then ${decidedBy} end
        ${requester} and ${isActive(sql`u`)} and ${rulesAreStill(tx, decision.rule_set_version)}
          and not (select is_full from bound) and ${extension === undefined ? sql`true` : isExtendable(tx, extension)}
        for share of u
        returning *),
      kept as (${keepDecision(tx, decision, { kind: 'ask', principal_id: requester_id, requested, when }, saved)}),
      granted as (${atOnce ? insertGrants(requested.places, requested.action, saved) : sql`select 1`}),
      reminded as (${insertReminder(tx, reminder_seconds, saved)}),
      emitted as (${emit(ctx, events, saved)})
      select ${requestColumns}, is_full from bound left join saved on true`,
  ])
  const { is_full, ...request } = row ?? { is_full: false, id: null }
  if (is_full) throw tooManyPending()
  return request.id === null ? undefined : asRequest(request)
}

/** The duration that was requested: of an extension, without the time before it. */
function durationOf({ duration_seconds, extension }: Omit<RequestedAccess, 'id'>): number {
  return duration_seconds - (extension?.held_seconds ?? 0)
}

function hasMaxPending(tx: Tx, requester_id: string): Statement {
  return sql`(select count(*) from (
    select from access_request where tenant_id = ${tx.tenant_id} and requester_id = ${requester_id}
      and status = 'pending' limit ${maxPendingRequests}) pending) >= ${maxPendingRequests}`
}

const tooManyPending = () =>
  new Problem(
    'unprocessable',
    `you have ${maxPendingRequests} pending requests, the most that a user may have: cancel one, or wait until one is decided`,
  )

/** A person's decision about a pending request. */
export type PersonsDecision = {
  status: 'approved' | 'denied'
  decided_by: string
  reasoning: string | null
  /** The shorter duration that the person gives; null: the requested one. */
  duration_seconds: number | null
  requested: RequestedAccess
  when: Circumstances
  /** Policy's decision that this person may decide. */
  permitted: Decision
}

/** The state of a request that is no longer pending, or is still pending but past its deadline. */
type RequestState = Pick<AccessRequest, 'status' | 'decided_by'>

/** The saved request, or the guard that refused the decision. */
export type SavedDecision =
  | { saved: AccessRequest }
  | { refused: 'may_not_decide' | 'rules_changed' }
  | { refused: 'not_pending'; now: RequestState }

type DecisionRow = RequestRow & {
  held_status: AccessRequest['status']
  held_by: string | null
  is_waiting: boolean
  may_decide: boolean
}

/**
 * pending → approved (with its grants) or denied, with the decision and the event. One guarded statement: it saves nothing where
 * the request is no longer pending, where the rules changed since the evaluation, or where the person is no longer active or
 * no approver. The person is locked before: a suspension, deactivation or demotion commits either before that and refuses the
 * decision, or after it.
 * INVARIANT: a transaction locks users before requests, so no deadlock occurs.
 */
export async function saveDecision(ctx: WorkCtx, decision: PersonsDecision): Promise<SavedDecision> {
  const { tx } = ctx
  const { requested, status, decided_by, duration_seconds, permitted, when } = decision
  const decided = sql`decided`
  const question = { kind: 'approve', principal_id: decided_by, requested, when } as const
  const subject = { subject_type: 'request', subject_id: requested.id } as const
  const data = { ...(duration_seconds !== null && { approved_duration_seconds: duration_seconds }) }
  const event = { type: `request.${status}`, ...subject, data } as const
  const person = sql`from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${decided_by}`
  const { extension } = requested
  const goesOnToBeExtended = extension === undefined ? sql`true` : goesOn(tx, extension.grant_id)
  const [, [row]] = await tx.write([
    // A statement of its own, so that the next one sees what the lock waited for.
    sql`select u.id ${person} for share`,
    sql<DecisionRow>`with held as materialized (
        select status as held_status, decided_by as held_by,
          status = 'pending' and next_look_at > clock_timestamp() and ${goesOnToBeExtended} as is_waiting,
          exists (select ${person} and ${isActive(sql`u`)}
            and 'requests:approve' = any(${scopesAsArray(tx)})) as may_decide
        from access_request where tenant_id = ${tx.tenant_id} and id = ${requested.id}
        for no key update),
      decided as (
        update access_request set status = ${status}, decided_by = ${decided_by}, next_look_at = null,
          decision_reasoning = ${decision.reasoning}, approved_duration_seconds = ${duration_seconds}::integer,
          updated_at = clock_timestamp()
        from held where tenant_id = ${tx.tenant_id} and id = ${requested.id} and status = 'pending' and is_waiting
          and may_decide and ${rulesAreStill(tx, permitted.rule_set_version)}
        returning access_request.*),
      kept as (${keepDecision(tx, permitted, question, decided)}),
      granted as (${status === 'approved' ? insertGrants(requested.places, requested.action, decided) : sql`select 1`}),
      emitted as (${emit(ctx, event, decided)})
      select ${requestColumns}, held_status, held_by, is_waiting, may_decide
      from held left join decided on true`,
  ])
  if (row === undefined) throw new Error('a request that was read is gone')
  const { held_status, held_by, is_waiting, may_decide, ...request } = row
  if (!may_decide) return { refused: 'may_not_decide' }
  if (!is_waiting) return { refused: 'not_pending', now: { status: held_status, decided_by: held_by } }
  return request.id === null ? { refused: 'rules_changed' } : { saved: asRequest(request) }
}

/** Only inside `interactive`: nothing else changes the request until its end. */
export async function lockRequest(tx: Tx, id: string): Promise<void> {
  await tx.write([sql`select from access_request where tenant_id = ${tx.tenant_id} and id = ${id} for no key update`])
}

/** pending → cancelled. Returns undefined, or the state of the request where it was no longer pending. */
export async function cancelPendingRequest(ctx: WorkCtx, id: string): Promise<RequestState | undefined> {
  const { tx } = ctx
  const [cancelled, [now]] = await tx.write([
    leavePending(ctx, id, 'cancelled', sql`true`),
    sql<RequestState>`select status, decided_by from access_request where tenant_id = ${tx.tenant_id} and id = ${id}`,
  ])
  if (now === undefined) throw new Error('a request that was read is gone')
  return cancelled.length > 0 ? undefined : now
}

/** The statement that cancels a pending request to extend the grant, or what extends it, because the grant ends before its time. */
export function cancelExtension(ctx: WorkCtx, grant_id: string): Statement {
  const data = { reason: 'the access that it extends was ended' }
  return cancelling(ctx, sql`extends = any(${withExtensions(ctx.tx, grant_id)})`, data)
}

/** pending → expired, for the worker that holds the lease, once the deadline has passed by the database's clock. */
export async function expirePendingRequest(ctx: WorkCtx, item: WorkItem): Promise<void> {
  const over = sql`next_look_at <= clock_timestamp() and generation = ${item.generation}::bigint`
  await ctx.tx.write([leavePending(ctx, item.id, 'expired', over)])
}

function leavePending(
  ctx: WorkCtx,
  id: string,
  status: 'cancelled' | 'expired',
  condition: Statement,
): Statement<{ id: string }> {
  return sql<{ id: string }>`with ended as (
      update access_request set status = ${status}, next_look_at = null, lease_until = null,
        updated_at = clock_timestamp()
      where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and status = 'pending' and ${condition}
      returning id),
    emitted as (${emit(ctx, { type: `request.${status}`, subject_type: 'request', subject_id: id }, sql`ended`)})
    select id from ended`
}

/**
 * Ends the pending requests and the grants of a user, whom the transaction has locked before. Requests come first: where one is
 * approved at the same moment, its grants are then found. The transaction runs both in this order, in one round trip.
 */
export const endAccessOf: EndAccess = async (ctx, user_id, reasons) => {
  const [requests_cancelled, grants_ended] = await Promise.all([
    cancelRequests(ctx, sql`requester_id = ${user_id}`, reasons.cancelled),
    revokeGrantsOf(ctx, user_id, reasons.revoked),
  ])
  return { requests_cancelled, grants_ended }
}

/**
 * The same for several users, and for what everybody requested or holds in these accounts. The transaction has locked the users and the
 * holders before.
 */
export async function endAccessOfAll(
  ctx: WorkCtx,
  whose: { user_ids: readonly string[]; account_ids: readonly string[] },
  reasons: { cancelled: string; revoked: string },
): Promise<EndedAccess> {
  const [user_ids, account_ids] = [[...whose.user_ids], [...whose.account_ids]]
  const which = sql`(requester_id = any(${user_ids}::uuid[]) or exists (
    select from jsonb_to_recordset(places) as place (account_id text)
    where place.account_id = any(${account_ids}::text[])))`
  const requests_cancelled = await cancelRequests(ctx, which, reasons.cancelled)
  return { requests_cancelled, grants_ended: await revokeGrantsOfAll(ctx, whose, reasons.revoked) }
}

async function cancelRequests(ctx: WorkCtx, which: Statement, reason: string): Promise<number> {
  const [[cancelled]] = await ctx.tx.write([cancelling(ctx, which, { reason })])
  return cancelled?.count ?? 0
}

function cancelling(ctx: WorkCtx, which: Statement, data: { reason: string }): Statement<{ count: number }> {
  return sql<{ count: number }>`with ended as (
      update access_request set status = 'cancelled', next_look_at = null, lease_until = null,
        updated_at = clock_timestamp()
      where tenant_id = ${ctx.tx.tenant_id} and ${which} and status = 'pending'
      returning id, id as request_id),
    emitted as (${emitEach(ctx, { type: 'request.cancelled', subject_type: 'request', data }, sql`ended`)})
    select count(*)::integer as count from ended`
}
