import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'

function keptAnswer(tx: Tx, id: Buffer) {
  return sql<{ sealed_answer: string }>`select sealed_answer from kept_answer
    where tenant_id = ${tx.tenant_id} and id = ${id} and expires_at > clock_timestamp()`
}

/** What is stored under the key, whether or not a call with it is under way. */
export async function findKeptAnswer(tx: Tx, id: Buffer): Promise<string | undefined> {
  const [kept] = await tx.read(keptAnswer(tx, id))
  return kept?.sealed_answer
}

/** The expired rows of the tenant that each call with a key deletes, at most. */
const sweptAtOnce = 20

/**
 * Locks the key until the transaction ends, or answers false at once when another transaction holds it. A process that dies
 * releases the key. Also answers what is stored under the key. `locked`: what is locked in place of the key, where several keys
 * share a lock.
 */
export async function takeKey(
  tx: Tx,
  id: Buffer,
  locked = id,
): Promise<{ taken: boolean; sealed_answer: string | undefined }> {
  // Two statements: the second sees what was committed before the key was released.
  const [[lock], [kept]] = await tx.write([
    sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${String(locked.readBigInt64BE())}::bigint) as taken`,
    keptAnswer(tx, id),
  ])
  return { taken: lock?.taken === true, sealed_answer: kept?.sealed_answer }
}

/** Stores the answer for a day under a locked key, and deletes some expired answers. */
export async function keepAnswer(tx: Tx, id: Buffer, sealed_answer: string): Promise<void> {
  await tx.write([
    sql`delete from kept_answer where tenant_id = ${tx.tenant_id} and id = any(array(
        select id from kept_answer where tenant_id = ${tx.tenant_id} and expires_at <= now()
        order by expires_at limit ${sweptAtOnce} for update skip locked))`,
    sql`insert into kept_answer (tenant_id, id, sealed_answer, expires_at)
      values (${tx.tenant_id}, ${id}, ${sealed_answer}, clock_timestamp() + interval '24 hours')
      on conflict (tenant_id, id)
        do update set sealed_answer = excluded.sealed_answer, expires_at = excluded.expires_at`,
  ])
}
