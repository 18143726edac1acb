import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../src/kernel/context.ts'
import {
  type Driver,
  type DriverType,
  type GrantAsk,
  type Held,
  NotNow,
  type Opening,
  type Plan,
  type Progress,
  type Target,
  TargetError,
} from '../../src/provisioners/driver.ts'

/** A target made ready for the suite, with all that the suite needs to try a type of driver on it. */
export type Stage = {
  type: DriverType
  /** How the driver is opened; its config is sound and has its secrets in it. */
  opening: Opening
  tx: Tx
  /** What somebody asks for that nobody has asked for yet: another person each time. */
  ask(): Promise<GrantAsk>
  /** Other entitlements of the same person: another action, another resource, as far as the target knows any. */
  others(ask: GrantAsk): readonly GrantAsk[]
  /** What the target cannot give since it does not know who or what; left out where it knows everything. */
  unknown?: GrantAsk
  /** The target itself, past the driver. */
  target: {
    /** All that access is made of there, in whatever words: two looks at an unchanged target are equal. */
    sees(): Promise<readonly string[]>
    holds(ask: GrantAsk): Promise<boolean>
    /** By hand: as somebody does who knows nothing of us. */
    give(ask: GrantAsk): Promise<void>
    take(ask: GrantAsk): Promise<void>
  }
  /** The target tells who gave what: what others gave stays when ours is taken away. Left out: it does not. */
  tellsWhose?: boolean
  /** The target ends access of itself: asked to hold it longer than it was given for, a look says that it ends early. */
  endsByItself: boolean
  breaks: readonly Break[]
  /** Texts that nobody may read in an answer, an error, or what is kept. */
  secrets: readonly string[]
  /** Configs with something wrong, and the pointer that is to lead to it. */
  faulty: readonly { config: Record<string, unknown>; pointer: string }[]
  /** The longest pause before a next try, whatever the driver asks for: a stage whose target is quick is tried quickly. */
  maxPauseMs?: number
  close?(): Promise<void>
}

/** A way to have the target fail. */
export type Break = {
  name: string
  /** Answers how to mend it. */
  begin(): Promise<() => Promise<void>>
  /** A look at its health says so. */
  healthSees: boolean
}

/** A stage while one check is tried on it. */
export type Trial = Stage & {
  /** The driver of one of two processes, in turn: what one began the other goes on with. */
  driver(): Driver
  /** A driver as a process that knows nothing yet opens it. */
  openAnew(): Driver
}

/** A check of the suite, by the sentence that it holds. */
export type Checks = Readonly<Record<string, (stage: Trial) => Promise<void>>>

/** Tries one check, and closes what it opened. */
export async function tryCheck(stage: Stage, check: (stage: Trial) => Promise<void>): Promise<void> {
  const opened: Driver[] = []
  const openAnew = () => {
    const driver = stage.type.open(stage.opening)
    opened.push(driver)
    return driver
  }
  const two = [openAnew(), openAnew()] as const
  let turns = 0
  const driver = () => two[(turns++ % 2) as 0 | 1]
  try {
    await check({ ...stage, driver, openAnew })
  } finally {
    await Promise.all(opened.map((one) => one.close()))
  }
}

const maxMs = 30_000

/** The caller who waits. */
export const patient = (): AbortSignal => new AbortController().signal

/** An hour from now: later than any check takes. */
export function anHourOn(hours = 1): Date {
  return new Date(Date.now() + hours * 3_600_000)
}

/** What another process reads of it later. */
export function kept<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}

export async function planned(stage: Trial, ask: GrantAsk, driver = stage.driver()): Promise<Plan> {
  const plan = await untilRoom(stage, () => driver.plan(stage.tx, ask, patient()))
  assert.ok(plan.key.length > 0, 'a plan has a key')
  return { ...plan, target: kept(plan.target) }
}

export async function looked(
  stage: Trial,
  target: Target,
  until: Date | null = anHourOn(),
  driver = stage.driver(),
): Promise<Held> {
  return untilRoom(stage, () => driver.verify(stage.tx, target, until, patient()))
}

export function give(stage: Trial, target: Target, until = anHourOn(), driver = stage.driver()): Promise<string[]> {
  return toItsEnd(stage, driver, target, () => driver.grant(stage.tx, target, until, patient()))
}

export function take(stage: Trial, target: Target, driver = stage.driver()): Promise<string[]> {
  return toItsEnd(stage, driver, target, () => driver.revoke(stage.tx, target, patient()))
}

/** Does an act as the ledger does: begins it, polls it to its end. Answers the references that it went by. */
export async function toItsEnd(
  stage: Trial,
  driver: Driver,
  target: Target,
  begin: () => Promise<Progress>,
): Promise<string[]> {
  const references: string[] = []
  let progress = await untilRoom(stage, begin)
  for (let polls = 0; !progress.done; polls += 1) {
    assert.ok(polls < 1_000, 'an act comes to its end')
    const { reference } = progress
    references.push(reference)
    await pause(shortened(stage, driver.pollAfterMs(polls)))
    progress = await untilRoom(stage, () => driver.poll(stage.tx, target, reference, patient()))
  }
  return references
}

/** Calls until the target has room for it and no passing fault: for ever would be a fault of its own. */
async function untilRoom<Answer>(stage: Trial, call: () => Promise<Answer>): Promise<Answer> {
  const deadline = performance.now() + maxMs
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const passes = error instanceof NotNow || (error instanceof TargetError && error.kind === 'transient')
      if (!passes || performance.now() > deadline) throw error
      await pause(shortened(stage, error instanceof NotNow ? error.after_ms : 50))
    }
  }
}

function shortened({ maxPauseMs = 50 }: Stage, ms: number): number {
  return Math.min(ms, maxPauseMs)
}

/** What the target holds of it: by its own word, and by the driver's, which must agree. */
export async function requireHeld(stage: Trial, ask: GrantAsk, target: Target, held: boolean): Promise<void> {
  assert.equal(await stage.target.holds(ask), held, `the target itself ${held ? 'holds' : 'does not hold'} it`)
  assert.equal((await looked(stage, target)) !== 'absent', held, `a look says ${held ? 'held' : 'absent'}`)
}
