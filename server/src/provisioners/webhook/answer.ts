import { jsonFieldsOf } from '../../egress/json-fields.ts'
import { retryAfterMs } from '../../egress/retry-after.ts'
import { maxTextLength, sanitizeText } from '../../kernel/foreign-text.ts'
import { NotNow, TargetError } from '../driver.ts'

/** A receiver's answer, which is untrusted. */
export type Answer = { status: number; fields: Readonly<Record<string, unknown>> }

const [maxWaitMs, usualWaitMs] = [300_000, 5_000]

/**
 * Reads an answer of 200 or 202. `hide`: texts that must not appear in the result.
 * @throws NotNow for 429; TargetError for every other status, transient when a retry may succeed, and for answers that violate
 * the protocol
 */
export async function readAnswer(response: Response, now: Date, hide: readonly string[]): Promise<Answer> {
  const { status } = response
  const fields = jsonFieldsOf(await response.text(), response.headers)
  if (status === 429) throw new NotNow(Math.min(retryAfterMs(response.headers, now) ?? usualWaitMs, maxWaitMs))
  if (status !== 200 && status !== 202) throw new TargetError(kindOf(status), wordsOf(response, fields, hide))
  if (fields === undefined && status === 200) {
    throw new TargetError(
      'transient',
      'the receiver answered 200 without a JSON object; check the address of the receiver',
    )
  }
  return { status, fields: fields ?? {} }
}

/**
 * A refused act stays refused. These may pass: a signature that the receiver does not know yet, a conflict, a timeout, a server
 * error and an answer that violates the protocol.
 */
function kindOf(status: number): TargetError['kind'] {
  const mayPass = status < 300 || status >= 500 || [401, 408, 409, 425].includes(status)
  return mayPass ? 'transient' : 'permanent'
}

function wordsOf({ status }: Response, fields: Record<string, unknown> | undefined, hide: readonly string[]): string {
  const text = sanitizeText(fields?.message, hide)
  if (text !== null) return `the receiver answered ${status}: ${text}`.slice(0, maxTextLength)
  if (status >= 300 && status < 400) return `the receiver answered ${status}, and redirects are not followed`
  if (status < 300) return `the receiver answered ${status}, but the protocol requires 200 or 202 with JSON`
  return `the receiver answered ${status} without a \`message\``
}
