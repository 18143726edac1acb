import { jsonFieldsOf } from '../../egress/json-fields.ts'
import { retryAfterMs } from '../../egress/retry-after.ts'
import { maxTextLength, sanitizeText } from '../../kernel/foreign-text.ts'
import type { SendOutcome } from '../../kernel/send-outcome.ts'

/** The receiver is overloaded, or its proxy cannot reach it: every other message would fail too. */
const unavailableStatuses = [429, 502, 503, 504]
/** A longer requested wait is cut to this. */
const maxRequestedWaitMs = 3_600_000

/**
 * The outcome of an attempt, by the answer. A message that was not accepted is tried again: a refusal is more often a fault
 * of the receiver than of the message. `hide`: texts that must not appear in the outcome.
 */
export async function outcomeOf(response: Response, now: Date, hide: readonly string[]): Promise<SendOutcome> {
  const { status } = response
  if (status >= 200 && status < 300) return { kind: 'delivered', said: `the receiver answered ${status}` }
  const why = await wordsOf(response, hide)
  if (status === 410) return { kind: 'gone', why }
  if (!unavailableStatuses.includes(status)) return { kind: 'try_again', why, holds_up: 'this' }
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
  const text = sanitizeText(messageIn(await response.text(), response.headers), hide)
  return text === null
    ? `the receiver answered ${status}`
    : `the receiver answered ${status}: ${text}`.slice(0, maxTextLength)
}

/** The `message` or `error` of JSON, or plain text; an HTML page contains nothing worth logging. */
function messageIn(text: string, headers: Headers): unknown {
  if (/^text\/plain\b/i.test(headers.get('content-type') ?? '')) return text.slice(0, 10_000)
  const fields = jsonFieldsOf(text, headers)
  return fields?.message ?? fields?.error
}
