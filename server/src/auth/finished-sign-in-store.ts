import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { WorkCtx } from '../kernel/context.ts'
import { type FactorProof, proofUse } from '../second-factors/proof-store.ts'
import { challengeTaking } from '../sessions/challenge-store.ts'
import type { NewSession } from '../sessions/session.ts'
import { sessionCleanup, sessionInsert } from '../sessions/session-store.ts'
import { isActive } from '../users/active-store.ts'
import { totpCodesOf } from '../users/sign-in-failure.ts'
import { failureRelease } from '../users/sign-in-failure-store.ts'

/**
 * Finishes a sign-in whose second factor was proved: uses the proof and the challenge up, begins the session and emits the event. False
 * when the user, the password, the proof or the challenge is not what it was.
 *
 * INVARIANT: it locks user and password, as `recordPassword` does.
 */
export async function finishSignIn(
  ctx: WorkCtx,
  { challenge_id, user_id, proof }: { challenge_id: string; user_id: string; proof: FactorProof },
  { event, session }: { event: NewEvent; session: NewSession },
): Promise<boolean> {
  const { tx } = ctx
  const [rows] = await tx.write([
    sql`with able as (
        select u.id as user_id
        from tenant_user u join user_password p on p.tenant_id = u.tenant_id and p.user_id = u.id
        where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and ${isActive(sql`u`)}
          and exists (select from sign_in_challenge c where c.tenant_id = u.tenant_id and c.id = ${challenge_id})
        for no key update of u, p),
      used as (${proofUse(tx, proof, sql`able`)}),
      taken as (${challengeTaking(tx, challenge_id, sql`used`)}),
      begun as (${sessionInsert(tx, session, sql`taken`)}),
      emitted as (${emit(ctx, event, sql`taken`)})
      select user_id from taken`,
    ...sessionCleanup(tx, user_id),
  ])
  if (rows.length === 0) return false
  // Nothing else was counted: another proof must not give a guesser one more code.
  if (proof.method === 'totp') await tx.write([failureRelease(tx, totpCodesOf(user_id))])
  return true
}
