import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { rolesHeld } from '../roles/holding-store.ts'
import { multiFactor } from '../second-factors/second-factor.ts'
import { settingIs } from '../settings/setting-store.ts'
import type { Mode } from '../tenants/mode.ts'
import { tenantMode } from '../tenants/mode-store.ts'
import { isActive } from '../users/active-store.ts'
import { scopesAsArray } from '../users/user-store.ts'

/** What a live session proves: its user, the scopes of the user at this moment, and the time by the database's clock. */
export type SessionAuthority = {
  user_id: string
  scopes: string[]
  live_until: string
  auth_time: string
  amr: string[]
  mode: Mode
  /** Whether the user must have a second factor, and this sign-in had none. */
  lacks_factor: boolean
  /** Whether the recorded use is older than a minute. */
  unused_lately: boolean
  now: string
}

/**
 * Whether the user `u` must sign in with a second factor: a local one who is an admin or an approver, by a group too, in a live tenant
 * that has not set otherwise. Nothing is looked up in rehearsal.
 */
function needsSecondFactor(tx: Tx): Statement {
  return sql`case when ${tenantMode(tx)} = 'live' and u.auth_provider = 'local' then
      ${settingIs(tx, 'auth.second_factor_required')}
        and exists (select from (${rolesHeld(tx, sql`u.id`)}) held where held.role_id in ('admin', 'approver'))
    else false end`
}

/** Who presents the session: the user whom a token names, or a browser with the secret. */
export type SessionHolder = { user_id: string } | { cookie_hash: Buffer }

/** Undefined for a session that has ended or belongs to another holder, and for an inactive or suspended user. */
export async function findSessionAuthority(
  tx: Tx,
  id: string,
  holder: SessionHolder,
): Promise<SessionAuthority | undefined> {
  const held = 'user_id' in holder ? sql`s.user_id = ${holder.user_id}` : sql`s.cookie_hash = ${holder.cookie_hash}`
  const [found] = await tx.read(sql<SessionAuthority>`
    select s.user_id, ${scopesAsArray(tx)} as scopes, s.live_until, s.auth_time, s.amr, ${tenantMode(tx)} as mode,
      case when s.amr @> array[${multiFactor}::text] then false else ${needsSecondFactor(tx)} end as lacks_factor,
      clock_timestamp() as now, s.last_used_at < clock_timestamp() - interval '1 minute' as unused_lately
    from user_session s join tenant_user u on u.tenant_id = s.tenant_id and u.id = s.user_id
    where s.tenant_id = ${tx.tenant_id} and s.id = ${id} and ${held} and s.live_until > clock_timestamp()
      and ${isActive(sql`u`)}`)
  return found
}
