import { Readable } from 'node:stream'
import type { ServerEvent } from './operation.ts'

const intervals = {
  /** An empty line this often keeps proxies from closing an idle stream. */
  heartbeatMs: 15_000,
  /** An idle stream checks its reader’s credential this often; a stream with events does so at each event. */
  recheckMs: 2_000,
}
/** Milliseconds that a client waits before it reconnects. They vary so that clients of a stopped process do not all return at once. */
const [minRetryMs, maxRetryMs] = [1_000, 5_000]

/** Proxies must not cache one person's events, nor buffer them. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * The events as text. Each event is pulled when the reader takes it, so nothing is buffered for a reader that takes none.
 * The stream ends with the events, or when `mayGoOn` returns false. Resolves at the first event.
 * @throws what the events throw before the first, while an error reply is still possible
 */
export async function openEventStream(
  events: AsyncIterable<ServerEvent<unknown> | undefined>,
  mayGoOn: () => Promise<boolean>,
  { heartbeatMs, recheckMs } = intervals,
): Promise<Readable> {
  const iterator = events[Symbol.asyncIterator]()
  const first = await iterator.next()
  const retryMs = Math.round(minRetryMs + Math.random() * (maxRetryMs - minRetryMs))
  let opening: string | undefined = `retry: ${retryMs}\n${textOf(first.value ?? {})}`
  let sentAt = performance.now()
  let authorizedAt = sentAt

  /** The next text to send; null at the end. */
  async function next(): Promise<string | null> {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done) return null
      const now = performance.now()
      if (value !== undefined || now - authorizedAt >= recheckMs) {
        if (!(await mayGoOn())) return null
        authorizedAt = now
      }
      if (value === undefined && now - sentAt < heartbeatMs) continue
      sentAt = now
      return value === undefined ? ':\n\n' : textOf(value)
    }
  }

  return new Readable({
    highWaterMark: 1,
    read() {
      if (opening !== undefined) {
        this.push(opening)
        opening = undefined
      } else {
        next().then(
          (text) => this.destroyed || this.push(text),
          (error: Error) => this.destroy(error),
        )
      }
    },
    destroy(error, done) {
      // The iterator finishes once its current wait ends.
      void iterator.return?.().catch(() => undefined)
      done(error)
    },
  })
}

/** JSON text has no line breaks, so it is one line of data. */
function textOf({ id, event, data }: ServerEvent<unknown>): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ]
  return `${lines.join('\n')}\n\n`
}
