/** What has leases, and what a row of it is known by. */
const keys = {
  ...{ access_request: 'id', access_grant: 'id', entitlement: 'id', delivery_lane: 'id' },
  event_cursor: 'subscriber',
}

/**
 * Lets every lease end at once, as time would. Row by row, each in a transaction of its own: many at once would have to be
 * locked in the order in which the services lock them, or the two hold each other up.
 */
export async function endLeasesNow(
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>,
  tables = Object.keys(keys) as (keyof typeof keys)[],
): Promise<void> {
  for (const table of tables) {
    const held = await query(`select ${keys[table]} as key from ${table} where lease_until > clock_timestamp()`)
    for (const { key } of held) {
      await query(
        `update ${table} set lease_until = clock_timestamp() where ${keys[table]} = $1 and lease_until > clock_timestamp()`,
        [key],
      )
    }
  }
}
