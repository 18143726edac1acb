/**
 * Rows in flight for longer than `afterMs`, of a list without room for others: they are ended, except for `goOn` of them, one of each tenant,
 * for `untilMs` at most. So those that are stuck leave room, and those that are large come to their end.
 */
export type LongRows = { afterMs: number; goOn: number; untilMs: number }

type Running = { tenant_id: string; since: number }

/** The row to end next: of those that may be ended the one that began last, with which the least work is lost. Undefined: none may be ended. */
export function rowToEnd<Row extends Running>(
  rows: Iterable<Row>,
  now: number,
  { afterMs, goOn, untilMs }: LongRows,
): Row | undefined {
  const long = [...rows].filter(({ since }) => now - since >= afterMs).sort((one, other) => one.since - other.since)
  const firstOfEach = new Map<string, Row>()
  for (const row of long) {
    if (now - row.since < untilMs && !firstOfEach.has(row.tenant_id)) firstOfEach.set(row.tenant_id, row)
  }
  const going = new Set([...firstOfEach.values()].slice(0, goOn))
  return long.findLast((row) => !going.has(row))
}
