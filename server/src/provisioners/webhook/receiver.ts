import { NotReached, postSigned } from '../../egress/signed-post.ts'
import type { Egress, Tx } from '../../kernel/context.ts'
import { piecesOf, sanitizeText } from '../../kernel/foreign-text.ts'
import { newId } from '../../kernel/id.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import { NotNow, TargetError } from '../driver.ts'
import { readClock } from '../webhook-act-store.ts'
import { type Answer, readAnswer } from './answer.ts'
import type { WebhookConfig } from './webhook-config.ts'

/** A message to the receiver. `id`: the same in every attempt; absent for a query. */
export type Message = { type: string; data: Record<string, unknown>; id?: string; begun_at?: string }

/** The kind of slot that a call takes: removing access does not wait behind giving it. */
export type Priority = 'takes' | 'gives'

export type Receiver = {
  /** A text of the receiver, sanitized so that it may be stored and shown. */
  words(said: unknown): string | null
  /** The database's clock, read at most once a minute. */
  now(tx: Tx): Promise<Date>
  /** Runs the whole call within the concurrency limit. @throws NotNow when the receiver has no room */
  withinLimit<Result>(priority: Priority, call: () => Promise<Result>): Promise<Result>
  /** @throws NotNow, TargetError */
  send(tx: Tx, message: Message, signal: AbortSignal): Promise<Answer>
  /** Whether it accepts a message without a valid signature. @throws TargetError when it does not answer */
  takesUnsigned(tx: Tx, message: Message, signal: AbortSignal): Promise<boolean>
}

const maxWaitMs = 10_000
const clockMs = 60_000

/** `secrets`: the secrets valid now, the newest first. */
export function openReceiver(config: WebhookConfig, secrets: readonly string[], egress: Egress): Receiver {
  const { url, headers = {}, calls_at_once = 10 } = config
  const hide = piecesOf([...secrets, ...Object.values(headers)])
  const givingLimit = Math.floor(calls_at_once / 2)
  const callsAtOnce = (limit: number) => createSemaphore({ limit, maxWaitMs, refusal: () => new NotNow(maxWaitMs) })
  const semaphores = { takes: callsAtOnce(calls_at_once - givingLimit), gives: callsAtOnce(givingLimit) }
  /** Removing access pauses only after a removal found no room, so that many requests for access cannot delay it. */
  const pausedUntil = { takes: Number.NEGATIVE_INFINITY, gives: Number.NEGATIVE_INFINITY }
  const now = openClock()

  const call = async (tx: Tx, { type, data, ...message }: Message, keys: readonly string[], signal: AbortSignal) => {
    const at = await now(tx)
    const body = JSON.stringify({ type, timestamp: message.begun_at ?? at, data })
    const post = { url, headers, secrets: keys, id: message.id ?? newId(), at, body }
    const response = await postSigned(egress, post, signal).catch((error: unknown) => {
      throw error instanceof NotReached ? new TargetError('transient', error.message) : error
    })
    return { response, at }
  }

  const pausing = async <Result>(priority: Priority, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof NotNow) {
        const until = performance.now() + error.after_ms
        pausedUntil.gives = Math.max(pausedUntil.gives, until)
        if (priority === 'takes') pausedUntil.takes = Math.max(pausedUntil.takes, until)
      }
      throw error
    }
  }

  return {
    words: (said) => sanitizeText(said, hide),
    now,
    withinLimit: (priority, work) =>
      semaphores[priority].run(async () => {
        const pause = pausedUntil[priority] - performance.now()
        if (pause > 0) throw new NotNow(Math.ceil(pause))
        return pausing(priority, work)
      }),
    async send(tx, message, signal) {
      const { response, at } = await call(tx, message, secrets, signal)
      return readAnswer(response, at, hide)
    },
    async takesUnsigned(tx, message, signal) {
      const { response } = await call(tx, message, [invalidSecret], signal)
      return response.status < 300
    },
  }
}

const invalidSecret = `whsec_${Buffer.alloc(32).toString('base64')}`

/** Between two reads it advances by the monotonic clock. */
function openClock(): Receiver['now'] {
  let last: { readAt: number; ms: number } | undefined
  return async (tx) => {
    const now = performance.now()
    if (last === undefined || now - last.readAt > clockMs) last = { readAt: now, ms: await readClock(tx) }
    return new Date(last.ms + performance.now() - last.readAt)
  }
}
