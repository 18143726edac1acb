import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** A second factor that was proved just now. */
export type FactorProof =
  | { method: 'totp'; factor_id: string; step: number }
  | { method: 'passkey'; factor_id: string; sign_count: number; synced: boolean }
  | { method: 'recovery_code'; hash: Buffer }

/**
 * Uses the proof up, if the row of `able` (a common table expression with `user_id`) is there. A statement with a row if the proof
 * counted: no code counts twice, and no copy of a passkey that counts its signatures.
 */
export function proofUse(tx: Tx, proof: FactorProof, able: Statement): Statement {
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id in (select user_id from ${able})`
  if (proof.method === 'recovery_code') {
    return sql`delete from recovery_code where ${whose} and hash = ${proof.hash} returning user_id`
  }
  const unused =
    proof.method === 'totp'
      ? sql`last_step = ${proof.step}::bigint where last_step < ${proof.step}::bigint`
      : sql`sign_count = ${proof.sign_count}::bigint where (sign_count < ${proof.sign_count}::bigint or sign_count = 0)`
  return sql`update second_factor set last_used_at = clock_timestamp(), ${unused} and ${whose}
    and id = ${proof.factor_id} and confirmed_at is not null returning user_id`
}
