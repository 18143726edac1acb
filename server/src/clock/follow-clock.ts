import type { Database } from '../db/transaction.ts'
import type { Tick } from '../jobs/loop.ts'
import { follow, since, type Watch } from './clock.ts'
import { addSetBack, type ClockRow, endsAreMoved, readClock, shortenWaits } from './clock-store.ts'

const everyMs = 1_000

/** After so long, no transaction goes on that read a former total: it would be over, or cut short. */
const transactionsEndMs = 15_000

type Following = {
  log: { error(what: object, line: string): void; warn(line: string): void }
  onJump(direction: 'back' | 'ahead'): void
  /** Moves a part of the ends of grants that are counted as of a former total. Safe to repeat. */
  moveEnds(): Promise<{ left: 'none' | 'more' | 'held_up'; fault?: unknown }>
  now?: () => number
}

/**
 * Compares the database's clock with the time that passes in this process. Where it was set back, ends of access move as far, once for all
 * processes: access ends after the time for which it was given. Where it was set ahead, access ends early, and the log says so.
 */
export function followClock({ work }: Pick<Database, 'work'>, following: Following): Tick {
  const { log, onJump, moveEnds, now = () => performance.now() } = following
  let watch: Watch | undefined
  let knownBackMs: number | undefined
  /** The total as of which waits were shortened. */
  let shortenedFor: number | undefined
  /** Since when all was moved as of that total. */
  let done: { back_ms: number; since: number } | undefined

  /** What this process learns from a reading, and what it says of it. */
  const learn = (row: ClockRow, asked_ms: number, answered_ms: number): number => {
    const reading = { asked_ms, answered_ms, steady_ms: row.clock_ms + row.back_ms }
    const seen = follow(watch ?? since(row.steady_ms), reading)
    watch = seen.watch
    if (seen.ahead_ms > 0) {
      onJump('ahead')
      log.warn(
        `the database's clock went ahead by ${seconds(seen.ahead_ms)}, or this process slept: access may end early`,
      )
    }
    if (row.back_ms > (knownBackMs ?? row.back_ms)) {
      onJump('back')
      log.warn(
        `the database's clock was set back by ${seconds(row.back_ms - (knownBackMs ?? 0))}: ends of access move as far, so that none comes late`,
      )
    }
    knownBackMs = row.back_ms
    return seen.back_ms
  }

  const notNow = (err: unknown) => {
    log.error({ err }, 'what waits could not be moved yet, after the clock was set back')
  }

  return async () => {
    const asked_ms = now()
    const row = await readClock(work)
    const back_ms = learn(row, asked_ms, now())
    if (back_ms > 0) {
      // What was added, by this process or by another one, is in the next reading.
      await work.write([addSetBack(row.back_ms, back_ms)])
      return 0
    }
    if (!row.ends_to_move) {
      done = undefined
      return everyMs
    }
    // Ends are moved in parts, which may take long: what waits does not wait for them. What cannot be shortened now is, after them.
    if (shortenedFor !== row.back_ms) {
      shortenedFor = row.back_ms
      await shorten(work, notNow)
    }
    const { left, fault } = await moveEnds()
    if (fault !== undefined) notNow(fault)
    if (left === 'more') return 0
    const isShort = await shorten(work, notNow)
    if (left === 'held_up' || !isShort) done = undefined
    else if (done?.back_ms !== row.back_ms) done = { back_ms: row.back_ms, since: now() }
    else if (now() - done.since > transactionsEndMs) await work.write([endsAreMoved(row.back_ms)])
    return everyMs
  }
}

/** Each list by itself: one that cannot be changed now holds up no other. Returns whether all were changed. */
async function shorten(work: Database['work'], onFault: (fault: unknown) => void): Promise<boolean> {
  let isDone = true
  for (const statement of shortenWaits()) {
    await work.write([statement]).catch((fault: unknown) => {
      isDone = false
      onFault(fault)
    })
  }
  return isDone
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
