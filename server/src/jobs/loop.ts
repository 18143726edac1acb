export type Loop = {
  /** New work may be due: runs at once. */
  wake(): void
  /** The same for what comes often: runs at once, or, if it has just run, a little later for all that comes until then. */
  wakeInTurn(): void
  /** Completed work may have made more work due: runs soon, once for all work that completes until then. */
  wakeSoon(): void
  /** Ends after the current run. */
  stop(): Promise<void>
}

/** One run of the loop. It returns the milliseconds until it wants to run again; 0: there is more to do. */
export type Tick = () => Promise<number>

/** Work that another process wrote is found within this time. */
const maxWaitMs = 1_000

/**
 * How long `wakeSoon` waits to batch wake-ups, and `wakeInTurn` after a run: ten times the duration of a run, so that these runs take at
 * most a tenth of the time, regardless of how much comes.
 */
const batchWindow = { minMs: 10, maxMs: 200, runs: 10 }

/** Runs `tick` without overlap. A run that throws is reported to `onFailure` and retried after a second. */
export function startLoop(tick: Tick, onFailure: (error: unknown) => void): Loop {
  let stopping = false
  let woken = false
  let batchingMs = batchWindow.minMs
  let restedAt = Number.NEGATIVE_INFINITY
  let isRunning = false
  let isInTurn = false
  /** When the next run begins, by the clock of `performance`; `timer` waits for it. */
  let nextAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let begin = () => {}

  const setTimer = () => {
    clearTimeout(timer)
    timer = setTimeout(begin, Math.max(0, nextAt - performance.now()))
  }
  const runAt = (moment: number) => {
    nextAt = Math.min(nextAt, moment)
    if (timer !== undefined) setTimer()
  }

  const untilNext = () =>
    new Promise<void>((resolve) => {
      begin = resolve
      setTimer()
    }).finally(() => {
      clearTimeout(timer)
      timer = undefined
    })

  const running = (async () => {
    while (!stopping) {
      woken = false
      isInTurn = false
      isRunning = true
      nextAt = Number.POSITIVE_INFINITY
      const beganAt = performance.now()
      const waitMs = await tick().catch((error: unknown) => {
        onFailure(error)
        return maxWaitMs
      })
      const endedAt = performance.now()
      batchingMs = Math.min(batchWindow.maxMs, Math.max(batchWindow.minMs, batchWindow.runs * (endedAt - beganAt)))
      isRunning = false
      restedAt = endedAt + batchingMs
      runAt(isInTurn ? restedAt : Number.POSITIVE_INFINITY)
      runAt(endedAt + Math.min(waitMs, maxWaitMs))
      if (!woken && !stopping && nextAt > endedAt) await untilNext()
    }
  })()

  return {
    wake() {
      woken = true
      begin()
    },
    wakeInTurn() {
      if (isRunning) isInTurn = true
      else runAt(Math.max(restedAt, performance.now()))
    },
    wakeSoon: () => runAt(performance.now() + batchingMs),
    async stop() {
      stopping = true
      begin()
      await running
    },
  }
}
