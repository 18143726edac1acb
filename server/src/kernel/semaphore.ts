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
  /** The maximum number of works of all keys that run at once. The keys take turns. Left out: each key has its own `limit` only. */
  totalLimit?: number
  /** The maximum number of one key that wait; one more is refused at once. Left out: any number waits. */
  maxWaiting?: number
  /**
   * The maximum number of all keys that wait. For one more, the newest of the key with the longest queue is refused, unless the
   * queue of its own key would then be as long: then it is refused itself. Left out: any number waits.
   */
  maxTotalWaiting?: number
  /** A caller that has waited this long is refused. Left out: callers wait until a place is free. */
  maxWaitMs?: number
  refusal(): Error
}

type AcquireOptions = {
  /** Work of one key does not wait for work of another; with a `totalLimit`, only for the turns of the others. */
  key?: string
  /** Goes before waiting callers of its key that are not urgent. */
  isUrgent?: boolean
  /** Ends the wait with a refusal. If it is already aborted, there is no wait. */
  signal?: AbortSignal
}

type Waiter = { isUrgent: boolean; acquire(): void; refuse(): void }
type Queue = { key: string; running: number; waiting: Waiter[] }

/**
 * Waiting callers of one key are served in order of arrival. A free place goes to the key that was served longest ago: however many
 * wait for other keys, a single caller waits for the work that runs and for one work of each.
 */
export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const { maxWaitMs, refusal } = options
  const queues = openQueues(options)

  const wait = (queue: Queue, { isUrgent = false, signal }: AcquireOptions) =>
    new Promise<void>((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', refuse)
      }
      const acquire = () => {
        stopWaiting()
        resolve()
      }
      const refuse = () => {
        stopWaiting()
        queues.remove(queue, waiter)
        reject(refusal())
      }
      const waiter = { isUrgent, acquire, refuse }
      queues.add(queue, waiter)
      const timer = maxWaitMs === undefined ? undefined : setTimeout(refuse, maxWaitMs)
      signal?.addEventListener('abort', refuse, { once: true })
    })

  return {
    async run(work, acquireOptions = {}) {
      const queue = queues.find(acquireOptions.key ?? '')
      if (!queues.acquire(queue)) {
        if (acquireOptions.signal?.aborted || !queues.makeRoom(queue)) throw refusal()
        await wait(queue, acquireOptions)
      }
      try {
        return await work()
      } finally {
        queues.release(queue)
      }
    },
  }
}

/** The work that runs and waits, by key. */
function openQueues({
  limit,
  totalLimit = Number.POSITIVE_INFINITY,
  maxWaiting = Number.POSITIVE_INFINITY,
  maxTotalWaiting = Number.POSITIVE_INFINITY,
}: SemaphoreOptions) {
  /** Only queues with work; that of the key served last is the last. */
  const queues = new Map<string, Queue>()
  const total = { running: 0, waiting: 0 }

  /** Takes a place for the key, if one is free. */
  const acquire = (queue: Queue): boolean => {
    if (queue.running >= limit || total.running >= totalLimit) return false
    queue.running++
    total.running++
    queues.delete(queue.key)
    queues.set(queue.key, queue)
    return true
  }

  const dropIdle = ({ key, running, waiting }: Queue): void => {
    if (running + waiting.length === 0) queues.delete(key)
  }

  return {
    find: (key: string): Queue => queues.get(key) ?? { key, running: 0, waiting: [] },
    acquire,
    /** Whether one more may wait in the queue. With too many in all, the longest queue makes room. */
    makeRoom({ waiting }: Queue): boolean {
      if (waiting.length >= maxWaiting) return false
      if (total.waiting < maxTotalWaiting) return true
      let longest = waiting
      for (const other of queues.values()) if (other.waiting.length > longest.length) longest = other.waiting
      if (longest.length <= waiting.length + 1) return false
      longest.at(-1)?.refuse()
      return true
    },
    add(queue: Queue, waiter: Waiter): void {
      const { key, waiting } = queue
      const place = waiter.isUrgent ? waiting.findIndex((other) => !other.isUrgent) : -1
      waiting.splice(place === -1 ? waiting.length : place, 0, waiter)
      total.waiting++
      queues.set(key, queue)
    },
    remove(queue: Queue, waiter: Waiter): void {
      queue.waiting.splice(queue.waiting.indexOf(waiter), 1)
      total.waiting--
      dropIdle(queue)
    },
    /** The place is handed to the next waiter and not freed in between, so that no newcomer can take it first. */
    release(queue: Queue): void {
      queue.running--
      total.running--
      dropIdle(queue)
      for (const next of queues.values()) {
        const [waiter] = next.waiting
        if (waiter === undefined || !acquire(next)) continue
        next.waiting.shift()
        total.waiting--
        waiter.acquire()
        return
      }
    },
  }
}
