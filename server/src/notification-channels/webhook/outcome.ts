import { jsonFieldsOf } from '../../egress/json-fields.ts'
import { retryAfterMs } from '../../egress/retry-after.ts'
import { maxTextLength, saidWords } from '../../kernel/said-words.ts'
import type { Outcome } from '../carrier.ts'

/** Its receiver has no room, or what stands before it does not reach it: every other message would fare the same. */
const down = [429, 502, 503, 504]
/** Whoever asks to be left alone for longer is asked again all the same. */
const maxRequestedWaitMs = 3_600_000

/**
 * How an attempt went, by what was answered. Whatever was not taken is tried again: a receiver that refuses today what it
 * takes tomorrow was more often wrong itself than told something wrong. `hide`: texts that its words may not repeat.
 */
export async function outcomeOf(response: Response, now: Date, hide: readonly string[]): Promise<Outcome> {
  const { status } = response
  if (status >= 200 && status < 300) return { kind: 'delivered', said: `the receiver answered ${status}` }
  const why = await wordsOf(response, hide)
  if (status === 410) return { kind: 'gone', why }
  if (!down.includes(status)) return { kind: 'try_again', why, holds_up: 'this' }
  const after_ms = retryAfterMs(response.headers, now)
  return {
    kind: 'try_again',
    why,
    holds_up: 'all',
    ...(after_ms !== undefined && { after_ms: Math.min(after_ms, maxRequestedWaitMs) }),
  }
}

async function wordsOf(response: Response, hide: readonly string[]): Promise<string> {
  const { status } = response
  if (status >= 300 && status < 400) return `the receiver answered ${status}, and redirects are not followed`
  const said = saidWords(messageIn(await response.text(), response.headers), hide)
  return said === null
    ? `the receiver answered ${status}`
    : `the receiver answered ${status}: ${said}`.slice(0, maxTextLength)
}

/** Of JSON its `message` or `error`, plain text as it is; a page says nothing that belongs into a log. */
function messageIn(text: string, headers: Headers): unknown {
  if (/^text\/plain\b/i.test(headers.get('content-type') ?? '')) return text.slice(0, 10_000)
  const fields = jsonFieldsOf(text, headers)
  return fields?.message ?? fields?.error
}
