import { createdWithin } from '../db/list-filters.ts'
import { allOf, inIndexOrder, sql, sqlInteger } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { Weighed } from '../policy-engine/cedar/question.ts'
import { receiversOf } from '../roles/gift-store.ts'
import { isCurrent } from '../roles/membership-store.ts'
import { weighedAsJson } from '../users/principal-store.ts'
import { type AccessRequestDetail, maxSameRequests, type NamedAccessRequest } from './request.ts'
import { commentCount } from './request-comment-store.ts'
import { type CountedRequest, type NamedRow, nameColumns, type RequestFilters } from './request-list-store.ts'
import { asRecorded, type Recorded, type RecordedRow, recordedColumns } from './request-store.ts'

/** The two people of a decision. What the requester gave or wrote after the request does not count. */
type People = { approver: Weighed; requester: Weighed }

/** A request, and what the decision of one approver about it is based on. `is_in_time`: its deadline is not over. */
export type Decidable = Recorded & { named: CountedRequest; people: People; is_in_time: boolean }

/** A pending request in the order of the inbox. `people` is null where a filter leaves the request out, or it is the approver's own. */
export type Waiting = Recorded & { named: NamedAccessRequest; people: People | null; key: readonly string[] }

type Names = Omit<NamedRow, keyof RecordedRow>

/** The columns of the requests `a`. */
function decidableColumns(tx: Tx): Statement {
  return sql`${recordedColumns(tx)}, ${nameColumns(tx, sql`a`)}`
}

function asNamed(row: RecordedRow & Names): Recorded & { named: NamedAccessRequest } {
  const { risk, risk_reasons, requester_name, decided_by_name, resource_name, action_description, ...rest } = row
  const { extends: extended, approved_duration_seconds, reminded_at } = row
  const recorded = asRecorded(rest)
  const further = { extends: extended, approved_duration_seconds, reminded_at, risk, risk_reasons }
  const names = { requester_name, decided_by_name, resource_name, action_description }
  const named = { ...recorded.request, ...further, ...names }
  return { ...recorded, named }
}

/** The two people of a decision of the request `a`, as one value. */
function peopleOf(tx: Tx, approver_id: string): Statement<People> {
  const giving = { giver: sql`a.requester_id`, after: sql`a.created_at` }
  const discounted = { givers: sql`select id from tainted`, after: giving.after }
  return sql<People>`(with tainted as materialized (${receiversOf(tx, giving)})
    select jsonb_build_object('approver', ${weighedAsJson(tx, sql`${approver_id}`, discounted)},
      'requester', ${weighedAsJson(tx, sql`a.requester_id`, discounted)}))`
}

type DecidableRow = Pick<Decidable, 'people' | 'is_in_time'> & Pick<CountedRequest, 'comment_count'>

/** One request; one round trip. */
export async function findDecidable(tx: Tx, id: string, approver_id: string): Promise<Decidable | undefined> {
  const [row] = await tx.read(sql<RecordedRow & Names & DecidableRow>`
    select ${decidableColumns(tx)}, ${peopleOf(tx, approver_id)} as people,
      ${isInTime(sql`a`)} as is_in_time, ${commentCount(tx, sql`a.id`)} as comment_count
    from access_request a where a.tenant_id = ${tx.tenant_id} and a.id = ${id}`)
  if (row === undefined) return undefined
  const { people, is_in_time, comment_count, ...rest } = row
  const decidable = asNamed(rest)
  return { ...decidable, named: { ...decidable.named, comment_count }, people, is_in_time }
}

/** Whether a request waits for a decision, and whose it is; undefined where there is no such request. */
export async function findWait(tx: Tx, id: string): Promise<{ requester_id: string; waits: boolean } | undefined> {
  const [found] = await tx.read(sql<{ requester_id: string; waits: boolean }>`
    select r.requester_id, r.status = 'pending' and ${isInTime(sql`r`)} as waits
    from access_request r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`)
  return found
}

/** The deadline of a pending request may be over before the worker has expired it. */
function isInTime(r: Statement): Statement {
  return sql`coalesce(${r}.next_look_at > clock_timestamp(), false)`
}

/** The filters of the inbox. All of its requests are pending, and in its order. */
export type InboxFilters = Omit<RequestFilters, 'status' | 'decided_by' | 'q' | 'sort'>

type WaitingRow = RecordedRow & Names & { people: People | null; page_key: string[] }

/**
 * Pending requests after a place, those with a high risk first, then the oldest: `count` of them, fewer only at the end. One round
 * trip.
 */
export async function readWaiting(
  tx: Tx,
  approver_id: string,
  filters: InboxFilters,
  { after, count }: { after: readonly string[] | undefined; count: number },
): Promise<Waiting[]> {
  const [risk, created_at, id] = after ?? []
  const behind = sql`(r.risk, r.created_at, r.id) > (${risk}::text, ${created_at}::timestamptz, ${id}::uuid)`
  const rows = await tx.read(
    inIndexOrder(sql<WaitingRow>`select ${decidableColumns(tx)},
        case when a.passes then ${peopleOf(tx, approver_id)} end as people,
        array[a.risk, a.created_at::text, a.id::text] as page_key
      from (select r.*, ${passes(approver_id, filters)} as passes from access_request r
        where r.tenant_id = ${tx.tenant_id} and r.status = 'pending' and ${after === undefined ? sql`true` : behind}
        order by r.risk, r.created_at, r.id limit ${count}) a
      order by a.risk, a.created_at, a.id`),
  )
  return rows.map(({ people, page_key, ...row }) => ({ ...asNamed(row), people, key: page_key }))
}

/** Never the approver's own. */
function passes(approver_id: string, filters: InboxFilters): Statement {
  const { requester_id, resource_type, resource_id, break_glass } = filters
  return allOf([
    sql`r.requester_id <> ${approver_id}::uuid and ${isInTime(sql`r`)}`,
    ...(requester_id === undefined ? [] : [sql`r.requester_id = any(${[...requester_id]}::uuid[])`]),
    ...(resource_type === undefined ? [] : [sql`r.resource_type = any(${[...resource_type]}::text[])`]),
    ...(resource_id === undefined ? [] : [sql`r.resource_id = ${resource_id}`]),
    ...(break_glass === undefined ? [] : [sql`r.break_glass = ${break_glass}`]),
    ...createdWithin(sql`r.created_at`, filters),
  ])
}

/**
 * What else an approver of a request sees: the requester's groups, the policy whose rule let them make it, and how often and for how
 * long they asked for the same before.
 */
export type ApproverView = Required<Pick<AccessRequestDetail, 'requester_groups' | 'policy_name' | 'recent'>>

const maxGroups = 50
/** Of the requests that the requester made before, so many are read, the newest first. */
const maxRecent = 500

export async function readApproverView(tx: Tx, request: { id: string; requester_id: string }): Promise<ApproverView> {
  const [view] = await tx.read(
    inIndexOrder(sql<ApproverView>`select
    array(select g.name from group_member m
        join tenant_group g on g.tenant_id = m.tenant_id and g.id = m.group_id
      where m.tenant_id = ${tx.tenant_id} and m.user_id = ${request.requester_id} and ${isCurrent(sql`m`)}
      order by g.name, g.id limit ${maxGroups}) as requester_groups,
    (select p.name from decision d
        join policy_rule r on r.tenant_id = d.tenant_id and r.id = d.rule_ids[1]
        join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id
      where d.tenant_id = ${tx.tenant_id} and d.request_id = ${request.id} and d.question_kind = 'ask'
      order by d.id limit 1) as policy_name,
    ${recentOf(tx, request.id)} as recent`),
  )
  if (view === undefined) throw new Error('a select without a from answered no row')
  return view
}

/**
 * What a requester cancels costs them nothing, and would make anything look usual. The durations of extensions are left out: they say how much
 * longer access lasts, not how long.
 */
function recentOf(tx: Tx, request_id: string): Statement {
  return sql`(select json_build_object('same_requests', least(count(*), ${sqlInteger(maxSameRequests)}),
      'denied', least(count(*) filter (where r.status = 'denied'), ${sqlInteger(maxSameRequests)}),
      'usual_duration_seconds', percentile_disc(0.5)
        within group (order by coalesce(r.approved_duration_seconds, r.duration_seconds))
        filter (where r.status = 'approved' and r.extends is null))
    from access_request a cross join lateral (
      select r.* from access_request r
      where r.tenant_id = a.tenant_id and r.requester_id = a.requester_id
        and (r.created_at, r.id) < (a.created_at, a.id) and r.created_at >= a.created_at - interval '30 days'
      order by r.created_at desc, r.id desc limit ${sqlInteger(maxRecent)}) r
    where a.tenant_id = ${tx.tenant_id} and a.id = ${request_id}
      and r.status <> 'cancelled'
      and r.resource_type = a.resource_type and r.resource_id = a.resource_id and r.action = a.action)`
}
