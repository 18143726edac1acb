import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import type { Mode } from '../tenants/mode.ts'
import { isActive } from '../users/active-store.ts'
import { neverJoined } from '../users/joined-store.ts'
import { personName } from '../users/person-name-store.ts'
import { isLive } from './invitation-store.ts'

/** A mail that is due, and what it says. */
export type DueMail = {
  sealed: string
  attempts: number
  /** Whether its link still leads to a user who may join. */
  is_live: boolean
  tenant: string
  mode: Mode
  zone: string
  email: string
  name: string
  inviter: string | null
  expires_at: string
}

/** INVARIANT: every write of a run has this condition for the row `m`, so a worker that lost the row writes nothing. */
export function isHeld({ tenant_id }: Tx, item: WorkItem): Statement {
  return sql`m.tenant_id = ${tenant_id} and m.id = ${item.id} and m.generation = ${item.generation}::bigint`
}

/** Records the start of an attempt, and returns what is to be mailed; undefined when the row was lost, or has ended. */
export async function beginMail(tx: Tx, item: WorkItem): Promise<DueMail | undefined> {
  const [[found]] = await tx.write([
    sql<Omit<DueMail, 'zone'> & { stored: Record<string, string> }>`with m as (
        update invitation_mail m set attempts = m.attempts + 1 where ${isHeld(tx, item)} and m.state = 'pending'
        returning m.id, m.sealed_secrets, m.attempts)
      select m.sealed_secrets as sealed, m.attempts, t.name as tenant, t.mode, u.email, u.name, i.expires_at,
        ${settingsAsJson(tx)} as stored, ${personName(tx, sql`i.created_by`)} as inviter,
        ${isLive} and ${neverJoined(sql`u`)}
          and ${isActive(sql`u`)} as is_live
      from m join invitation i on i.tenant_id = ${tx.tenant_id} and i.id = m.id
        join tenant_user u on u.tenant_id = i.tenant_id and u.id = i.user_id
        join tenant t on t.id = i.tenant_id`,
  ])
  if (found === undefined) return undefined
  const { stored, ...due } = found
  return { ...due, zone: readSettingValues(stored)['timezone.default'] }
}
