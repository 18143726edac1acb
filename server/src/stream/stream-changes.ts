import { Type } from 'typebox'
import { operation, type ResumeTokens, type ServerEvent } from '../http/operation.ts'
import type { ChangeFeed, Ctx, Notified } from '../kernel/context.ts'
import { Notification } from '../notifications/notification.ts'
import { beginning } from '../notifications/notification-store.ts'
import { findStart, notificationsAfter } from '../notifications/notification-stream.flow.ts'
import { hintsOf, RecordHint } from './change.ts'
import { findPosition, type Position, positionText, rightsOf } from './stream-position.ts'

/** A client with more changed records loads its lists again: that costs it less. */
const maxHints = 100
/**
 * A client gets its position this long after the last one, so that it can resume after a quiet time in a busy tenant. Always, and not
 * after a number of events: that would tell it how much happens that it may not see.
 */
const positionEveryMs = 60_000

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
  sealsEventIds: true,
  endsWithScopes: true,
  errors: [],
  run: (ctx, { header, resumeTokens }) => stream(ctx, resumeTokens, header('last-event-id') ?? ''),
})

async function* stream(ctx: Ctx, tokens: ResumeTokens, lastId: string): AsyncGenerator<StreamedEvent | undefined> {
  const { tx, actor, streams } = ctx
  const user_id = actor.user_id ?? beginning.id
  const last = findPosition(tokens, lastId)
  const subscription = await streams.follow(tx.tenant_id, user_id)
  try {
    const own = await findStart(tx, user_id, last?.notification)
    let { place } = own
    const reader = await openReader(ctx, subscription.feed, own.hasMissed ? undefined : last)
    const { id, whenQuiet } = idsOf(() => positionText(tokens, { ...reader.reached(), notification: place.id }))
    yield { id: id(), ...(lastId !== '' && !reader.resumes && missed) }
    for (let news: Notified | 'changed' | undefined; ; ) {
      for (const { isPlace, ...event } of reader.read()) yield { ...(isPlace && { id: id() }), ...event }
      if (news !== 'changed') {
        for await (const { place: reached, notification } of notificationsAfter(tx, user_id, { place, ...news })) {
          place = reached
          yield { id: id(), event: 'notification', data: notification }
        }
      }
      let signal = await subscription.next()
      while (signal === 'quiet') {
        yield whenQuiet()
        signal = await subscription.next()
      }
      if (signal === 'replaced') yield { event: 'replaced', data: { hint: tooMany } }
      if (signal === 'replaced' || signal === 'over') return
      news = signal
    }
  } finally {
    subscription.close()
  }
}

function idsOf(make: () => string) {
  let madeAt = performance.now()
  const id = () => {
    madeAt = performance.now()
    return make()
  }
  const isDue = () => performance.now() - madeAt >= positionEveryMs
  return { id, whenQuiet: (): StreamedEvent | undefined => (isDue() ? { id: id() } : undefined) }
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

  function* read(): Generator<ReadEvent> {
    const events = feed.after(position)
    const hints = events && hintsOf(events, actor)
    position = feed.end()
    if (events === undefined || hints === undefined || hints.length > maxHints) {
      mark = feed.lastMark()
      yield { ...missed, isPlace: true }
      return
    }
    for (const { hint, mark: reached } of hints) {
      mark = reached ?? mark
      yield { event: 'changed', data: hint, isPlace: reached !== undefined }
    }
    mark = events.at(-1)?.mark ?? mark
  }

  return { read, reached: () => ({ mark, rights }), resumes: known !== undefined }
}
