import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { multiFactor } from '../kernel/fresh-sign-in.ts'
import { rolesHeld } from '../roles/holding-store.ts'
import { settingIs } from '../settings/setting-store.ts'
import type { Mode } from '../tenants/mode.ts'
import { isActive, isTenantSuspended } from '../users/active-store.ts'
import { scopesAsArray } from '../users/user-store.ts'

/** What a live session proves: its user, the scopes of the user at this moment, and the time by the database's clock. */
export type SessionAuthority = {
  user_id: string
  scopes: string[]
  live_until: string
  auth_time: string
  amr: string[]
  mode: Mode
  /** Whether the rehearsal made the user. */
  rehearses: boolean
  /** Whether the user must have a second factor, and this sign-in had none. */
  lacks_factor: boolean
  tenant_suspended: boolean
  /** Whether the recorded use is older than a minute. */
  unused_lately: boolean
  now: string
}

/**
 * Whether a local user (a value or a column) must sign in with a second factor in a live tenant: an admin or an approver, by a group too,
 * unless the tenant has set otherwise. A value to embed in another statement.
 */
export function needsSecondFactor(tx: Tx, user_id: Statement): Statement {
  return sql`(${settingIs(tx, 'auth.second_factor_required')}
    and exists (select from (${rolesHeld(tx, user_id)}) held where held.role_id in ('admin', 'approver')))`
}

async function mustHaveFactor(tx: Tx, user_id: string): Promise<boolean> {
  const [row] = await tx.read(sql<{ needs: boolean }>`select ${needsSecondFactor(tx, sql`${user_id}`)} as needs`)
  return row?.needs === true
}

/** Who presents the session: the user whom a token names, or a browser with the secret. */
export type SessionHolder = { user_id: string } | { cookie_hash: Buffer }

/**
 * Undefined for a session that has ended or belongs to another holder, and for an inactive or suspended user. One round trip, and a
 * second one only for a sign-in by password alone in a live tenant: to look up in each what few need would make all of them slower.
 */
export async function findSessionAuthority(
  tx: Tx,
  id: string,
  holder: SessionHolder,
): Promise<SessionAuthority | undefined> {
  const held = 'user_id' in holder ? sql`s.user_id = ${holder.user_id}` : sql`s.cookie_hash = ${holder.cookie_hash}`
  const [found] = await tx.read(sql<Omit<SessionAuthority, 'lacks_factor'> & { is_local: boolean }>`
    select s.user_id, ${scopesAsArray(tx)} as scopes, s.live_until, s.auth_time, s.amr, t.mode,
      ${isTenantSuspended(sql`t`)} as tenant_suspended,
      u.auth_provider = 'local' as is_local, u.rehearsal is not null as rehearses, clock_timestamp() as now,
      s.last_used_at < clock_timestamp() - interval '1 minute' as unused_lately
    from user_session s join tenant_user u on u.tenant_id = s.tenant_id and u.id = s.user_id
      join tenant t on t.id = s.tenant_id
    where s.tenant_id = ${tx.tenant_id} and s.id = ${id} and ${held} and s.live_until > clock_timestamp()
      and ${isActive(sql`u`)}`)
  if (found === undefined) return undefined
  const { is_local, ...authority } = found
  const mayLack = authority.mode === 'live' && is_local && !authority.amr.includes(multiFactor)
  return { ...authority, lacks_factor: mayLack && (await mustHaveFactor(tx, authority.user_id)) }
}
