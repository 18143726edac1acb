import { sql } from '../../db/sql.ts'
import { emit } from '../../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../../kernel/context.ts'
import { lockRuleSet, type RuleSetChange } from '../../policy-engine/deciding/rule-set-change-store.ts'
import type { PolicyCase } from './case.ts'

type CaseRow = { body: PolicyCase }

/** All cases of the tenant, in their order. */
export async function listCases(tx: Tx): Promise<PolicyCase[]> {
  return (await tx.read(everyCase(tx))).map(({ body }) => body)
}

function everyCase(tx: Tx): Statement<CaseRow> {
  return sql<CaseRow>`select body from policy_case where tenant_id = ${tx.tenant_id} order by ordinal`
}

/** All cases and the version of the tenant's rule set, which is locked until the transaction ends; for use inside `interactive`. */
export async function lockCases(tx: Tx): Promise<{ version: string; kept: PolicyCase[] }> {
  const [[locked], rows] = await tx.write([lockRuleSet(tx), everyCase(tx)])
  return { version: locked?.version ?? '0', kept: rows.map(({ body }) => body) }
}

/** Replaces all cases, which are locked, by these, and emits the event. */
export async function saveCases(ctx: WorkCtx, cases: readonly PolicyCase[]): Promise<void> {
  const { tx } = ctx
  const required = cases.filter((one) => one.required === true).length
  const event = {
    type: 'policy.cases_changed',
    subject_type: 'tenant',
    subject_id: tx.tenant_id,
    data: { count: cases.length, required },
  } as const
  await tx.write([
    sql`delete from policy_case where tenant_id = ${tx.tenant_id}`,
    sql`insert into policy_case (tenant_id, ordinal, body)
      select ${tx.tenant_id}::uuid, sent.ordinal, sent.body
      from jsonb_array_elements(${JSON.stringify(cases)}::jsonb) with ordinality as sent (body, ordinal)`,
    emit(ctx, event),
  ])
}

/** A query without rows: the condition of an unconditional change, and the statement of a change that reads nothing first. */
export const always = sql`true`
export const nothing = sql<never>`select where false`

const required = (tx: Tx) => sql`policy_case where tenant_id = ${tx.tenant_id} and required`

/**
 * Locks the tenant's rule set until the transaction ends, and returns its version, the cases that a change must keep, and the rows
 * of `seen`; for use inside `interactive`.
 */
export async function lockForChange<Seen>(
  tx: Tx,
  seen: Statement<Seen>,
): Promise<{ version: string; cases: PolicyCase[]; rows: Seen[] }> {
  const kept = sql<CaseRow>`select body from ${required(tx)} order by ordinal`
  const [[locked], cases, rows] = await tx.write([lockRuleSet(tx), kept, seen])
  return { version: locked?.version ?? '0', cases: cases.map(({ body }) => body), rows }
}

/** Writes a change of the rules if the tenant requires no case. Otherwise it changes nothing and returns undefined. */
export async function writeIfNoneRequired<Row>(tx: Tx, change: RuleSetChange<Row>): Promise<Row[] | undefined> {
  const [, rows, [found]] = await tx.write([
    lockRuleSet(tx),
    change(sql`not exists (select from ${required(tx)})`),
    sql<{ any: boolean }>`select exists (select from ${required(tx)}) as any`,
  ])
  return found?.any === false ? rows : undefined
}
