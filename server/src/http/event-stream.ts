import { Readable } from 'node:stream'
import type { ServerEvent } from './operation.ts'

const pace = {
  /** A line that says nothing this often keeps whoever stands between from taking the silence for the end. */
  heartbeatMs: 15_000,
  /** A stream without news asks this often whether its reader may still have it; one with news asks each time. */
  askAgainMs: 2_000,
}
/** Milliseconds that a client waits before it comes again: not all at once when a process has stopped. */
const [minRetryMs, maxRetryMs] = [1_000, 5_000]

/** Nobody on the way may keep what is one person's, nor hold it back until there is more. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * The events as text, asked for one by one as the reader takes them: one that takes none has none kept for it. It ends
 * with the events, or when `mayGoOn` denies it. Answers when the first has come.
 * @throws what the events throw before the first, while there can still be an answer that says so
 */
export async function openEventStream(
  events: AsyncIterable<ServerEvent<unknown> | undefined>,
  mayGoOn: () => Promise<boolean>,
  { heartbeatMs, askAgainMs } = pace,
): Promise<Readable> {
  const iterator = events[Symbol.asyncIterator]()
  const first = await iterator.next()
  const retryMs = Math.round(minRetryMs + Math.random() * (maxRetryMs - minRetryMs))
  let opening: string | undefined = `retry: ${retryMs}\n${textOf(first.value ?? {})}`
  let saidAt = performance.now()
  let askedAt = saidAt

  /** What is to be sent next; null at the end. */
  async function next(): Promise<string | null> {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done) return null
      const now = performance.now()
      if (value !== undefined || now - askedAt >= askAgainMs) {
        if (!(await mayGoOn())) return null
        askedAt = now
      }
      if (value === undefined && now - saidAt < heartbeatMs) continue
      saidAt = now
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
      // It comes to its end with the wait that it is in.
      void iterator.return?.().catch(() => undefined)
      done(error)
    },
  })
}

/** JSON has no line breaks of its own, so that its text is one line of data. */
function textOf({ id, event, data }: ServerEvent<unknown>): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ]
  return `${lines.join('\n')}\n\n`
}
