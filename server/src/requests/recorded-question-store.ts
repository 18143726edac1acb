/** What policy was asked before, to be put to it again. */
import { type AccountForPolicy, accountsForPolicyAsJson, readAccountsForPolicy } from '../cloud/cloud-account-store.ts'
import { allOf, isoMoment, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { leastIdOf } from '../kernel/id.ts'
import type { Principal } from '../policy-engine/cedar/question.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { principalAsJson } from '../users/principal-store.ts'
import type { RequestDecision } from './decision.ts'
import {
  type AskedRequest,
  approveQuestion,
  askQuestion,
  type Circumstances,
  type RecordedQuestion,
  type Span,
} from './policy-question.ts'

/** Ids and the database's clock agree to far less than this. */
const slackMs = 24 * 3_600_000

/**
 * The decisions `d` of the span, each question once: what is asked again right before access is given is the question that
 * was asked at first. Ids bound the search, since they grow with time; the moment itself decides.
 */
function inSpan(tx: Tx, { since, until }: Span): Statement {
  const within = (one: Statement) => sql`${one}.tenant_id = ${tx.tenant_id}::uuid
    and ${one}.decided_at > ${since.toISOString()}::timestamptz and ${one}.decided_at <= ${until.toISOString()}::timestamptz`
  const least = leastIdOf(new Date(since.getTime() - slackMs))
  return sql`${within(sql`d`)} and d.id >= ${least}::uuid
    and (d.question_kind <> 'ask_again' or not exists (select from decision earlier
      where ${within(sql`earlier`)} and earlier.request_id = d.request_id and earlier.question_kind <> 'approve'
        and earlier.id < d.id))`
}

/** How many questions there are, at most `most`. */
export async function countRecorded(tx: Tx, span: Span, most: number): Promise<number> {
  const [row] = await tx.read(
    sql<{ count: number }>`select count(*)::int as count
      from (select from decision d where ${inSpan(tx, span)} limit ${most}) counted`,
  )
  return row?.count ?? 0
}

type QuestionRow = Omit<RecordedQuestion, 'kind' | 'put' | 'question'> & {
  kind: RequestDecision['kind']
  principal_id: string
  question: RequestDecision['question']
  /** Who decided, without what the requester gave them after asking; null: nobody did. */
  approver: Principal | null
}

type PageRow = {
  questions: QuestionRow[]
  requesters: Record<string, Principal>
  stored: Record<string, string>
  accounts: AccountForPolicy[]
}

/** The next questions of the span, the latest first, behind the one of this id. One trip, one snapshot. */
export async function readRecordedPage(
  tx: Tx,
  span: Span,
  page: { after: string | undefined; limit: number },
): Promise<RecordedQuestion[]> {
  const behind = page.after === undefined ? sql`true` : sql`d.id < ${page.after}::uuid`
  const tainted = { granted_by: sql`page.requester_id`, after: sql`page.requested_at` }
  const account_ids = sql`array(select distinct place ->> 'account_id'
    from page, jsonb_array_elements(page.question -> 'places') place)`
  const [row] = await tx.read(
    sql<PageRow>`with page as materialized (
        select d.id, d.request_id, d.question_kind, d.principal_id, d.decided_at, d.question,
          coalesce(a.requester_id, d.principal_id) as requester_id, a.created_at as requested_at
        from decision d left join access_request a on a.tenant_id = d.tenant_id and a.id = d.request_id
        where ${allOf([inSpan(tx, span), behind])} order by d.id desc limit ${page.limit})
      select
        (select coalesce(jsonb_agg(jsonb_build_object('id', page.id, 'request_id', page.request_id,
            'kind', page.question_kind, 'principal_id', page.principal_id, 'decided_at', ${isoMoment(sql`page.decided_at`)},
            'requester_id', page.requester_id, 'question', page.question,
            'approver', case when page.question_kind = 'approve'
              then ${principalAsJson(tx, sql`page.principal_id`, tainted)} end)
          order by page.id desc), '[]') from page) as questions,
        (select coalesce(jsonb_object_agg(asker.id, ${principalAsJson(tx, sql`asker.id`)}), '{}')
          from (select distinct requester_id as id from page) asker) as requesters,
        ${settingsAsJson(tx)} as stored, ${accountsForPolicyAsJson(tx, account_ids)} as accounts`,
  )
  if (row === undefined) throw new Error('a select without a from answered no row')
  const known = { settings: readSettingValues(row.stored), accounts: readAccountsForPolicy(row.accounts) }
  return row.questions.map((question) => {
    const requester = row.requesters[question.requester_id]
    if (requester === undefined) throw new Error('a question of somebody who is not there')
    return putAgain(question, requester, known)
  })
}

function putAgain(
  { kind, principal_id, approver, question, ...row }: QuestionRow,
  requester: Principal,
  known: Parameters<typeof askQuestion>[3],
): RecordedQuestion {
  const { resource, action, duration_seconds, break_glass } = question
  const asked = askedOf(row.request_id ?? row.id, question)
  const when: Circumstances = {
    now: new Date(question.now),
    via: question.via ?? 'token',
    source_ip: question.source_ip ?? '',
  }
  const told = { ...row, question: { resource, action, duration_seconds, break_glass } }
  if (approver === null) return { ...told, kind: 'ask', put: askQuestion(requester, asked, when, known) }
  return { ...told, kind: 'approve', put: approveQuestion(approver, requester, asked, when, known) }
}

/** What policy minds of a request is kept with the question: that there was a reason, not which. */
function askedOf(id: string, { resource, places, has_reason, ...question }: RequestDecision['question']): AskedRequest {
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
