import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { Decision } from '../policies/decide.ts'
import type { AskedRequest, Circumstances } from './policy-question.ts'

/** The question that a decision answers, as it is kept. */
export type KeptQuestion = {
  /** `ask_again`: right before access was given, about what was approved. */
  kind: 'ask' | 'approve' | 'ask_again'
  principal_id: string
  asked: Omit<AskedRequest, 'id'>
  when: Circumstances
}

/**
 * The insert that keeps a decision of policy with the question it answers. `about` names a common table expression with
 * the request's `id`; without it the decision stands alone: what was asked for was refused, so there is no request.
 */
export function keepDecision(
  tx: Tx,
  decision: Decision,
  question: KeptQuestion,
  about?: Statement,
  id = newId(),
): Statement {
  const { resource, action, places, duration_seconds, break_glass, reason } = question.asked
  const { now, via, source_ip } = question.when
  const kept = {
    resource,
    action,
    places,
    duration_seconds,
    break_glass,
    has_reason: reason !== null,
    now,
    via,
    source_ip,
  }
  return sql`insert into decision (tenant_id, id, request_id, question_kind, principal_id, question, allowed,
      approval_mode, reasoning, notices, rule_set_version, rule_ids, errors)
    select ${tx.tenant_id}::uuid, ${id}::uuid, ${about === undefined ? sql`null::uuid` : sql`id`}, ${question.kind}::text,
      ${question.principal_id}::uuid, ${JSON.stringify(kept)}::jsonb, ${decision.allowed}::boolean,
      ${decision.mode}::text, ${decision.reasoning}::text, ${decision.notices}::text[],
      ${decision.rule_set_version}::bigint, ${decision.rule_ids}::uuid[],
      ${JSON.stringify(decision.errors)}::jsonb${about === undefined ? sql`` : sql` from ${about}`}`
}

/** Keeps a refusal to ask, for which there is no request. Answers the decision's id. */
export async function insertRefusedAsking(tx: Tx, decision: Decision, question: KeptQuestion): Promise<string> {
  const id = newId()
  await tx.write([keepDecision(tx, decision, question, undefined, id)])
  return id
}
