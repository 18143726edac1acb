import type { House } from './house.ts'
import { until } from './wait.ts'

/** Waits until no open transaction anywhere on the server can precede an event: an export ends before the first such event. */
export function untilEventsSettle(house: Pick<House, 'asSuperuser'>): Promise<unknown> {
  return until('no transaction can precede the last event', async () => {
    const unsettled = 'select from event where xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1'
    return (await house.asSuperuser(unsettled)).length === 0
  })
}
