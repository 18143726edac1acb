/** Limits how much work runs at once. */
export type Semaphore = {
  /**
   * Runs the work after acquiring a place, and releases the place when the work ends or fails.
   * @throws the error of `refusal` if no place became free in time; what the work throws
   */
  run<Result>(work: () => Promise<Result>, options?: AcquireOptions): Promise<Result>
}

export type SemaphoreOptions = {
  /** The maximum number of works of one key that run at once. */
  limit: number
  /** The maximum number of one key that wait; one more is refused at once. Left out: any number waits. */
  maxWaiting?: number
  /** A caller that has waited this long is refused. Left out: callers wait until a place is free. */
  maxWaitMs?: number
  refusal(): Error
}

type AcquireOptions = {
  /** Work of one key does not wait for work of another. */
  key?: string
  /** Goes before waiting callers that are not urgent. */
  isUrgent?: boolean
  /** Ends the wait with a refusal. If it is already aborted, there is no wait. */
  signal?: AbortSignal
}

type Waiter = { isUrgent: boolean; acquire(): void }
type Queue = { running: number; waiting: Waiter[] }

/** Waiting callers are served in order of arrival. */
export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const { limit, maxWaiting = Number.POSITIVE_INFINITY, maxWaitMs, refusal } = options
  const queues = new Map<string, Queue>()

  const wait = ({ waiting }: Queue, { isUrgent = false, signal }: AcquireOptions) =>
    new Promise<void>((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', refuse)
      }
      const acquire = () => {
        stopWaiting()
        resolve()
      }
      const waiter = { isUrgent, acquire }
      const refuse = () => {
        stopWaiting()
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(refusal())
      }
      const place = isUrgent ? waiting.findIndex((other) => !other.isUrgent) : -1
      waiting.splice(place === -1 ? waiting.length : place, 0, waiter)
      const timer = maxWaitMs === undefined ? undefined : setTimeout(refuse, maxWaitMs)
      signal?.addEventListener('abort', refuse, { once: true })
    })

  /** The place is handed to the next waiter and not freed in between, so that no newcomer can take it first. */
  const release = (queue: Queue, key: string): void => {
    const next = queue.waiting.shift()
    if (next !== undefined) next.acquire()
    else if (--queue.running === 0) queues.delete(key)
  }

  return {
    async run(work, acquireOptions = {}) {
      const { key = '' } = acquireOptions
      const queue = queues.get(key) ?? { running: 0, waiting: [] }
      queues.set(key, queue)
      if (queue.running < limit) queue.running++
      else if (queue.waiting.length >= maxWaiting || acquireOptions.signal?.aborted) throw refusal()
      else await wait(queue, acquireOptions)
      try {
        return await work()
      } finally {
        release(queue, key)
      }
    },
  }
}
