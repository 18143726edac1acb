import type { Tx } from '../kernel/context.ts'
import { type Notification, notificationOf } from './notification.ts'
import {
  type Ahead,
  beginning,
  findNewestPlace,
  findPlace,
  listNotificationsBehind,
  type Place,
} from './notification-store.ts'

/** A client that missed more gets only the newest of them, and a hint to list the rest. */
const maxMissed = 100
/** Rows read at once; a stream that falls behind reads the next page when its reader has taken this one. */
const pageSize = 100

/** The user's notifications after `place`, as far as their order is final. */
export async function* notificationsAfter(
  tx: Tx,
  user_id: string,
  { place, ...told }: Ahead,
): AsyncGenerator<{ place: Place; notification: Notification }> {
  for (let reached = place; ; ) {
    const rows = await listNotificationsBehind(tx, user_id, { place: reached, ...told }, pageSize)
    for (const { xid, seq, ...row } of rows) {
      reached = { id: row.id, xid, seq }
      yield { place: reached, notification: notificationOf(row) }
    }
    if (rows.length < pageSize) return
  }
}

/**
 * Starts after the last notification that the client received, or after all existing ones. When the last one is unknown, the
 * client may have missed some.
 */
export async function findStart(tx: Tx, user_id: string, last: string | undefined) {
  if (last !== undefined) {
    const [reach, place] = await Promise.all([
      findNewestPlace(tx, user_id, maxMissed),
      last === beginning.id ? beginning : findPlace(tx, user_id, last),
    ])
    if (place !== undefined) {
      const hasMissed = reach !== undefined && isBefore(place, reach)
      return { place: hasMissed ? reach : place, hasMissed }
    }
  }
  const place = (await findNewestPlace(tx, user_id, 0)) ?? beginning
  return { place, hasMissed: last !== undefined }
}

function isBefore(one: Place, other: Place): boolean {
  if (one.xid !== other.xid) return BigInt(one.xid) < BigInt(other.xid)
  return BigInt(one.seq) < BigInt(other.seq)
}
