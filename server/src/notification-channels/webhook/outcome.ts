import { retryAfterMs } from '../../egress/retry-after.ts'
import { longestWords, saidWords } from '../../kernel/said-words.ts'
import type { Outcome } from '../carrier.ts'

/** Its receiver has no room, or what stands before it does not reach it: every other message would fare the same. */
const down = [429, 502, 503, 504]
const longestWaitMs = 3_600_000

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
    ...(after_ms !== undefined && { after_ms: Math.min(after_ms, longestWaitMs) }),
  }
}

async function wordsOf(response: Response, hide: readonly string[]): Promise<string> {
  const { status } = response
  if (status >= 300 && status < 400) return `the receiver answered ${status}, and redirects are not followed`
  const said = saidWords(messageIn(await response.text(), response.headers.get('content-type') ?? ''), hide)
  return said === null
    ? `the receiver answered ${status}`
    : `the receiver answered ${status}: ${said}`.slice(0, longestWords)
}

/** Of JSON its `message` or `error`, plain text as it is; a page says nothing that belongs into a log. */
function messageIn(text: string, contentType: string): unknown {
  if (/^text\/plain\b/i.test(contentType)) return text.slice(0, 10_000)
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(contentType)) return undefined
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown }
    return message ?? error
  } catch {
    return undefined
  }
}
