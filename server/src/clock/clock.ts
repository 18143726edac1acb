/**
 * Whether the database's clock was set, judged by a clock of this process that nobody sets. Pure.
 *
 * The database's clock decides when access ends. A person, a time server or a failover to another machine can set it. Each process reads it every
 * second, and compares how far it went with how much time passed here.
 */

/** One reading, in milliseconds. `asked_ms` and `answered_ms`: by `performance.now()`, before and after it. */
export type Reading = {
  asked_ms: number
  answered_ms: number
  /** By the database's clock, and by how much that was set back in all, as far as the database knows. It does not go back, if all is known. */
  steady_ms: number
}

/** `behind_ms`: what is missing, in all. `behind_since`: since when it is too much, by `performance.now()`; undefined while it is not. */
export type Watch = { reading: Reading; behind_ms: number; behind_since: number | undefined }

/** A jump by less is not reported, and moves no end. */
const toleranceMs = 30_000

/** Ends move only after that time: a clock that is corrected meanwhile ends nothing early. Access ends at most as late as both say, and some seconds. */
const doubtMs = 10_000

/**
 * Compares a reading with the one before. `back_ms`: by how much the clock was set back, once that is certain; `ahead_ms`: by how much it went
 * ahead; else 0. Both are as small as the time that the readings took allows. A process that did not run, such as on a machine that slept, takes
 * that for a jump ahead.
 */
export function follow(watch: Watch, later: Reading): { watch: Watch; back_ms: number; ahead_ms: number } {
  const { reading: earlier, behind_ms: before } = watch
  const advance = later.steady_ms - earlier.steady_ms
  const least = Math.max(0, later.asked_ms - earlier.answered_ms)
  const most = later.answered_ms - earlier.asked_ms
  const behind_ms = Math.max(0, before + least - advance)
  const behind_since = behind_ms > toleranceMs ? (watch.behind_since ?? later.asked_ms) : undefined
  const isCertain = behind_since !== undefined && later.asked_ms - behind_since >= doubtMs
  return {
    watch: { reading: later, behind_ms, behind_since },
    back_ms: isCertain ? Math.round(behind_ms) : 0,
    ahead_ms: advance - before - most > toleranceMs ? advance - before - most : 0,
  }
}

/** A watch that begins with what processes before this one read, at an unknown time. */
export function since(steady_ms: number): Watch {
  const reading = { asked_ms: -Infinity, answered_ms: Infinity, steady_ms }
  return { reading, behind_ms: 0, behind_since: undefined }
}
