import { sql } from '../db/sql.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { maxTextLength } from '../kernel/foreign-text.ts'

/** The tables whose rows are mails to send. A row is `pending` until its mail is `sent`, or has `failed`. */
export type MailTable = 'invitation_mail' | 'notification_mail'

/** A mail of a table. INVARIANT: `held` is a condition for the row `m` that fails for a worker that lost it. */
export type MailRow = { table: MailTable; held: Statement }

/** The name of each table, what its rows forget at their end, and what releases a row that is leased by itself. */
const tables: Record<MailTable, { name: Statement; erasure: Statement; release: Statement }> = {
  invitation_mail: {
    name: sql`invitation_mail`,
    erasure: sql`sealed_secrets = null, lease_until = null,`,
    // The run gives up the row, so that a fault which it throws afterwards does not make the mail due earlier.
    release: sql`generation = m.generation + 1, lease_until = null,`,
  },
  notification_mail: { name: sql`notification_mail`, erasure: sql``, release: sql`` },
}

/** What an update of a mail sets when it is given up. */
export function mailEnd(table: MailTable, why: string): Statement {
  return sql`state = 'failed', ${tables[table].erasure} next_look_at = null,
    last_error = ${why.slice(0, maxTextLength)}::text`
}

/** The mail is with the mail server, also where what it is about ended during the attempt. */
export async function saveSent(tx: Tx, { table, held }: MailRow): Promise<void> {
  const { name, erasure } = tables[table]
  await tx.write([
    sql`update ${name} m set state = 'sent', sent_at = clock_timestamp(), ${erasure} next_look_at = null,
        last_error = null
      where ${held}`,
  ])
}

export async function giveUpMail(tx: Tx, { table, held }: MailRow, why: string): Promise<void> {
  await tx.write([sql`update ${tables[table].name} m set ${mailEnd(table, why)} where ${held} and m.state = 'pending'`])
}

/** The attempt failed for now: it is repeated after `wait_ms` milliseconds. */
export async function retryMail(
  tx: Tx,
  { table, held }: MailRow,
  { why, wait_ms }: { why: string; wait_ms: number },
): Promise<void> {
  const { name, release } = tables[table]
  await tx.write([
    sql`update ${name} m set ${release} last_error = ${why.slice(0, maxTextLength)},
        next_look_at = clock_timestamp() + make_interval(secs => ${wait_ms / 1000}::float8)
      where ${held} and m.state = 'pending'`,
  ])
}
