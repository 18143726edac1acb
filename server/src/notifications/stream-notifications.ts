import { operation, type ServerEvent } from '../http/operation.ts'
import type { Ctx, Notified } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { Notification } from './notification.ts'
import { beginning } from './notification-store.ts'
import { findStart, notificationsAfter } from './notification-stream.flow.ts'

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
    for (let news: Notified | undefined; ; ) {
      for await (const { place: reached, notification } of notificationsAfter(tx, user_id, { place, ...news })) {
        place = reached
        yield { id: place.id, event: 'notification', data: notification }
      }
      let signal = await subscription.next()
      while (signal === 'quiet') {
        yield undefined
        signal = await subscription.next()
      }
      if (signal === 'replaced') yield { event: 'replaced', data: { hint: tooMany } }
      if (typeof signal === 'string') return
      news = signal
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
