/**
 * Long work of which nobody waits for each part, such as the delivery of many events, gives way to urgent work: calls, and access that is given
 * or taken. Both share one thread, and one database.
 */
import { setTimeout as pause } from 'node:timers/promises'

/** What gives way needs of the thread; a test brings its own. */
export type Thread = {
  /** Milliseconds of a monotonic clock. */
  now(): number
  pause(ms: number): Promise<unknown>
  /** Begins to measure; the returned function gives the share of the time since then in which the thread was busy, from 0 to 1. */
  measureBusy(): () => number
}

/** Urgent work is noted when it begins or ends, and counts for so many milliseconds, since its next step comes soon. */
const countsForMs = 200
/** Above this share of busy time, others wait for the thread. */
const maxBusyShare = 0.6
/** A rest, in milliseconds: as long as the part before it, within these. */
const restMs = { min: 5, max: 50 }
/** Rests in all, as a multiple of the part before them: work that gives way still gets about a fifth of the time. */
const maxRests = 4
/** A part counts for at most so many milliseconds: most of a longer one was a wait for something else. */
const maxPartMs = 100

/**
 * `noteUrgentWork`: it begins or ends. `giveWay` is called between two parts of long work, of which the last took so many milliseconds: it returns
 * at once where nothing is urgent, and otherwise once the thread has time, or the rest was long enough.
 */
export function openWays(thread: Thread): { noteUrgentWork(): void; giveWay(workedMs: number): Promise<void> } {
  let urgentAt = Number.NEGATIVE_INFINITY
  return {
    noteUrgentWork() {
      urgentAt = thread.now()
    },
    async giveWay(workedMs) {
      const part = Math.min(maxPartMs, workedMs)
      const until = thread.now() + maxRests * part
      const rest = Math.min(restMs.max, Math.max(restMs.min, part))
      while (thread.now() < until && thread.now() - urgentAt < countsForMs) {
        const busyShare = thread.measureBusy()
        await thread.pause(rest)
        if (busyShare() < maxBusyShare) return
      }
    },
  }
}

const ownThread: Thread = {
  now: () => performance.now(),
  pause,
  measureBusy() {
    const began = performance.eventLoopUtilization()
    return () => performance.eventLoopUtilization(began).utilization
  },
}

/** Of a piece of work, the share in which it had a processor, if no other thread wanted one. */
const undisturbedShare = 0.8

/**
 * For long work in a thread of its own, which disturbs others where processors are few, whatever its priority: call the returned function between
 * two pieces, of which the last took so many milliseconds. Where the thread had no processor for a part of it, others want one, or the container
 * may use no more: it rests as long, at most 50 ms.
 */
export function restWhereCrowded(
  thread: Pick<Thread, 'pause'> & { processorMs(): number } = { pause, processorMs: threadProcessorMs },
): (workedMs: number) => Promise<void> {
  let before = thread.processorMs()
  return async (workedMs) => {
    const used = thread.processorMs() - before
    if (used < undisturbedShare * workedMs) await thread.pause(Math.min(restMs.max, workedMs))
    before = thread.processorMs()
  }
}

function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Those of this process. */
export const { noteUrgentWork, giveWay } = openWays(ownThread)
