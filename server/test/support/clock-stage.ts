import assert from 'node:assert/strict'
import { addSetBack, readClock } from '../../src/clock/clock-store.ts'
import { followClock } from '../../src/clock/follow-clock.ts'
import { openMoving } from '../../src/grants/move-ends.flow.ts'
import type { TestDatabase } from './database.ts'
import { until } from './wait.ts'

type Moments = { clock_back_ms: string } & Record<
  'starts_at' | 'activated_at' | 'expires_at' | 'expiring_at' | 'held_since',
  string | null
>

/** By how many seconds each moment of the second is before that of the first. */
export function movedBy(before: Moments, now: Moments) {
  const { clock_back_ms: _, ...moments } = before
  return Object.fromEntries(
    Object.keys(moments).map((name) => {
      const [one, other] = [before[name as 'expires_at'], now[name as 'expires_at']]
      return [name, one && other && (Date.parse(one) - Date.parse(other)) / 1_000]
    }),
  )
}

/** What processes do about the clock of a database, which goes on as it is: it seems to have been set back. */
export function clockStage({ database, asSuperuser }: TestDatabase) {
  /** What one process does about the clock; its own is put ahead by hand. */
  function startProcess() {
    let aheadMs = 0
    const said: string[] = []
    const say = (line: string) => said.push(line)
    const tick = followClock(database, {
      log: { warn: say, error: (_, line) => say(line) },
      onJump: (direction) => said.push(direction),
      moveEnds: openMoving(database),
      now: () => performance.now() + aheadMs,
    })
    return {
      said,
      tick,
      /** Lets so many seconds pass in the process, and not by the database's clock. */
      pass(seconds: number) {
        aheadMs += seconds * 1_000
      },
    }
  }

  const total = async () => (await readClock(database.work)).back_ms
  /** All ends are moved, and the processes know it. */
  async function settled(...processes: ReturnType<typeof startProcess>[]) {
    await until('the ends are moved', async () => {
      for (const { tick } of processes) await tick()
      const left = await asSuperuser(
        `select from access_grant where status = 'active' and clock_back_ms < clock_back_ms()`,
      )
      return left.length === 0
    })
    // What began before is over.
    for (const { tick, pass } of processes.slice(0, 1)) {
      await tick()
      pass(16)
      await tick()
    }
    assert.equal((await readClock(database.work)).ends_to_move, false)
  }
  /** As if the clock went back by so many seconds: processes read a later moment before. */
  const goBack = (seconds: number) =>
    asSuperuser('update installation set clock_steady_ms = clock_steady_ms + $1::bigint * 1000', [seconds])
  /** The jump is certain, and is added. */
  const addBack = async (seconds: number) => database.work.write([addSetBack(await total(), seconds * 1_000)])

  async function momentsOf(grant: string): Promise<Moments> {
    const [row] = await asSuperuser<Moments>(
      `select clock_back_ms, starts_at, activated_at, expires_at, expiring_at, held_since from access_grant
        where id = $1`,
      [grant],
    )
    assert.ok(row)
    return row
  }
  return { startProcess, total, settled, goBack, addBack, momentsOf }
}
