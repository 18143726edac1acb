import { sql } from '../db/sql.ts'
import { emitWithFacts } from '../events/emit.ts'
import type { Statement, WorkCtx } from '../kernel/context.ts'

/** Of an event: the size of the texts in it, in bytes. One more rule, of 40 kB at most, may go beyond it. */
const textsPerEvent = 65_536

/**
 * Records what rules said before and after a change, in events that channels cannot receive: their receivers may not read rules.
 * `texts` are the columns of a query: `rule_id`, `before` and `after`, null where there was or is no such rule; a rule with neither is
 * left out. INVARIANT: no text is cut or left out, or a change could hide behind a large
 * one. So the texts are spread over as many events as they need. The expressions follow others in one statement.
 */
export function recordTexts(ctx: WorkCtx, policy_id: string, texts: Statement): Statement {
  const event = { type: 'policy.rule_texts', subject_type: 'policy', subject_id: policy_id } as const
  return sql`texts as (${texts}),
      parted as (select *, sum(octet_length(concat(before, after))) over (order by rule_id) / ${textsPerEvent} as part
        from texts where before is not null or after is not null),
      told as (select jsonb_build_object('rules', jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'rule_id', rule_id, 'before', before, 'after', after)) order by rule_id)) as facts
        from parted group by part order by part),
      texts_emitted as (${emitWithFacts(ctx, event, sql`told`)})`
}
