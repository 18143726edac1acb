import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../src/kernel/context.ts'
import {
  type Driver,
  type DriverType,
  type Held,
  NotNow,
  type Opening,
  type Plan,
  type PlanInput,
  type Progress,
  type Target,
  TargetError,
} from '../../src/provisioners/driver.ts'

/** A prepared target with everything that the suite needs to test a driver type. */
export type Stage = {
  type: DriverType
  /** How the driver is opened; its config is valid and contains its secrets. */
  opening: Opening
  tx: Tx
  /** A grant that has never been requested, for a new user each time. */
  makeInput(): Promise<PlanInput>
  /** Other entitlements of the same user: another action, another resource, if the target has any. */
  others(input: PlanInput): readonly PlanInput[]
  /** A grant that the target cannot give, for an unknown user or resource; left out if it knows everything. */
  unknown?: PlanInput
  /** Access to the target without the driver. */
  target: {
    /** A complete picture of its access, in any form: equal for an unchanged target. */
    sees(): Promise<readonly string[]>
    holds(input: PlanInput): Promise<boolean>
    /** By hand: as an operator does who does not use Sallyport. */
    give(input: PlanInput): Promise<void>
    take(input: PlanInput): Promise<void>
  }
  /** The target records who gave access: revoking ours keeps what others gave. Left out: it does not. */
  tellsWhose?: boolean
  /** The target ends access by itself: if it must be held longer than it was given for, a check reports that it ends early. */
  endsByItself: boolean
  breaks: readonly Break[]
  /** Texts that must not appear in an answer, an error, or stored data. */
  secrets: readonly string[]
  /** Invalid configs, each with the pointer that the fault must have. */
  faulty: readonly { config: Record<string, unknown>; pointer: string }[]
  /** The maximum pause before a retry, whatever the driver asks for: tests of a fast target stay fast. */
  maxPauseMs?: number
  close?(): Promise<void>
}

/** A fault of the target. */
export type Break = {
  name: string
  /** Returns a function that ends the fault. */
  begin(): Promise<() => Promise<void>>
  /** A health check reports it. */
  healthSees: boolean
}

/** A stage during one check. */
export type Trial = Stage & {
  /** The driver of one of two processes, alternating: one continues what the other began. */
  driver(): Driver
  /** A driver as a fresh process opens it. */
  reopen(): Driver
}

/** The checks of the suite, by the sentence that each verifies. */
export type Checks = Readonly<Record<string, (stage: Trial) => Promise<void>>>

/** Runs one check, and closes what it opened. */
export async function tryCheck(stage: Stage, check: (stage: Trial) => Promise<void>): Promise<void> {
  const opened: Driver[] = []
  const reopen = () => {
    const driver = stage.type.open(stage.opening)
    opened.push(driver)
    return driver
  }
  const two = [reopen(), reopen()] as const
  let calls = 0
  const driver = () => two[(calls++ % 2) as 0 | 1]
  try {
    await check({ ...stage, driver, reopen })
  } finally {
    await Promise.all(opened.map((one) => one.close()))
  }
}

const maxMs = 30_000

/** A signal that is never aborted. */
export const patient = (): AbortSignal => new AbortController().signal

/** An hour from now: later than any check takes. */
export function anHourOn(hours = 1): Date {
  return new Date(Date.now() + hours * 3_600_000)
}

/** A copy as another process reads it from storage. */
export function kept<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}

export async function planned(stage: Trial, input: PlanInput, driver = stage.driver()): Promise<Plan> {
  const plan = await untilRoom(stage, () => driver.plan(stage.tx, input, patient()))
  assert.ok(plan.key.length > 0, 'a plan has a key')
  return { ...plan, target: kept(plan.target) }
}

export async function verified(
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

/** Runs an act as the ledger does: begins it and polls it to its end. Returns the references that it used. */
export async function toItsEnd(
  stage: Trial,
  driver: Driver,
  target: Target,
  begin: () => Promise<Progress>,
): Promise<string[]> {
  const references: string[] = []
  let progress = await untilRoom(stage, begin)
  for (let polls = 0; !progress.done; polls += 1) {
    assert.ok(polls < 1_000, 'an act ends')
    const { reference } = progress
    references.push(reference)
    await pause(shortened(stage, driver.pollAfterMs(polls)))
    progress = await untilRoom(stage, () => driver.poll(stage.tx, target, reference, patient()))
  }
  return references
}

/** Calls until the target has room and no transient fault; waiting indefinitely would be a fault of its own. */
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

/** Asserts that the target holds it, both by its own state and by the driver's check. */
export async function requireHeld(stage: Trial, input: PlanInput, target: Target, held: boolean): Promise<void> {
  assert.equal(await stage.target.holds(input), held, `the target itself ${held ? 'holds' : 'does not hold'} it`)
  assert.equal((await verified(stage, target)) !== 'absent', held, `verify returns ${held ? 'held' : 'absent'}`)
}
