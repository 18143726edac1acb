import type { Ctx } from '../kernel/context.ts'
import type { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { type Answer, answerOnce, type KeyedAnswer } from './answer-once.ts'
import { errorObject } from './error-object.ts'
import { problemOf } from './error-reply.ts'
import { type KeyedCall, keyedEntry } from './idempotency-key.ts'
import type { AnswerEntry, Operation } from './operation.ts'

/** What the pipeline does around each entry. */
export type AroundEntries = {
  /** The caller with the rights that they have now. @throws Problem 401 or 403 where they may no longer call */
  admitAgain(): Promise<Ctx>
  /** Records in the audit log a refusal that the work has not recorded itself. */
  recordingRefusal<Result>(ctx: Ctx, work: () => Promise<Result>): Promise<Result>
  logFault(thrown: unknown, entry: string): void
  afterWrite(): void
}

type Called = {
  operation: Operation
  ctx: Ctx
  input: object
  /** Undefined without an `Idempotency-Key`. */
  call: KeyedCall | undefined
  finish(body: unknown): Answer
  around: AroundEntries
}

/** Runs the operation, once if the call has a key. */
export async function carryOut(called: Called): Promise<{ body: unknown } | KeyedAnswer> {
  const { operation, ctx, call, finish } = called
  if (operation.inEntries) return carryOutInEntries(called)
  const input = called.input as never
  const prepare = async () => operation.prepare?.(ctx, input)
  if (call === undefined) {
    await prepare()
    return { body: await operation.run(ctx, input) }
  }
  return answerOnce(
    ctx,
    call,
    async (inside) => finish(await operation.run(inside, input)),
    operation.prepare && prepare,
  )
}

/**
 * Runs an operation that is `inEntries`. With a key, the call reserves it, and each entry is a keyed call of its own: its work and its answer are one
 * transaction. A repeated call gets the answers of the entries that have one, and does the others.
 * @throws Problem as `answerOnce`, for the key of the call; what the operation throws
 */
async function carryOutInEntries(called: Called): Promise<{ body: unknown } | KeyedAnswer> {
  const { operation, ctx, input, call, finish } = called
  await operation.prepare?.(ctx, input as never)
  const reserved = call && (await answerOnce(ctx, call, async () => ({ status: operation.status, text: newId() })))
  const { answerEntry, areReplays } = answering(called, reserved?.text)
  const body = await operation.run(ctx, { ...input, answerEntry } as never)
  return reserved === undefined ? { body } : { ...finish(body), isReplay: areReplays() }
}

/** `areReplays`: all answers so far were given before. */
function answering({ operation: { status }, call, around }: Called, reserved: string | undefined) {
  let areReplays = true

  async function carryOutEntry<Result>(name: string, work: (ctx: Ctx) => Promise<Result>) {
    const ctx = await around.admitAgain()
    const run = (inside: Ctx) => around.recordingRefusal(ctx, () => work(inside))
    if (call === undefined || reserved === undefined) return { status, result: await run(ctx) }
    const answer = await answerOnce(ctx, keyedEntry(call, reserved, name), async (inside) => ({
      status,
      text: JSON.stringify(await run(inside)),
    }))
    areReplays &&= answer.isReplay
    const reply = JSON.parse(answer.text)
    return answer.status === status ? { status, result: reply as Result } : { status: answer.status, error: reply }
  }

  const answerEntry: AnswerEntry = async ({ name, inTurn, work }) => {
    try {
      return await inTurn(() => carryOutEntry(name, work))
    } catch (thrown) {
      const problem = problemOf(thrown)
      if (concernsKey(problem)) throw problem
      areReplays = false
      around.logFault(thrown, name)
      return { status: problem.status, error: errorObject(problem) }
    } finally {
      // At once: a later entry may take its time.
      around.afterWrite()
    }
  }
  return { answerEntry, areReplays: () => areReplays }
}

/** What is wrong with the key of an entry is wrong with the call. */
function concernsKey({ code }: Problem): boolean {
  return code === 'idempotency_in_progress' || code === 'idempotency_key_reused'
}
