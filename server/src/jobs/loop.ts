/** A chore that runs again and again: at once when woken, else at the moment it asked for, at the latest every second. */
export type Loop = {
  /** Something changed: look now rather than at the next moment. */
  wake(): void
  /** Ends after the turn that is under way. */
  stop(): Promise<void>
}

/** What a turn answers: milliseconds until it wants to look again; 0 = there is more. */
export type Turn = () => Promise<number>

const longestWaitMs = 1_000

/** Runs `turn` without overlap. A turn that throws is told to `onFailure` and tried again after a second. */
export function startLoop(turn: Turn, onFailure: (error: unknown) => void): Loop {
  let stopping = false
  let woken = false
  let interrupt = () => {}

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      interrupt = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const running = (async () => {
    while (!stopping) {
      woken = false
      const wait = await turn().catch((error: unknown) => {
        onFailure(error)
        return longestWaitMs
      })
      if (!woken && !stopping && wait > 0) await pause(Math.min(wait, longestWaitMs))
    }
  })()

  return {
    wake() {
      woken = true
      interrupt()
    },
    async stop() {
      stopping = true
      interrupt()
      await running
    },
  }
}
