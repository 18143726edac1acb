/**
 * Whether the database's clock jumped, judged by a clock of this process that nobody sets. Pure.
 *
 * The database's clock decides when access ends. An operator, a time server or a failover to another machine can set it. Each process reads it
 * every few seconds, and compares how far it went with how much time passed here.
 */

/** One reading. The moments are milliseconds: `asked_ms` and `answered_ms` by `performance.now()`, `clock_ms` by the database's clock. */
export type Reading = {
  asked_ms: number
  answered_ms: number
  clock_ms: number
  /** By how much the clock was set back in all, as far as the database knows. */
  back_ms: number
}

/** `behind_ms`: by how much the clock lags behind in all, by jumps that were too small to count. */
export type Watch = { reading: Reading; behind_ms: number }

/** A jump by less is not reported, and moves no end. Access ends at most this and a few seconds late. */
const toleranceMs = 30_000

/**
 * The jump between two readings in milliseconds: less than 0 where the clock went back, more where it went ahead, 0 where it did neither by
 * more than the tolerance. It is as small as the time that the readings took allows. A process that did not run, such as on a machine that
 * slept, takes that for a jump ahead.
 */
export function follow({ reading: earlier, behind_ms }: Watch, later: Reading): { watch: Watch; jump_ms: number } {
  const advance = later.clock_ms + later.back_ms - (earlier.clock_ms + earlier.back_ms)
  const least = Math.max(0, later.asked_ms - earlier.answered_ms)
  const most = later.answered_ms - earlier.asked_ms
  const behind = Math.max(0, behind_ms + least - advance)
  const ahead = advance - most
  return {
    watch: { reading: later, behind_ms: behind },
    jump_ms: behind > toleranceMs ? -behind : ahead > toleranceMs ? ahead : 0,
  }
}

/** The watch after what was missing was added to the total. */
export function caughtUp({ reading, behind_ms }: Watch): Watch {
  return { reading: { ...reading, back_ms: reading.back_ms + behind_ms }, behind_ms: 0 }
}

/** A watch that begins with a moment of the database's clock that was seen before this process began: at an unknown time. */
export function since(clock_ms: number, back_ms: number): Watch {
  return { reading: { asked_ms: -Infinity, answered_ms: Infinity, clock_ms, back_ms }, behind_ms: 0 }
}
