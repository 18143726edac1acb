import { inSteps } from '../db/steps.ts'
import type { Ctx, SealedPlace, Tx } from '../kernel/context.ts'
import { type ErrorCode, Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'
import { errorText } from './error-reply.ts'
import type { KeyedCall } from './idempotency-key.ts'
import { findKeptAnswer, keepAnswer, takeKey } from './kept-answer-store.ts'

/** An answer as it is sent; the text is empty when there is no body. */
export type Answer = { status: number; etag?: string; location?: string; text: string }

/** `isReplay`: this answer was given before, and this call changed nothing. */
export type KeyedAnswer = Answer & { isReplay: boolean }

type Kept = { asked: string; answer: Answer }

/** Errors that only say "try again". If the answer were kept, retries would get it for a day. */
const temporaryErrors: readonly ErrorCode[] = [
  ...(['unauthenticated', 'sign_in_again', 'tenant_suspended', 'rate_limited', 'version_conflict'] as const),
]

/**
 * Each call holds a connection for as long as it runs, and connections are few. The limit per tenant lets a tenant delay
 * only its own calls.
 */
const keyedCalls = createSemaphore({
  limit: 2,
  maxWaitMs: 5_000,
  refusal: () =>
    new Problem(
      'unavailable',
      'too many calls of this tenant with an `Idempotency-Key` are running; retry in a moment',
    ),
})

/**
 * Does the work once for a key, regardless of repeated calls and crashed processes: its writes and its answer are one
 * transaction. A refusal is also an answer, and is kept with its entry in the audit log. A fault is not an answer: it rolls
 * everything back. `prepare` runs before the transaction, unless the call was answered already.
 * @throws Problem 409 while the first call is running, 422 when the key was used for another request, and what `work` throws
 */
export async function answerOnce(
  ctx: Ctx,
  call: KeyedCall,
  work: (ctx: Ctx) => Promise<Answer>,
  prepare?: () => Promise<void>,
): Promise<KeyedAnswer> {
  const { tx, sealer } = ctx
  const place: SealedPlace = { table: 'kept_answer', id: call.id.toString('hex'), field: 'sealed_answer' }
  const replayed = async (by: Tx, sealed_answer: string) =>
    replay(JSON.parse(await sealer.unseal(by, sealed_answer, place)) as Kept, call)
  if (prepare !== undefined) {
    const sealed_answer = await findKeptAnswer(tx, call.id)
    if (sealed_answer !== undefined) return replayed(tx, sealed_answer)
    await prepare()
  }
  const once = async (inside: Tx): Promise<KeyedAnswer | Problem> => {
    const { taken, sealed_answer } = await takeKey(inside, call.id, call.within)
    if (!taken) {
      throw new Problem('idempotency_in_progress', 'the first call with this `Idempotency-Key` is still running')
    }
    if (sealed_answer !== undefined) return replayed(inside, sealed_answer)
    const done = await answerOrRefusal(() => work({ ...ctx, tx: inSteps(inside) }))
    if (done instanceof Problem && temporaryErrors.includes(done.code)) return done
    const answer = done instanceof Problem ? { status: done.status, text: errorText(done) } : done
    const kept: Kept = { asked: call.asked, answer }
    await keepAnswer(inside, call.id, await sealer.seal(inside, JSON.stringify(kept), place))
    return done instanceof Problem ? done : { ...answer, isReplay: false }
  }
  const outcome = await keyedCalls.run(() => tx.interactive(once), { key: tx.tenant_id })
  if (outcome instanceof Problem) throw outcome
  return outcome
}

function replay(kept: Kept, { asked }: KeyedCall): KeyedAnswer {
  if (kept.asked === asked) return { ...kept.answer, isReplay: true }
  throw new Problem(
    'idempotency_key_reused',
    'this `Idempotency-Key` was used with another body or query; use a new key for each new call',
  )
}

async function answerOrRefusal(work: () => Promise<Answer>): Promise<Answer | Problem> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof Problem && thrown.status < 500) return thrown
    throw thrown
  }
}
