import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** A sign-in that waits for its second factor. */
export type NewChallenge = { id: string; secret_hash: Buffer; passkey_challenge: string | null }

/** How often a second factor may be tried in one sign-in. */
const maxTries = 5
/** How many sign-ins of one user may wait at once; of more, the oldest end. */
const maxWaiting = 20

/** How long a sign-in waits, in seconds; the database has the same limit. */
export const challengeSeconds = 300

/** The insert of a challenge for the user `user_id` of `whom`, a common table expression: one for each of its rows. */
export function challengeInsert(tx: Tx, challenge: NewChallenge, whom: Statement): Statement {
  return sql`insert into sign_in_challenge (tenant_id, id, user_id, secret_hash, passkey_challenge)
    select ${tx.tenant_id}::uuid, ${challenge.id}::uuid, user_id, ${challenge.secret_hash}::bytea,
      ${challenge.passkey_challenge}::text
    from ${whom}`
}

/** Deletes some of the tenant's challenges that have expired, and those of the user above the maximum. */
export function challengeCleanup({ tenant_id }: Tx, user_id: string): Statement[] {
  return [
    sql`delete from sign_in_challenge where tenant_id = ${tenant_id} and id = any(array(
      select id from sign_in_challenge where tenant_id = ${tenant_id} and expires_at <= now()
      order by expires_at limit 100 for update skip locked))`,
    sql`delete from sign_in_challenge where tenant_id = ${tenant_id} and id = any(array(
      select id from sign_in_challenge where tenant_id = ${tenant_id} and user_id = ${user_id}
      order by id desc offset ${maxWaiting} for update skip locked))`,
  ]
}

export type TriedChallenge = { user_id: string; passkey_challenge: string | null; now: string }

/** Counts a try before it is checked, so that many at once are not more. Undefined for a challenge that is over. */
export async function tryChallenge(tx: Tx, id: string, secret_hash: Buffer): Promise<TriedChallenge | undefined> {
  const [[tried]] = await tx.write([
    sql<TriedChallenge>`update sign_in_challenge set tries = tries + 1
      where tenant_id = ${tx.tenant_id} and id = ${id} and secret_hash = ${secret_hash} and tries < ${maxTries}::int
        and expires_at > clock_timestamp()
      returning user_id, passkey_challenge, clock_timestamp() as now`,
  ])
  return tried
}

/** Takes a challenge, once. For each row of `proved`, a common table expression, it returns a row if the challenge was there. */
export function challengeTaking({ tenant_id }: Tx, id: string, proved: Statement): Statement {
  return sql`delete from sign_in_challenge where tenant_id = ${tenant_id} and id = ${id}
    and expires_at > clock_timestamp() and user_id in (select user_id from ${proved}) returning user_id`
}
