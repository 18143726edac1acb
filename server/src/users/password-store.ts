import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { hasSecondFactor } from '../second-factors/second-factor-store.ts'
import { sessionsEnd } from '../sessions/session-store.ts'
import { passwordMinLength } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { ownPasswordOf } from './sign-in-failure.ts'
import { limitedFor } from './sign-in-failure-store.ts'

/**
 * The data that a change of one's own password is checked against. The hash is null when no password is stored.
 * `limited_for`: seconds until the user may try again; null when they may now.
 */
export type OwnPassword = {
  user_id: string
  auth_provider: string
  hash: string | null
  limited_for: number | null
  /** The minimum length of a new password. */
  min_length: number
}

/** Undefined for a user who was deleted since their credential was checked. */
export async function findOwnPassword(tx: Tx, user_id: string | null): Promise<OwnPassword | undefined> {
  if (user_id === null) return undefined
  type Row = Omit<OwnPassword, 'min_length'> & { stored: Record<string, string>; has_second_factor: boolean }
  const [row] = await tx.read(sql<Row>`
    select u.id as user_id, u.auth_provider, p.hash, ${hasSecondFactor(sql`u`)} as has_second_factor,
      ${settingsAsJson(tx)} as stored,
      ${limitedFor(tx, ownPasswordOf(user_id))} as limited_for
    from tenant_user u left join user_password p on p.tenant_id = u.tenant_id and p.user_id = u.id
    where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and u.deleted_at is null`)
  if (row === undefined) return undefined
  const { stored, has_second_factor, ...found } = row
  return { ...found, min_length: passwordMinLength(stored, { hasFactor: has_second_factor }) }
}

/**
 * Changes a password, emits the event, and ends the user's sessions but `kept`; false when the stored hash is not the old one any
 * more.
 */
export async function replacePassword(
  ctx: WorkCtx,
  user_id: string,
  change: { old_hash: string | null; new_hash: string; kept: string | null },
): Promise<boolean> {
  const event = { type: 'user.password_changed', subject_type: 'user', subject_id: user_id } as const
  return ctx.tx.interactive(async (tx) => {
    const [rows] = await tx.write([
      sql`with changed as (
          update user_password set hash = ${change.new_hash}, updated_at = clock_timestamp()
          where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and hash = ${change.old_hash}
          returning user_id),
        emitted as (${emit(ctx, event, sql`changed`)})
        select user_id from changed`,
    ])
    if (rows.length > 0) await tx.write([sessionsEnd(tx, user_id, { except: change.kept })])
    return rows.length > 0
  })
}
