const reportEveryMs = 2_000

/** Logs the progress of long work, at most once in `reportEveryMs`; nothing of work that is shorter. */
export function progressTo(log: (line: string) => void): (line: () => string) => void {
  let reportedAt = performance.now()
  return (line) => {
    if (performance.now() - reportedAt < reportEveryMs) return
    reportedAt = performance.now()
    log(line())
  }
}
