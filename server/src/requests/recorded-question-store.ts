/** Recorded policy questions, to be evaluated again. */
import { type AccountForPolicy, accountsForPolicyAsJson, readAccountsForPolicy } from '../cloud/cloud-account-store.ts'
import { allOf, isoMoment, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { lowestIdAt } from '../kernel/id.ts'
import type { Principal } from '../policy-engine/cedar/question.ts'
import { actsInNamedAccount } from '../provisioners/serving-store.ts'
import { receiversOf } from '../roles/gift-store.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { earlierPeople, principalAsJson, weighedAsJson } from '../users/principal-store.ts'
import type { RequestDecision } from './decision.ts'
import type { Circumstances, Recording, RequestedAccess, Span } from './policy-question.ts'

/** The clocks behind ids and the database's clock differ by far less than this. */
const slackMs = 24 * 3_600_000

/**
 * The decisions `d` of the span, each question once: the evaluation right before provisioning (`ask_again`) repeats the first
 * question. Ids bound the search, since they grow with time; `decided_at` decides.
 */
function inSpan(tx: Tx, span: Span): Statement {
  return sql`${decidedWithin(tx, span, sql`d`)}
    and (d.question_kind <> 'ask_again' or not exists (select from decision earlier
      where ${decidedWithin(tx, span, sql`earlier`)} and earlier.request_id = d.request_id
        and earlier.question_kind <> 'approve' and earlier.id < d.id))`
}

function decidedWithin(tx: Tx, { since, until }: Span, one: Statement): Statement {
  const least = lowestIdAt(new Date(since.getTime() - slackMs))
  return sql`${one}.tenant_id = ${tx.tenant_id}::uuid and ${one}.id >= ${least}::uuid
    and ${one}.decided_at > ${since.toISOString()}::timestamptz
    and ${one}.decided_at <= ${until.toISOString()}::timestamptz`
}

/** The ids of the requests about which a question was decided in the span, the latest request first, at most `max`. */
export async function listRequestsAsked(tx: Tx, span: Span, max: number): Promise<string[]> {
  const rows = await tx.read(sql<{ id: string }>`select d.request_id as id from decision d
    where ${decidedWithin(tx, span, sql`d`)} and d.request_id is not null
    group by d.request_id order by d.request_id desc limit ${max}`)
  return rows.map(({ id }) => id)
}

/** The number of questions in the span, counted up to `max`. */
export async function countRecorded(tx: Tx, span: Span, max: number): Promise<number> {
  const [row] = await tx.read(
    sql<{ count: number }>`select count(*)::int as count
      from (select from decision d where ${inSpan(tx, span)} limit ${max}) counted`,
  )
  return row?.count ?? 0
}

type QuestionRow = Omit<Recording['shown'], 'question'> & {
  question: RequestDecision['question']
  /** Null where no person decided. */
  deciding: Recording['deciding']
  acts_in_named_account: boolean
}

type PageRow = {
  questions: QuestionRow[]
  requesters: Record<string, Principal>
  stored: Record<string, string>
  accounts: AccountForPolicy[]
}

/**
 * The next questions of the span after the one with this id, the latest first. One round trip, one snapshot. People are read as they
 * are now: no recording holds facts about them, so that a fact that is new to policy is known for old recordings too.
 * `isEarlier`: the database may be of an earlier version.
 */
export async function readRecordings(
  tx: Tx,
  span: Span,
  page: { after: string | undefined; limit: number; isEarlier?: boolean },
): Promise<Recording[]> {
  const behind = page.after === undefined ? sql`true` : sql`d.id < ${page.after}::uuid`
  const giving = { giver: sql`page.requester_id`, after: sql`page.requested_at` }
  const tainted = { givers: receiversOf(tx, giving, page.isEarlier), after: giving.after }
  const account_ids = sql`array(select distinct place ->> 'account_id'
    from page, jsonb_array_elements(page.question -> 'places') place)`
  const resource = {
    type: sql`page.question -> 'resource' ->> 'type'`,
    id: sql`page.question -> 'resource' ->> 'id'`,
    account_id: sql`page.question -> 'places' -> 0 ->> 'account_id'`,
  }
  const acts = actsInNamedAccount(tx, resource, page.isEarlier)
  const [row] = await tx.read(
    sql<PageRow>`with ${page.isEarlier ? sql`${earlierPeople}, ` : sql``}page as materialized (
        select d.id, d.request_id, d.question_kind, d.principal_id, d.decided_at, d.question,
          coalesce(a.requester_id, d.principal_id) as requester_id, a.created_at as requested_at
        from decision d left join access_request a on a.tenant_id = d.tenant_id and a.id = d.request_id
        where ${allOf([inSpan(tx, span), behind])} order by d.id desc limit ${page.limit})
      select
        (select coalesce(jsonb_agg(jsonb_build_object('id', page.id, 'request_id', page.request_id,
            'decided_at', ${isoMoment(sql`page.decided_at`)}, 'requester_id', page.requester_id,
            'question', page.question, 'deciding', case when page.question_kind = 'approve' then jsonb_build_object(
              'approver', ${weighedAsJson(tx, sql`page.principal_id`, tainted)},
              'requester', ${weighedAsJson(tx, sql`page.requester_id`, tainted)}) end,
            'acts_in_named_account', ${acts})
          order by page.id desc), '[]') from page) as questions,
        (select coalesce(jsonb_object_agg(asker.id, ${principalAsJson(tx, sql`asker.id`)}), '{}')
          from (select distinct requester_id as id from page) asker) as requesters,
        ${settingsAsJson(tx)} as stored, ${accountsForPolicyAsJson(tx, account_ids)} as accounts`,
  )
  if (row === undefined) throw new Error('a select without a from answered no row')
  const known = { settings: readSettingValues(row.stored), accounts: readAccountsForPolicy(row.accounts) }
  return row.questions.map((question) => {
    const requester = row.requesters[question.requester_id]
    if (requester === undefined) throw new Error('the requester of a recorded question does not exist')
    return toRecording(question, requester, known)
  })
}

function toRecording(
  { deciding, question, acts_in_named_account, ...row }: QuestionRow,
  requester: Principal,
  read: Omit<Recording['known'], 'acts_in_named_account'>,
): Recording {
  const { resource, action, duration_seconds, break_glass } = question
  const when: Circumstances = {
    now: new Date(question.now),
    via: question.via ?? 'token',
    source_ip: question.source_ip ?? '',
  }
  return {
    shown: { ...row, question: { resource, action, duration_seconds, break_glass } },
    requester,
    deciding,
    requested: askedOf(row.request_id ?? row.id, question),
    when,
    known: { ...read, acts_in_named_account },
  }
}

/** The question stores what policy evaluates: that there was a reason, but not the reason itself. */
function askedOf(
  id: string,
  { resource, places, has_reason, ...question }: RequestDecision['question'],
): RequestedAccess {
  const own = places.find((place) => place.type === resource.type && place.id === resource.id)
  return {
    id,
    resource,
    action: question.action,
    reason: has_reason ? 'given' : null,
    duration_seconds: question.duration_seconds,
    break_glass: question.break_glass,
    metadata: {},
    places,
    home: own?.account_id,
  }
}
