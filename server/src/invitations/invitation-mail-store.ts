import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { maxTextLength } from '../kernel/foreign-text.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import type { Mode } from '../tenants/mode.ts'
import { isActive } from '../users/active-store.ts'
import { personName } from '../users/person-name-store.ts'
import { isLive, mailEnd, neverJoined } from './invitation-store.ts'

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

/** INVARIANT: every write of a run has this condition, so a worker that lost the row writes nothing. */
function ours({ tenant_id }: Tx, item: WorkItem): Statement {
  return sql`m.tenant_id = ${tenant_id} and m.id = ${item.id} and m.generation = ${item.generation}::bigint`
}

/** Records the start of an attempt, and returns what is to be mailed; undefined when the row was lost, or has ended. */
export async function beginMail(tx: Tx, item: WorkItem): Promise<DueMail | undefined> {
  const [[found]] = await tx.write([
    sql<Omit<DueMail, 'zone'> & { stored: Record<string, string> }>`with m as (
        update invitation_mail m set attempts = m.attempts + 1 where ${ours(tx, item)} and m.state = 'pending'
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

/** The mail is with the mail server. Its secret is erased, also where the invitation ended during the attempt. */
export async function saveSent(tx: Tx, item: WorkItem): Promise<void> {
  await tx.write([
    sql`update invitation_mail m set state = 'sent', sent_at = clock_timestamp(), sealed_secrets = null,
        next_look_at = null, lease_until = null, last_error = null
      where ${ours(tx, item)}`,
  ])
}

/** The mail is given up, and its secret is erased. */
export async function giveUpMail(tx: Tx, item: WorkItem, why: string): Promise<void> {
  await tx.write([
    sql`update invitation_mail m set ${mailEnd(why.slice(0, maxTextLength))}
      where ${ours(tx, item)} and m.state = 'pending'`,
  ])
}

/**
 * The attempt failed for now: it is repeated after `wait_ms` milliseconds. The run gives up the row, so that a fault which it throws
 * afterwards does not make the mail due earlier.
 */
export async function retryMail(tx: Tx, item: WorkItem, why: string, wait_ms: number): Promise<void> {
  await tx.write([
    sql`update invitation_mail m set generation = m.generation + 1, lease_until = null,
        last_error = ${why.slice(0, maxTextLength)},
        next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8)
      where ${ours(tx, item)} and m.state = 'pending'`,
  ])
}
