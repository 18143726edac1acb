export type Loop = {
  /** Something was written: check at once. */
  wake(): void
  /** Work has ended that may have left more to do: check within moments, and once for all that ends until then. */
  wakeSoon(): void
  /** Ends after the run that is under way. */
  stop(): Promise<void>
}

/** What a run answers: milliseconds until it wants to run again; 0 = there is more. */
export type Tick = () => Promise<number>

/** What another process wrote is found after this. */
const maxWaitMs = 1_000

/**
 * How long `wakeSoon` gathers: ten times what a run takes, so that runs for the sake of work that ended take a tenth of the
 * time at most, however much of it ends.
 */
const batchNearby = { least: 10, most: 200, runs: 10 }

/** Runs `turn` without overlap. A run that throws is reported to `onFailure` and tried again after a second. */
export function startLoop(tick: Tick, onFailure: (error: unknown) => void): Loop {
  let stopping = false
  let woken = false
  let batchingMs = batchNearby.least
  /** When the next run begins, by the clock of `performance`; meanwhile `timer` waits for it. */
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
      nextAt = Number.POSITIVE_INFINITY
      const beganAt = performance.now()
      const waitMs = await tick().catch((error: unknown) => {
        onFailure(error)
        return maxWaitMs
      })
      const endedAt = performance.now()
      batchingMs = Math.min(batchNearby.most, Math.max(batchNearby.least, batchNearby.runs * (endedAt - beganAt)))
      runAt(endedAt + Math.min(waitMs, maxWaitMs))
      if (!woken && !stopping && nextAt > endedAt) await untilNext()
    }
  })()

  return {
    wake() {
      woken = true
      begin()
    },
    wakeSoon: () => runAt(performance.now() + batchingMs),
    async stop() {
      stopping = true
      begin()
      await running
    },
  }
}
