import { allOf, sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { PageRequest } from '../kernel/page.ts'
import type { Decision } from '../policy-engine/deciding/decide.ts'
import type { FullDecision, questionKinds } from './decision.ts'
import type { Circumstances, RequestedAccess } from './policy-question.ts'
import { hasReason } from './request-input.ts'

/** The policy question that a decision answers, as stored. */
export type KeptQuestion = {
  kind: (typeof questionKinds)[number]
  principal_id: string
  requested: Omit<RequestedAccess, 'id'>
  when: Circumstances
}

/**
 * The insert that stores a policy decision with its question. `about` is a row with the request's `id`, or none: then nothing is
 * stored. Without it the decision has no request, because the request was refused.
 */
export function keepDecision(
  tx: Tx,
  decision: Decision,
  question: KeptQuestion,
  about?: Statement,
  id = newId(),
): Statement {
  const { resource, action, places, duration_seconds, break_glass, reason } = question.requested
  const { now, via, source_ip } = question.when
  const kept = {
    resource,
    action,
    places,
    duration_seconds,
    break_glass,
    has_reason: hasReason(reason),
    now,
    via,
    source_ip,
  }
  return sql`insert into decision (tenant_id, id, request_id, question_kind, principal_id, question, allowed,
      approval_mode, reasoning, notices, rule_set_version, rule_ids, errors)
    select ${tx.tenant_id}::uuid, ${id}::uuid, ${about === undefined ? sql`null::uuid` : sql`id`},
      ${question.kind}::text, ${question.principal_id}::uuid, ${JSON.stringify(kept)}::jsonb,
      ${decision.allowed}::boolean, ${decision.mode}::text, ${decision.reasoning}::text, ${decision.notices}::text[],
      ${decision.rule_set_version}::bigint, ${decision.rule_ids}::uuid[],
      ${JSON.stringify(decision.errors)}::jsonb${about === undefined ? sql`` : sql` from ${about}`}`
}

/** Stores the decision that refused a request; the request itself is not stored. Returns the decision's id. */
export async function insertRefusedRequest(tx: Tx, decision: Decision, question: KeptQuestion): Promise<string> {
  const id = newId()
  await tx.write([keepDecision(tx, decision, question, undefined, id)])
  return id
}

/**
 * The statements that store the decision that refused somebody's try to decide a request. Of all tries that the same question refuses,
 * by the same version of the rules, the first is stored: a user who tries without end fills no table. The lock has concurrent tries wait
 * for each other, so that the later ones see the first.
 */
export function keepRefusedTry(tx: Tx, decision: Decision, question: KeptQuestion, request_id: string): Statement[] {
  const request = sql`access_request a where a.tenant_id = ${tx.tenant_id}::uuid and a.id = ${request_id}::uuid`
  const untried = sql`(select a.id from ${request} and not exists (select from decision d
    where d.tenant_id = a.tenant_id and d.request_id = a.id and d.question_kind = ${question.kind}
      and d.principal_id = ${question.principal_id}::uuid and not d.allowed
      and d.rule_set_version = ${decision.rule_set_version}::bigint)) as untried`
  return [sql`select from ${request} for no key update`, keepDecision(tx, decision, question, untried)]
}

/** At most this many of the rules that decided are listed. */
const maxRulesShown = 100

/** One page of the policy decisions about a request, oldest first. */
export function listDecisionsPage(tx: Tx, request_id: string, page: PageRequest): Promise<FullDecision[]> {
  const conditions = [sql`d.tenant_id = ${tx.tenant_id}`, sql`d.request_id = ${request_id}`]
  if (page.after !== undefined) conditions.push(sql`d.id > ${page.after[0]}`)
  return tx.read(sql<FullDecision>`select d.id, d.question_kind as kind, d.decided_at, d.principal_id, d.allowed,
      d.approval_mode, d.reasoning, d.notices, d.rule_set_version::float8 as rule_set_version, d.question, d.errors,
      coalesce((select jsonb_agg(jsonb_build_object('id', shown.id, 'policy_name', p.name, 'notice', r.notice,
          'changed_since', r.id is null or r.updated_at > d.decided_at)
          order by shown.place)
        from unnest(d.rule_ids[1:${maxRulesShown}::integer]) with ordinality as shown (id, place)
        left join policy_rule r on r.tenant_id = d.tenant_id and r.id = shown.id
        left join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id), '[]') as rules
    from decision d where ${allOf(conditions)} order by d.id limit ${page.limit + 1}`)
}
