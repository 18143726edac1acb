import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { Passkey } from './passkey.ts'
import { recoveryCodeHash } from './recovery-code.ts'
import { maxFactors, type SecondFactor, setUpSeconds } from './second-factor.ts'

/** A confirmed factor, with what its proof is checked against. */
export type ConfirmedFactor = SecondFactor &
  ({ kind: 'totp'; sealed_secrets: string; last_step: string | null } | ({ kind: 'passkey' } & Passkey))

/** A factor that is being set up. */
export type PendingFactor = {
  id: string
  kind: SecondFactor['kind']
  sealed_secrets: string | null
  challenge: string | null
}

/** A confirmed factor that is a passkey. */
export const isPasskey = (factor: ConfirmedFactor): factor is ConfirmedFactor & { kind: 'passkey' } =>
  factor.kind === 'passkey'

const shown = sql`id, kind, name, created_at, last_used_at`

/** Whether the user `u`, a row of tenant_user, has a second factor: a value to embed in another statement. */
export function hasSecondFactor(u: Statement): Statement {
  return sql`exists (select from second_factor f
    where f.tenant_id = ${u}.tenant_id and f.user_id = ${u}.id and f.confirmed_at is not null)`
}

/** The confirmed factors of a user, the oldest first. */
export function listFactors(tx: Tx, user_id: string | null): Promise<ConfirmedFactor[]> {
  return tx.read(sql<ConfirmedFactor>`select ${shown}, sealed_secrets, last_step, credential_id, public_key,
      sign_count::float8 as sign_count, synced, transports
    from second_factor where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and confirmed_at is not null
    order by id limit ${maxFactors}`)
}

/** The number of recovery codes that a user has left. */
export async function countRecoveryCodes(tx: Tx, user_id: string | null): Promise<number> {
  const [row] = await tx.read(sql<{ left: number }>`select count(*)::int as left from recovery_code
    where tenant_id = ${tx.tenant_id} and user_id = ${user_id}`)
  return row?.left ?? 0
}

const isPending = sql`confirmed_at is null
  and created_at > clock_timestamp() - make_interval(secs => ${setUpSeconds}::int)`

/** Locks the acting user. INVARIANT: their changes of factors wait for each other, so that each one counts what the others did. */
function ownerLock({ tx, actor }: WorkCtx): Statement {
  return sql`select from tenant_user where tenant_id = ${tx.tenant_id} and id = ${actor.user_id} for no key update`
}

/**
 * Begins a factor of the acting user, and deletes those that were begun and not confirmed in time. Undefined when the user has the
 * maximum already.
 */
export async function insertFactor(
  ctx: WorkCtx,
  factor: PendingFactor & { name: string },
): Promise<{ created_at: string } | undefined> {
  const { tx, actor } = ctx
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id = ${actor.user_id}`
  const { id, kind, name, sealed_secrets, challenge } = factor
  const [, , [made]] = await tx.write([
    ownerLock(ctx),
    sql`delete from second_factor where ${whose} and confirmed_at is null and not (${isPending})`,
    sql<{ created_at: string }>`
      insert into second_factor (tenant_id, id, user_id, kind, name, sealed_secrets, challenge)
      select ${tx.tenant_id}::uuid, ${id}::uuid, ${actor.user_id}::uuid, ${kind}::text, ${name}::text,
        ${sealed_secrets}::text, ${challenge}::text
      where (select count(*) from second_factor where ${whose}) < ${maxFactors}::int
      returning created_at`,
  ])
  return made
}

/** Undefined for a factor that is confirmed, too old, or another user's. */
export async function findPendingFactor(
  tx: Tx,
  user_id: string | null,
  id: string,
): Promise<PendingFactor | undefined> {
  const [found] = await tx.read(sql<PendingFactor>`select id, kind, sealed_secrets, challenge from second_factor
    where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and id = ${id} and ${isPending}`)
  return found
}

/** What confirms a factor: the period of the code, or the passkey that was made. */
export type Confirmation = { step: number } | { passkey: Passkey }

/** What comes with the first factor of a user: recovery codes, and the end of the other sessions, which had none. */
export type FirstFactor = {
  codes: readonly string[]
  ending: readonly Statement[]
  /** The sign-in had no second factor, so that it sets up the first one and no other. */
  only: boolean
}

/**
 * Confirms a factor of the acting user, and emits the event.
 * Undefined when the factor is no longer pending, or when another was confirmed meanwhile and only the first may be.
 * @throws Problem 422 when the passkey is set up already
 */
export async function confirmFactor(
  ctx: WorkCtx,
  { id, kind }: PendingFactor,
  confirmation: Confirmation,
  { codes, ending, only }: FirstFactor,
): Promise<{ factor: SecondFactor; first: boolean } | undefined> {
  const { tx, actor } = ctx
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id = ${actor.user_id}`
  const event = factorEvent('second_factor_added', actor.user_id, { factor_id: id, kind })
  const hashes = codes.map(recoveryCodeHash)
  const others = sql`select from second_factor where ${whose} and confirmed_at is not null`
  return tx.interactive(async (inside) => {
    const [, [before], [factor]] = await inside.write([
      ownerLock(ctx),
      sql<{ first: boolean }>`select not exists (${others}) as first`,
      sql<SecondFactor>`with confirmed as (
          update second_factor set confirmed_at = clock_timestamp(), ${confirmedColumns(confirmation)}, challenge = null
          where ${whose} and id = ${id} and ${isPending} and not (${only}::boolean and exists (${others}))
          returning ${shown}),
        emitted as (${emit({ ...ctx, tx: inside }, event, sql`confirmed`)})
        select * from confirmed`,
    ])
    if (factor === undefined) return undefined
    const first = before?.first === true
    if (first) await inside.write([...recoveryCodesReplacement(inside, actor.user_id, hashes), ...ending])
    return { factor, first }
  })
}

function confirmedColumns(confirmation: Confirmation): Statement {
  if ('step' in confirmation) return sql`last_step = ${confirmation.step}::bigint`
  const { credential_id, public_key, sign_count, synced, transports } = confirmation.passkey
  return sql`credential_id = ${credential_id}, public_key = ${public_key}, sign_count = ${sign_count}::bigint,
    synced = ${synced}, transports = ${transports}::text[]`
}

function recoveryCodesReplacement(tx: Tx, user_id: string | null, hashes: readonly Buffer[]): [Statement, Statement] {
  return [
    sql`delete from recovery_code where tenant_id = ${tx.tenant_id} and user_id = ${user_id}`,
    sql`insert into recovery_code (tenant_id, user_id, hash)
      select ${tx.tenant_id}::uuid, ${user_id}::uuid, hash from unnest(${hashes}::bytea[]) as hash`,
  ]
}

/** Replaces the recovery codes of the acting user and emits the event. */
export async function replaceRecoveryCodes(ctx: WorkCtx, codes: readonly string[]): Promise<void> {
  const { tx, actor } = ctx
  await tx.write([
    ownerLock(ctx),
    ...recoveryCodesReplacement(tx, actor.user_id, codes.map(recoveryCodeHash)),
    emit(ctx, factorEvent('recovery_codes_replaced', actor.user_id)),
  ])
}

/**
 * Removes a factor of the acting user, and emits the event if it counted; the recovery codes go with the last one. False when
 * there is no such factor.
 */
export async function deleteFactor(
  ctx: WorkCtx,
  id: string,
  { onlyPending }: { onlyPending: boolean },
): Promise<boolean> {
  const { tx, actor } = ctx
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id = ${actor.user_id}`
  const event = factorEvent('second_factor_removed', actor.user_id, { factor_id: id })
  const [, rows] = await tx.write([
    ownerLock(ctx),
    sql<{ id: string }>`with gone as (
        delete from second_factor where ${whose} and id = ${id}
          and (confirmed_at is null or not ${onlyPending}::boolean)
        returning id, confirmed_at),
      counted as (select from gone where confirmed_at is not null),
      emitted as (${emit(ctx, event, sql`counted`)})
      select id from gone`,
    sql`delete from recovery_code where ${whose}
      and not exists (select from second_factor where ${whose} and confirmed_at is not null)`,
  ])
  return rows.length > 0
}

/** Removes everything that a locked user could prove beside the password, for use in a larger transaction. */
export function factorsEnd(tx: Tx, user_id: string): Statement[] {
  const whose = sql`tenant_id = ${tx.tenant_id} and user_id = ${user_id}`
  return [sql`delete from second_factor where ${whose}`, sql`delete from recovery_code where ${whose}`]
}

/** The event of `factorsEnd` where somebody else removed what the user had. With `whenRow`, as `emit` has it. */
export function factorsReset(ctx: WorkCtx, user_id: string, whenRow?: Statement): Statement {
  return emit(ctx, factorEvent('second_factors_reset', user_id), whenRow)
}

function factorEvent(
  what: 'second_factor_added' | 'second_factor_removed' | 'second_factors_reset' | 'recovery_codes_replaced',
  user_id: string | null,
  data: Record<string, unknown> = {},
) {
  return { type: `user.${what}`, subject_type: 'user', subject_id: String(user_id), data } as const
}
