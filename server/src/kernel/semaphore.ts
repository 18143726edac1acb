/** Limits how much work runs at once. */
export type Semaphore = {
  /**
   * Runs the work when it has acquired a place, which it releases however it ends.
   * @throws what `refusal` makes, where no place became free in time; what the work throws
   */
  run<Result>(work: () => Promise<Result>, options?: AcquireOptions): Promise<Result>
}

export type SemaphoreOptions = {
  /** So many pieces of work of one key run at once. */
  limit: number
  /** So many of one key wait; one more is refused at once. Left out: any number waits. */
  maxWaiting?: number
  /** Who has waited so long is refused. Left out: waits until a place is free. */
  maxWaitMs?: number
  refusal(): Error
}

type AcquireOptions = {
  /** Work of one key does not wait for work of another. */
  key?: string
  /** Goes before those who wait and are not urgent. */
  isUrgent?: boolean
  /** Ends the wait, which is then refused; once aborted there is none. */
  signal?: AbortSignal
}

type Waiter = { isUrgent: boolean; acquire(): void }
type Queue = { running: number; waiting: Waiter[] }

/** Those who wait are served in the order in which they came. */
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

  /** The place is handed on, not freed and acquired again: nobody who comes just then takes it first. */
  const release = (queue: Queue, key: string): void => {
    const next = queue.waiting.shift()
    if (next !== undefined) next.acquire()
    else if (--queue.running === 0) queues.delete(key)
  }

  return {
    async run(work, wanted = {}) {
      const { key = '' } = wanted
      const queue = queues.get(key) ?? { running: 0, waiting: [] }
      queues.set(key, queue)
      if (queue.running < limit) queue.running++
      else if (queue.waiting.length >= maxWaiting || wanted.signal?.aborted) throw refusal()
      else await wait(queue, wanted)
      try {
        return await work()
      } finally {
        release(queue, key)
      }
    },
  }
}
