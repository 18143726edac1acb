/** The tables with leases, and the key of their rows. */
const keys = {
  ...{ access_request: 'id', access_grant: 'id', entitlement: 'id', delivery_lane: 'id', event_queue: 'id' },
  ...{ invitation_mail: 'id', notification_mail_queue: 'id' },
}

/**
 * Ends every lease at once, as if its time had passed. Each row is updated in its own transaction: one transaction would have
 * to lock the rows in the services' order, or it would deadlock with them.
 */
export async function endLeasesNow(
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>,
  tables = Object.keys(keys) as (keyof typeof keys)[],
): Promise<void> {
  for (const table of tables) {
    const held = await query(`select ${keys[table]} as key from ${table} where lease_until > clock_timestamp()`)
    for (const { key } of held) {
      await query(
        `update ${table} set lease_until = clock_timestamp() where ${keys[table]} = $1
          and lease_until > clock_timestamp()`,
        [key],
      )
    }
  }
}
