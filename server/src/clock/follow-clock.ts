import type { Database } from '../db/transaction.ts'
import type { Tick } from '../jobs/loop.ts'
import { caughtUp, follow, since, type Watch } from './clock.ts'
import { endsAreMoved, readClock, setBack } from './clock-store.ts'

/** A jump is noticed within this time. */
const everyMs = 2_000

type Following = {
  log: { error(line: string): void; warn(line: string): void }
  onJump(direction: 'back' | 'ahead'): void
  /** Moves the ends of grants that are counted as of a former setting of the clock; returns whether none is left. Safe to repeat. */
  moveEnds(): Promise<boolean>
}

/**
 * Compares the database's clock with the time that passes in this process. Where it was set back, all that waits for a moment moves as far, once
 * for all processes: access ends after the time for which it was given. Where it was set ahead, access ends early, and the log says so.
 */
export function followClock({ service, work }: Pick<Database, 'service' | 'work'>, following: Following): Tick {
  const { log, onJump, moveEnds } = following
  let watch: Watch | undefined

  const wentBack = async (seen: Watch) => {
    const ms = Math.round(seen.behind_ms)
    const before = seen.reading.back_ms
    // Else another process was faster: what it has added is in the next reading.
    if (!(await setBack(work, before, ms))) return false
    watch = caughtUp({ ...seen, behind_ms: ms })
    log.error(`the database's clock went back by ${seconds(ms)}: ends of access move as far, so that none comes late`)
    return true
  }

  return async () => {
    const asked_ms = performance.now()
    const { clock_ms, back_ms, ends_to_move, seen_ms } = await readClock(service)
    const reading = { asked_ms, answered_ms: performance.now(), clock_ms, back_ms }
    const before = watch ?? since(seen_ms ?? clock_ms, back_ms)
    const { watch: seen, jump_ms } = follow(before, reading)
    if (jump_ms < 0) {
      if (!(await wentBack(seen))) return 0
    } else watch = seen
    if (jump_ms < 0 || back_ms > before.reading.back_ms) onJump('back')
    if (jump_ms > 0) {
      onJump('ahead')
      log.warn(
        `the database's clock went ahead by ${seconds(jump_ms)}, unless this process slept: access may end as much early`,
      )
    }
    if (!ends_to_move && jump_ms >= 0) return everyMs
    const total = watch?.reading.back_ms ?? back_ms
    if (await moveEnds()) await work.write([endsAreMoved(total)])
    return everyMs
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
