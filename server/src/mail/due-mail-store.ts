import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { maxTextLength } from '../kernel/foreign-text.ts'

/** The tables whose rows are mails to send, each a work list. A row is `pending` until its mail is `sent`, or has `failed`. */
export type MailTable = 'invitation_mail' | 'notification_mail'

/** The name of each table, and what its rows forget at their end. */
const tables: Record<MailTable, { name: Statement; erasure: Statement }> = {
  invitation_mail: { name: sql`invitation_mail`, erasure: sql`sealed_secrets = null,` },
  notification_mail: { name: sql`notification_mail`, erasure: sql`` },
}

/** INVARIANT: every write of a run has this condition for the row `m`, so a worker that lost the row writes nothing. */
export function isHeld({ tenant_id }: Tx, item: WorkItem): Statement {
  return sql`m.tenant_id = ${tenant_id} and m.id = ${item.id} and m.generation = ${item.generation}::bigint`
}

/** What an update of a mail sets when it is given up. */
export function mailEnd(table: MailTable, why: string): Statement {
  return sql`state = 'failed', ${tables[table].erasure} next_look_at = null, lease_until = null,
    last_error = ${why.slice(0, maxTextLength)}::text`
}

/** The mail is with the mail server, also where what it is about ended during the attempt. */
export async function saveSent(tx: Tx, table: MailTable, item: WorkItem): Promise<void> {
  const { name, erasure } = tables[table]
  await tx.write([
    sql`update ${name} m set state = 'sent', sent_at = clock_timestamp(), ${erasure} next_look_at = null,
        lease_until = null, last_error = null
      where ${isHeld(tx, item)}`,
  ])
}

export async function giveUpMail(tx: Tx, table: MailTable, item: WorkItem, why: string): Promise<void> {
  await tx.write([
    sql`update ${tables[table].name} m set ${mailEnd(table, why)} where ${isHeld(tx, item)} and m.state = 'pending'`,
  ])
}

/**
 * The attempt failed for now: it is repeated after `wait_ms` milliseconds. The run gives up the row, so that a fault which it throws
 * afterwards does not make the mail due earlier.
 */
export async function retryMail(
  tx: Tx,
  table: MailTable,
  item: WorkItem,
  { why, wait_ms }: { why: string; wait_ms: number },
): Promise<void> {
  await tx.write([
    sql`update ${tables[table].name} m set generation = m.generation + 1, lease_until = null,
        last_error = ${why.slice(0, maxTextLength)},
        next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8)
      where ${isHeld(tx, item)} and m.state = 'pending'`,
  ])
}
