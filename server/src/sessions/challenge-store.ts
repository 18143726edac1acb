import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'

/** A sign-in that waits for its second factor. `source`: the address or the network that it comes from, as `sourceOf` names it. */
export type NewChallenge = { id: string; secret_hash: Buffer; source: string; passkey_challenge: string | null }

/** How often a second factor may be tried in one sign-in. */
const maxTries = 5
/** How many sign-ins of one user may wait at once, from one source and in all. */
const maxWaiting = { ofSource: 5, ofUser: 100 }

/** How long a sign-in waits, in seconds; the database has the same limit. */
export const challengeSeconds = 300

/** The insert of a challenge for the user `user_id` of `whom`, a common table expression: one for each of its rows. */
export function challengeInsert(tx: Tx, challenge: NewChallenge, whom: Statement): Statement {
  return sql`insert into sign_in_challenge (tenant_id, id, user_id, secret_hash, source, passkey_challenge)
    select ${tx.tenant_id}::uuid, ${challenge.id}::uuid, user_id, ${challenge.secret_hash}::bytea,
      ${challenge.source}::text, ${challenge.passkey_challenge}::text
    from ${whom}`
}

/**
 * Deletes some of the tenant's challenges that have expired, and those of the user above the maximum. Of one source the oldest end; of all,
 * first those from the sources with the most, so that nobody with the password pushes the user's own sign-in out from a few addresses.
 */
export function challengeCleanup({ tenant_id }: Tx, user_id: string): Statement[] {
  return [
    sql`delete from sign_in_challenge where tenant_id = ${tenant_id} and id = any(array(
      select id from sign_in_challenge where tenant_id = ${tenant_id} and expires_at <= now()
      order by expires_at limit 100 for update skip locked))`,
    sql`delete from sign_in_challenge where tenant_id = ${tenant_id} and id = any(array(
      select id from sign_in_challenge where tenant_id = ${tenant_id} and id = any(array(
        select id from (
          select id, nth, row_number() over (order by nth, id desc) as place from (
            select id, row_number() over (partition by source order by id desc) as nth
            from sign_in_challenge where tenant_id = ${tenant_id} and user_id = ${user_id}) numbered) placed
        where nth > ${maxWaiting.ofSource}::int or place > ${maxWaiting.ofUser}::int))
      for update skip locked))`,
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
