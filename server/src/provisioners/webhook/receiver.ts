import { NotReached, postSigned } from '../../egress/signed-post.ts'
import type { Egress, Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import { piecesOf, saidWords } from '../../kernel/said-words.ts'
import { createSemaphore } from '../../kernel/semaphore.ts'
import { NotNow, TargetError } from '../driver.ts'
import { readClock } from '../webhook-act-store.ts'
import { type Answer, readAnswer } from './answer.ts'
import type { WebhookConfig } from './webhook-config.ts'

/** What is sent. `id`: the same each time that a message is sent again; left out where it asks only. */
export type Message = { type: string; data: Record<string, unknown>; id?: string; begun_at?: string }

/** Which of the receiver's places a call takes: what takes access away does not wait behind what gives it. */
export type Priority = 'takes' | 'gives'

export type Receiver = {
  /** Somebody else's words as they may be kept and shown. */
  words(said: unknown): string | null
  /** The database's clock, asked seldom. */
  now(tx: Tx): Promise<Date>
  /** Has its turn, and does all of a call in it. @throws NotNow where the receiver has no room */
  withinLimit<Result>(priority: Priority, call: () => Promise<Result>): Promise<Result>
  /** @throws NotNow, TargetError */
  send(tx: Tx, message: Message, signal: AbortSignal): Promise<Answer>
  /** Whether it takes what nobody has signed. @throws TargetError where it does not answer */
  takesUnsigned(tx: Tx, message: Message, signal: AbortSignal): Promise<boolean>
}

const maxWaitMs = 10_000
const clockMs = 60_000

/** `secrets`: those that count now, the newest first. */
export function openReceiver(config: WebhookConfig, secrets: readonly string[], egress: Egress): Receiver {
  const { url, headers = {}, calls_at_once = 10 } = config
  const hide = piecesOf([...secrets, ...Object.values(headers)])
  const forGiving = Math.floor(calls_at_once / 2)
  const callsAtOnce = (limit: number) => createSemaphore({ limit, maxWaitMs, refusal: () => new NotNow(maxWaitMs) })
  const semaphores = { takes: callsAtOnce(calls_at_once - forGiving), gives: callsAtOnce(forGiving) }
  /** Taking away pauses only where taking away found no room: whoever asks for much cannot hold it up. */
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
    words: (said) => saidWords(said, hide),
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
      const { response } = await call(tx, message, [nobodysSecret], signal)
      return response.status < 300
    },
  }
}

const nobodysSecret = `whsec_${Buffer.alloc(32).toString('base64')}`

/** Between two questions it goes by a clock that nobody sets. */
function openClock(): Receiver['now'] {
  let last: { asked: number; ms: number } | undefined
  return async (tx) => {
    const asked = performance.now()
    if (last === undefined || asked - last.asked > clockMs) last = { asked, ms: await readClock(tx) }
    return new Date(last.ms + performance.now() - last.asked)
  }
}
