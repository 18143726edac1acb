import { setTimeout as pause } from 'node:timers/promises'
import { AnswerTooLong } from '../../egress/call-out.ts'
import { failureCause } from '../../egress/failure-cause.ts'
import { retryAfterMs } from '../../egress/retry-after.ts'
import { backoffDelay } from '../../kernel/backoff.ts'
import type { Egress } from '../../kernel/context.ts'
import { withinDeadline } from '../../kernel/deadline.ts'
import { piecesOf, sanitizeText } from '../../kernel/foreign-text.ts'
import { isObject } from '../../kernel/is-object.ts'
import { parsedJson } from '../../kernel/parsed-json.ts'
import { TargetError } from '../../provisioners/driver.ts'
import type { ScimConfig } from './scim-config.ts'

/** An error that the SCIM server answered, with its status. */
export class ScimRefusal extends TargetError {
  readonly status: number

  constructor(kind: TargetError['kind'], message: string, status: number) {
    super(kind, message)
    this.name = 'ScimRefusal'
    this.status = status
  }
}

/** A JSON object that a SCIM server answered: foreign in every part. */
export type ScimAnswer = Readonly<Record<string, unknown>>

/**
 * Reads one path below the base address. A server that has no room is asked again, as late as it says.
 * @throws ScimRefusal; TargetError without an answer, or with one that is no JSON object
 */
export type AskScim = (path: string, signal: AbortSignal) => Promise<ScimAnswer>

export type AskingLimits = {
  /** Of one attempt. */
  maxCallMs: number
  /** Of all pauses of one call together. A page of a reading may take no more than five minutes. */
  maxWaitMs: number
  maxAnswerBytes: number
}

const maxAttempts = 5
/** Without `Retry-After`. */
const backoff = { base: 1_000, max: 16_000 }

/** INVARIANT: the token is in no error, also where the server repeats it. */
export function askScimServer(config: ScimConfig, egress: Egress, limits: AskingLimits): AskScim {
  const { base_url, token } = config
  const hidden = [token, encodeURIComponent(token), Buffer.from(token).toString('base64')]
  const hide = [...hidden, ...piecesOf([token])]
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/scim+json, application/json',
    'user-agent': 'sallyport',
  }

  const call = (path: string, signal: AbortSignal) => {
    const { maxCallMs, maxAnswerBytes } = limits
    const attempt = async (ended: AbortSignal) => {
      const stop = AbortSignal.any([signal, ended])
      return egress.call(`${base_url}${path}`, { headers, signal: stop, maxAnswerBytes }).catch((error: unknown) => {
        signal.throwIfAborted()
        throw notAnswered(error, stop, maxAnswerBytes)
      })
    }
    return withinDeadline<Response>(maxCallMs, attempt, () => {
      throw notReached(`it did not answer within ${Math.ceil(maxCallMs / 1_000)} s`)
    })
  }

  return async (path, signal) => {
    let waitedMs = 0
    for (let attempt = 0; ; attempt += 1) {
      const response = await call(path, signal)
      if (response.status === 200) return readObject(await response.text(), path)
      const { status } = response
      const refusal = refusalOf(status, path, sanitizeText(detailOf(await response.text()), hide))
      if (status !== 429 && status !== 503) throw refusal
      const waitMs = retryAfterMs(response.headers, timeOf(response.headers)) ?? backoffDelay(backoff, attempt)
      waitedMs += waitMs
      if (attempt + 1 === maxAttempts || waitedMs > limits.maxWaitMs) throw refusal
      await pause(waitMs, undefined, { signal })
    }
  }
}

/** The server's own time: it is what a date in `Retry-After` means. */
function timeOf(headers: Headers): Date {
  return new Date(headers.get('date') ?? Number.NaN)
}

function notReached(why: string): TargetError {
  return new TargetError('transient', `the SCIM server was not reached: ${why}; check \`base_url\``)
}

function notAnswered(error: unknown, signal: AbortSignal, maxBytes: number): TargetError {
  if (!(error instanceof AnswerTooLong)) return notReached(failureCause(error, signal))
  return new TargetError('permanent', `a page of the SCIM server is longer than ${maxBytes} bytes: lower \`page_size\``)
}

/** @throws TargetError */
function readObject(text: string, path: string): ScimAnswer {
  const value = parsedJson(text)
  if (isObject(value)) return value
  throw new TargetError(
    'permanent',
    `the SCIM server answered no JSON object to \`${nameOf(path)}\`: check \`base_url\``,
  )
}

/** What an answer says of its error (RFC 7644, section 3.12). */
function detailOf(text: string): unknown {
  const value = parsedJson(text)
  return typeof value === 'object' && value !== null && 'detail' in value ? value.detail : undefined
}

const nameOf = (path: string) => path.replace(/\?.*/, '')

/** The server's own words only where they can help: who is not let in learns that the token is wrong. */
function refusalOf(status: number, path: string, detail: string | null): ScimRefusal {
  const answered = `the SCIM server answered ${status} to \`${nameOf(path)}\``
  const permanent = (fix: string) => new ScimRefusal('permanent', `${answered}: ${fix}`, status)
  const words = detail === null ? '' : `: ${detail}`
  const transient = (fix: string) => new ScimRefusal('transient', `${answered}${words}; ${fix}`, status)
  if (status === 401) return permanent('it does not take `token`; make a new one there, and set it here')
  if (status === 403) return permanent('give `token` the right to read users and groups there')
  if (status === 404) return permanent('check `base_url`, below which it must be')
  if (status === 429) return transient('it has too many calls; try again later, or sync less often')
  if (status >= 300 && status < 400) return permanent('redirects are not followed; set `base_url` to the final address')
  if (status >= 500 || [408, 409, 425].includes(status)) return transient('try again later')
  return new ScimRefusal(
    'permanent',
    `${answered}, where 200 is expected${words}; check \`base_url\` and \`page_size\``,
    status,
  )
}
