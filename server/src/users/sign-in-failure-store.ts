import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { hasSecondFactor } from '../second-factors/second-factor-store.ts'
import { isActive } from './active-store.ts'
import { accountLimit, accountOf, accountWithoutTenant, type CountedFailures } from './sign-in-failure.ts'

const window = sql`make_interval(secs => ${accountLimit.seconds}::int)`

/** The seconds until an account is under its limit again, null when it is now: a value to embed in another statement. */
export function limitedFor(tx: Tx, account: Buffer): Statement {
  return secondsOver(sql`sign_in_failure f where f.tenant_id = ${tx.tenant_id} and f.account_hash = ${account}`)
}

/** The seconds for which a count `f` is over the limit. `counts`: the table, and the condition that finds the count. */
function secondsOver(counts: Statement): Statement {
  return sql`(select extract(epoch from f.began_at + ${window} - clock_timestamp())::float8 from ${counts}
    and f.failures >= ${accountLimit.quota}::int and f.began_at + ${window} > clock_timestamp())`
}

/** The same for a sign-in at the id of the transaction, which need not be a tenant's. */
export function signInLimitedFor(tx: Tx, email: string): Statement {
  const account = accountWithoutTenant(tx.tenant_id, email)
  const withoutTenant = sql`unknown_sign_in_failure f where f.account_hash = ${account}`
  return sql`coalesce(${limitedFor(tx, accountOf(email))}, ${secondsOver(withoutTenant)})`
}

/** Counts one failure of an account and emits `event` if given. Returns the new count. */
export async function countFailure(ctx: WorkCtx, account: Buffer, event?: NewEvent): Promise<CountedFailures> {
  const { tx } = ctx
  const count = failureCount(tx, account)
  const clear = oldFailuresDeletion(tx)
  const [[counted]] = await tx.write(event === undefined ? [count, clear] : [count, clear, emit(ctx, event)])
  if (counted === undefined) throw new Error('a failure was counted and not returned')
  return counted
}

/** Counts one failed sign-in at an id that is no tenant's, as one at a tenant is counted. Returns the new count. */
export async function countFailureWithoutTenant(tx: Tx, email: string): Promise<CountedFailures> {
  const account = accountWithoutTenant(tx.tenant_id, email)
  const [[counted]] = await tx.write([
    sql<CountedFailures>`
      insert into unknown_sign_in_failure as f (account_hash) values (${account})
      on conflict (account_hash) do update set ${counting}`,
    sql`delete from unknown_sign_in_failure where account_hash = any(array(
      select account_hash from unknown_sign_in_failure where began_at < now() - ${window}
      order by began_at limit 100 for update skip locked))`,
  ])
  if (counted === undefined) throw new Error('a failure was counted and not returned')
  return counted
}

const counting = sql`
  failures = case when f.began_at + ${window} > clock_timestamp() then least(f.failures, 1000000) + 1 else 1 end,
  began_at = case when f.began_at + ${window} > clock_timestamp() then f.began_at else clock_timestamp() end
  returning f.failures, extract(epoch from f.began_at + ${window} - clock_timestamp())::float8 as seconds_left`

function failureCount(tx: Tx, account: Buffer): Statement<CountedFailures> {
  return sql<CountedFailures>`
    insert into sign_in_failure as f (tenant_id, account_hash) values (${tx.tenant_id}, ${account})
    on conflict (tenant_id, account_hash) do update set ${counting}`
}

/**
 * Deletes some of the expired counts. INVARIANT: it runs after `failureCount` and skips locked rows, so that it cannot
 * deadlock.
 */
function oldFailuresDeletion(tx: Tx): Statement {
  return sql`delete from sign_in_failure where tenant_id = ${tx.tenant_id} and account_hash = any(array(
    select account_hash from sign_in_failure where tenant_id = ${tx.tenant_id} and began_at < now() - ${window}
    order by began_at limit 100 for update skip locked))`
}

/** Takes back a failure that was counted before it was known to be none. */
export function failureRelease(tx: Tx, account: Buffer): Statement {
  return sql`update sign_in_failure set failures = failures - 1
    where tenant_id = ${tx.tenant_id} and account_hash = ${account} and failures > 0`
}

/** A password that was just checked, of a user. */
export type CheckedPassword = { user_id: string; hash: string | null; has_second_factor: boolean }

/**
 * Begins what a right password begins: a session, or a challenge for the second factor. Not if the account exceeded its limit while the
 * password was checked: of many concurrent guesses, those after the tenth are refused even when right. Undefined when the user or
 * the password changed meanwhile, or whether there is a second factor.
 *
 * INVARIANT: it locks both rows, so that what ends the sessions of the user later ends this one too. The locks exclude each other: those
 * that are shared would let a user who signs in all the time put off their own suspension. The lock is a statement of its own: the next
 * one sees what a transaction that it waited for has changed, such as the first second factor.
 */
export async function recordPassword(
  ctx: WorkCtx,
  { user_id, hash, has_second_factor }: CheckedPassword,
  account: Buffer,
  { insert, cleanup, event }: Beginning,
): Promise<'recorded' | 'limited' | undefined> {
  const { tx } = ctx
  const open = sql`open`
  const whose = sql`tenant_user u join user_password p on p.tenant_id = u.tenant_id and p.user_id = u.id
        where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id}`
  const [, [able]] = await tx.write([
    sql`select from ${whose} for no key update of u, p`,
    sql<{ limited: boolean }>`with able as (
        select u.id as user_id, ${limitedFor(tx, account)} is not null as limited
        from ${whose} and p.hash = ${hash} and ${isActive(sql`u`)}
          and ${hasSecondFactor(sql`u`)} = ${has_second_factor}::boolean),
      open as (select user_id from able where not limited),
      begun as (${insert(open)})${event === undefined ? sql`` : sql`, emitted as (${emit(ctx, event, open)})`}
      select limited from able`,
    ...cleanup,
  ])
  return able && (able.limited ? 'limited' : 'recorded')
}

/** What a right password begins: an insert for each row of a common table expression with `user_id`, and what it leaves to clean up. */
export type Beginning = {
  insert(whom: Statement): Statement
  cleanup: readonly Statement[]
  event?: NewEvent
}
