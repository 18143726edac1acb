import { Type } from 'typebox'
import { operation, type ServerEvent } from '../http/operation.ts'
import type { ChangeFeed, Ctx } from '../kernel/context.ts'
import { Notification } from '../notifications/notification.ts'
import { beginning, findStart, notificationsAfter } from '../notifications/notification-stream.flow.ts'
import { hintsOf, RecordHint } from './change.ts'
import { type Position, positionPattern, positionText, readPosition, rightsOf } from './stream-position.ts'

/** A client with more changed records loads its lists again: that costs it less. */
const maxHints = 100
/** After this many events of others a client gets its position, so that it can resume after a quiet time in a busy tenant. */
const positionEvery = 100

const reloadAll = 'you missed changes, or your rights have changed; load again what you show'
const tooMany = 'another stream of yours replaced this one, the oldest of five; do not reconnect automatically'

type StreamedEvent = ServerEvent<RecordHint | Notification>

export const streamChanges = operation({
  method: 'GET',
  path: '/v1/stream',
  summary: 'Stream which records changed that you may see, and your own notifications (server-sent events)',
  credential: 'user',
  scope: null,
  replies: { 200: Type.Union([RecordHint, Notification]) },
  streams: 'text/event-stream',
  eventIdPattern: positionPattern,
  endsWithScopes: true,
  errors: ['invalid_input'],
  run: (ctx, { header }) => stream(ctx, header('last-event-id')),
})

async function* stream(ctx: Ctx, lastId: string | undefined): AsyncGenerator<StreamedEvent | undefined> {
  const { tx, actor, streams } = ctx
  const user_id = actor.user_id ?? beginning.id
  const last = readPosition(lastId)
  const subscription = await streams.follow(tx.tenant_id, user_id)
  try {
    const own = await findStart(tx, user_id, last?.notification)
    let { place } = own
    const reader = await openReader(ctx, subscription.feed, own.hasMissed ? undefined : last)
    const id = () => positionText({ ...reader.reached(), notification: place.id })
    yield { id: id(), ...(last !== undefined && !reader.resumes && missed) }
    for (let isNotified = true; ; ) {
      for (const { isPlace, ...event } of reader.read()) yield { ...(isPlace && { id: id() }), ...event }
      if (isNotified) {
        for await (const { place: reached, notification } of notificationsAfter(tx, user_id, place)) {
          place = reached
          yield { id: id(), event: 'notification', data: notification }
        }
      }
      let signal = await subscription.next()
      while (signal === 'quiet') {
        yield undefined
        signal = await subscription.next()
      }
      if (signal === 'replaced') yield { event: 'replaced', data: { hint: tooMany } }
      if (signal !== 'notified' && signal !== 'changed') return
      isNotified = signal === 'notified'
    }
  } finally {
    subscription.close()
  }
}

const missed = { event: 'missed', data: { hint: reloadAll } }

/** `isPlace`: a client that has this event can resume after it. */
type ReadEvent = Pick<StreamedEvent, 'event' | 'data'> & { isPlace: boolean }

/** Reads what the feed has for one stream, from the position of its client or from now on. */
async function openReader({ actor }: Ctx, feed: ChangeFeed, last: Position | undefined) {
  const rights = rightsOf(actor.scopes)
  const known = last?.rights === rights ? await feed.find(last.mark) : undefined
  let position = known ?? feed.end()
  let mark = last !== undefined && known !== undefined ? last.mark : feed.lastMark()
  let placedAt = position

  function* read(): Generator<ReadEvent> {
    const events = feed.after(position)
    const hints = events && hintsOf(events, actor)
    position = feed.end()
    if (events === undefined || hints === undefined || hints.length > maxHints) {
      mark = feed.lastMark()
      placedAt = position
      yield { ...missed, isPlace: true }
      return
    }
    for (const { hint, mark: reached } of hints) {
      mark = reached ?? mark
      yield { event: 'changed', data: hint, isPlace: reached !== undefined }
    }
    mark = events.at(-1)?.mark ?? mark
    if (position - placedAt < positionEvery) return
    placedAt = position
    yield { isPlace: true }
  }

  return { read, reached: () => ({ mark, rights }), resumes: known !== undefined }
}
