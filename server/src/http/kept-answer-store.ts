import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'

/** Rows whose time is over, of one tenant, that each call with a key clears away. */
const sweptAtOnce = 20

/**
 * Takes the key until the transaction ends, or answers false at once where another transaction has it: whoever dies gives
 * it back. With it, what is kept under the key.
 */
export async function takeKey(tx: Tx, id: Buffer): Promise<{ taken: boolean; sealed_answer: string | undefined }> {
  // Two statements: the second one sees what was committed before the key was free.
  const [[lock], [kept]] = await tx.write([
    sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${String(id.readBigInt64BE())}::bigint) as taken`,
    sql<{ sealed_answer: string }>`select sealed_answer from kept_answer
      where tenant_id = ${tx.tenant_id} and id = ${id} and expires_at > clock_timestamp()`,
  ])
  return { taken: lock?.taken === true, sealed_answer: kept?.sealed_answer }
}

/** Keeps the answer for a day under a key that is taken, and clears away some whose time is over. */
export async function keepAnswer(tx: Tx, id: Buffer, sealed_answer: string): Promise<void> {
  await tx.write([
    sql`delete from kept_answer where tenant_id = ${tx.tenant_id} and id in (
        select id from kept_answer where tenant_id = ${tx.tenant_id} and expires_at <= clock_timestamp()
        order by expires_at limit ${sweptAtOnce} for update skip locked)`,
    sql`insert into kept_answer (tenant_id, id, sealed_answer, expires_at)
      values (${tx.tenant_id}, ${id}, ${sealed_answer}, clock_timestamp() + interval '24 hours')
      on conflict (tenant_id, id)
        do update set sealed_answer = excluded.sealed_answer, expires_at = excluded.expires_at`,
  ])
}
