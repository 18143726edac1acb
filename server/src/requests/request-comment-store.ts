import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { isActive } from '../users/active-store.ts'
import { personName } from '../users/person-name-store.ts'
import { scopesAsArray } from '../users/user-store.ts'
import type { AccessRequest } from './request.ts'
import { maxComments, type RequestComment } from './request-comment.ts'

/** How many comments a request (a value or a column) has: a value to embed in another statement. */
export function commentCount(tx: Tx, request_id: Statement): Statement {
  return sql`(select count(*)::integer from request_comment c
    where c.tenant_id = ${tx.tenant_id}::uuid and c.request_id = ${request_id})`
}

const commentColumns = sql`c.id, c.request_id, c.author_id, c.text, c.created_at`

/** The stored comment, or the guard that refused it. */
export type SavedComment =
  | { saved: RequestComment }
  | { refused: 'may_not_comment' | 'is_full' }
  | { refused: 'not_pending'; now: Pick<AccessRequest, 'status' | 'decided_by'> }

type SavedRow = RequestComment & {
  held_status: AccessRequest['status']
  held_by: string | null
  is_waiting: boolean
  may_comment: boolean
}

/**
 * Stores a comment with its event. One guarded statement: it stores nothing where the request is no longer pending, where it has
 * `maxComments`, or where the author is no longer active, or neither the requester nor a holder of the scope to decide. It does not ask
 * whether the rules are still those by which the author might decide: a comment gives nothing.
 * INVARIANT: a transaction locks users before requests, so no deadlock occurs.
 */
export async function saveComment(
  ctx: WorkCtx,
  { request_id, author_id, text }: Pick<RequestComment, 'request_id' | 'author_id' | 'text'>,
): Promise<SavedComment> {
  const { tx } = ctx
  const id = newId()
  const author = sql`from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${author_id}`
  const request = sql`from access_request a where a.tenant_id = ${tx.tenant_id} and a.id = ${request_id}`
  const subject = { subject_type: 'request', subject_id: request_id } as const
  // INVARIANT: never the text. Events are for webhooks and the audit log, and cannot be taken back.
  const event = { type: 'request.commented', ...subject, data: { comment_id: id } } as const
  const [, , [row]] = await tx.write([
    // Statements of their own, so that the next one sees what the locks waited for, and counts it.
    sql`select u.id ${author} for share`,
    sql`select a.id ${request} for no key update`,
    sql<SavedRow>`with held as materialized (
        select a.status as held_status, a.decided_by as held_by,
          a.status = 'pending' and a.next_look_at > clock_timestamp() as is_waiting,
          exists (select ${author} and ${isActive(sql`u`)}
            and (u.id = a.requester_id or 'requests:approve' = any(${scopesAsArray(tx)}))) as may_comment,
          ${commentCount(tx, sql`a.id`)} as comments
        ${request}),
      saved as (
        insert into request_comment (tenant_id, id, request_id, nth, author_id, text)
        select ${tx.tenant_id}::uuid, ${id}::uuid, ${request_id}::uuid, comments + 1, ${author_id}::uuid, ${text}::text
        from held where is_waiting and may_comment and comments < ${maxComments}
        returning *),
      emitted as (${emit(ctx, event, sql`saved`)})
      select ${commentColumns}, ${personName(tx, sql`c.author_id`)} as author_name, held_status, held_by,
        is_waiting, may_comment
      from held left join saved c on true`,
  ])
  if (row === undefined) throw new Error('a request that was read is gone')
  const { held_status, held_by, is_waiting, may_comment, ...saved } = row
  if (!may_comment) return { refused: 'may_not_comment' }
  if (!is_waiting) return { refused: 'not_pending', now: { status: held_status, decided_by: held_by } }
  return saved.id === null ? { refused: 'is_full' } : { saved }
}

/**
 * One page of the comments on a request, oldest first, with whose request it is; undefined where there is no such request. One round
 * trip, of at most `maxComments` rows.
 */
export async function listCommentsPage(
  tx: Tx,
  request_id: string,
  { limit, after }: PageRequest,
): Promise<(PageRows<RequestComment> & { requester_id: string }) | undefined> {
  const [behind = '0'] = after ?? []
  const found = await tx.read(sql<{ requester_id: string } & (RequestComment & { nth: number })>`
    select a.requester_id, ${commentColumns}, ${personName(tx, sql`c.author_id`)} as author_name, c.nth
    from access_request a left join lateral (
      select * from request_comment r where r.tenant_id = a.tenant_id and r.request_id = a.id
        and r.nth > ${behind}::integer
      order by r.nth limit ${limit + 1}) c on true
    where a.tenant_id = ${tx.tenant_id} and a.id = ${request_id} order by c.nth`)
  const [first] = found
  if (first === undefined) return undefined
  const rows = found.filter(({ id }) => id !== null)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    requester_id: first.requester_id,
    rows: rows.slice(0, limit).map(({ requester_id: _requester, nth: _nth, ...comment }) => comment),
    next: last && [String(last.nth)],
  }
}
