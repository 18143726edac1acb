import { operation, type ServerEvent } from '../http/operation.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { Notification, notificationOf } from './notification.ts'
import { findNewestPlace, findPlace, listNotificationsBehind, type Place } from './notification-store.ts'

/** The position before the first notification, for a user who has none yet. */
const beginning: Place = { id: '00000000-0000-0000-0000-000000000000', xid: '0', seq: '0' }

/** A client that missed more gets only the newest of them, and a hint to list the rest. */
const maxMissed = 100
/** Rows read at once; a stream that falls behind reads the next page when its reader has taken this one. */
const pageSize = 100

const listThem =
  'this stream repeats only the newest of the notifications you missed; list the rest at /v1/users/me/notifications'
const tooMany = 'another stream of yours replaced this one, the oldest of five; do not reconnect automatically'

export const streamNotifications = operation({
  method: 'GET',
  path: '/v1/users/me/notifications/stream',
  summary: 'Stream your own notifications (server-sent events)',
  credential: 'user',
  scope: null,
  replies: { 200: Notification },
  streams: 'text/event-stream',
  errors: ['invalid_input'],
  run: (ctx, { header }) => stream(ctx, header('last-event-id')),
})

async function* stream(ctx: Ctx, lastId: string | undefined): AsyncGenerator<ServerEvent<Notification> | undefined> {
  const { tx, actor, streams } = ctx
  const user_id = actor.user_id ?? beginning.id
  const last = readLast(lastId)
  const subscription = streams.subscribe(tx.tenant_id, user_id)
  try {
    let { place, hasMissed } = await findStart(tx, user_id, last)
    // So that a client without any notification knows its position.
    yield { id: place.id }
    if (hasMissed) yield { event: 'missed', data: { hint: listThem } }
    for (;;) {
      const rows = await listNotificationsBehind(tx, user_id, place, pageSize)
      for (const { xid, seq, ...row } of rows) {
        place = { id: row.id, xid, seq }
        yield { id: row.id, event: 'notification', data: notificationOf(row) }
      }
      if (rows.length === pageSize) continue
      let signal = await subscription.next()
      while (signal === 'quiet') {
        yield undefined
        signal = await subscription.next()
      }
      if (signal === 'replaced') yield { event: 'replaced', data: { hint: tooMany } }
      if (signal !== 'notified') return
    }
  } finally {
    subscription.close()
  }
}

function readLast(text = ''): string | undefined {
  if (text === '') return undefined
  const id = readUuid(text)
  if (id === undefined)
    throw invalidInput([{ pointer: 'Last-Event-ID', why: 'must be an `id` from an earlier event of this stream' }])
  return id
}

/**
 * Starts after the last notification that the client received, or after all existing ones. When the last one is unknown, the
 * client may have missed some.
 */
async function findStart(tx: Tx, user_id: string, last: string | undefined) {
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
