import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type Check, NotNow, type PlanInput, type Target, TargetError } from '../../src/provisioners/driver.ts'
import { inTime } from '../../src/provisioners/in-time.ts'
import { anHourOn, type Break, type Checks, give, patient, planned, requireHeld, type Trial, take } from './stage.ts'

/** What must hold when calls are concurrent, aborted, or fail. */
export const troubles: Checks = {
  async 'an aborted call ends, and can be repeated'(stage) {
    for (const turns of [0, 1, 5, 50]) {
      const input = await stage.makeInput()
      const before = await stage.target.sees()
      const { target } = await planned(stage, input)
      const driver = stage.driver()
      await cutOff(turns, (signal) => driver.grant(stage.tx, target, anHourOn(), signal))
      await give(stage, target)
      await requireHeld(stage, input, target, true)
      await cutOff(turns, (signal) => driver.revoke(stage.tx, target, signal))
      await cutOff(turns, (signal) => driver.verify(stage.tx, target, null, signal))
      await take(stage, target)
      await requireHeld(stage, input, target, false)
      assert.deepEqual(await stage.target.sees(), before)
    }
  },

  async 'concurrent grants make one, and one revoke ends it'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const { target } = await planned(stage, input)
    await Promise.all([give(stage, target), give(stage, target), give(stage, target)])
    await requireHeld(stage, input, target, true)
    await take(stage, target)
    await requireHeld(stage, input, target, false)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'concurrent revokes all succeed'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const { target } = await planned(stage, input)
    await give(stage, target)
    await Promise.all([take(stage, target), take(stage, target), take(stage, target)])
    await requireHeld(stage, input, target, false)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'of a concurrent grant and revoke either may win, and the next act decides'(stage) {
    for (const held of [false, true, false, true]) {
      const input = await stage.makeInput()
      const { target } = await planned(stage, input)
      await Promise.all([give(stage, target), take(stage, target)])
      await (held ? give(stage, target) : take(stage, target))
      await requireHeld(stage, input, target, held)
      await take(stage, target)
    }
  },

  async 'concurrent acts for several users do not affect each other'(stage) {
    const plans = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const input = await stage.makeInput()
        return { input, target: (await planned(stage, input)).target }
      }),
    )
    const driver = stage.driver()
    const [leaving, staying] = [plans.slice(0, 4), plans.slice(4)]
    await Promise.all(leaving.map(({ target }) => give(stage, target, anHourOn(), driver)))
    await Promise.all([
      ...leaving.map(({ target }) => take(stage, target, driver)),
      ...staying.map(({ target }) => give(stage, target, anHourOn(), driver)),
    ])
    for (const { input, target } of leaving) await requireHeld(stage, input, target, false)
    for (const { input, target } of staying) await requireHeld(stage, input, target, true)
    await Promise.all(staying.map(({ target }) => take(stage, target, driver)))
  },

  async 'a driver closes while calls are in progress, and another driver continues'(stage) {
    const input = await stage.makeInput()
    const { target } = await planned(stage, input)
    const driver = stage.reopen()
    const verifying = settled(stage, driver.verify(stage.tx, target, null, patient()))
    const giving = settled(stage, driver.grant(stage.tx, target, anHourOn(), patient()))
    await Promise.all([driver.close(), verifying, giving])
    await driver.close()
    await give(stage, target)
    await requireHeld(stage, input, target, true)
    await take(stage, target)
  },

  async 'a health check finds a healthy target healthy, and changes nothing'(stage) {
    const before = await stage.target.sees()
    const checks = await stage.driver().health(stage.tx, patient())
    assert.ok(checks.length > 0)
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    )
    requireSayable(stage, checks)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'a failing target is reported with a message, without secrets and without false results'(stage) {
    for (const broken of stage.breaks) await requireHonest(stage, broken)
  },
}

/** Aborts the signal after `turns` turns of the event loop; the call may succeed or fail. */
async function cutOff(turns: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const controller = new AbortController()
  if (turns === 0) controller.abort()
  const answered = call(controller.signal).catch(() => undefined)
  for (let turned = 0; turned < turns; turned += 1) await turn()
  controller.abort()
  await inTime(20_000, () => answered)
}

/** The result of a call that may fail as the contract allows. */
async function settled(stage: Trial, call: Promise<unknown>): Promise<void> {
  await inTime(20_000, () => call).catch((error: unknown) => requireInWords(stage, error))
}

async function requireHonest(stage: Trial, broken: Break): Promise<void> {
  const [held, absent] = [await stage.makeInput(), await stage.makeInput()]
  const before = await stage.target.sees()
  const [ours, next] = [await planned(stage, held), await planned(stage, absent)]
  await give(stage, ours.target)
  const repair = await broken.begin()
  try {
    const failures = await callAll(stage, { input: held, ...ours }, { input: absent, ...next })
    assert.ok(failures > 0 || broken.healthSees, `${broken.name}: no call reports it`)
    await requireHealthSees(stage, broken)
  } finally {
    await repair()
  }
  await give(stage, next.target)
  await requireHeld(stage, absent, next.target, true)
  for (const { target } of [ours, next]) await take(stage, target)
  assert.deepEqual(await stage.target.sees(), before, `${broken.name}: nothing is left behind afterwards`)
}

const maxPolls = 3

type Planned = { input: PlanInput; target: Target }

/** Makes every call on a failing target; returns how many of them failed as they should. */
async function callAll(stage: Trial, held: Planned, absent: Planned): Promise<number> {
  const { tx } = stage
  const driver = stage.driver()
  let failures = 0
  const attempt = async (call: (signal: AbortSignal) => Promise<unknown>) => {
    try {
      await inTime(1_000, call)
    } catch (error) {
      requireInWords(stage, error)
      failures += 1
    }
  }
  await attempt(async (signal) => driver.plan(tx, await stage.makeInput(), signal))
  await attempt(async (signal) => {
    const reported = await driver.verify(tx, held.target, null, signal)
    assert.notEqual(reported, 'absent', 'a failing target is not reported as holding nothing')
  })
  await attempt(async (signal) => {
    const reported = await driver.verify(tx, absent.target, null, signal)
    assert.equal(reported, 'absent', 'a failing target is not reported as holding access')
  })
  await attempt(async (signal) => {
    let progress = await driver.grant(tx, absent.target, anHourOn(), signal)
    if (!progress.done) progress = await driver.poll(tx, absent.target, progress.reference, signal)
    assert.ok(!progress.done || (await stage.target.holds(absent.input)), 'access reported as given is held')
  })
  await attempt(async (signal) => {
    let progress = await driver.revoke(tx, held.target, signal)
    // A revoke may take several operations. One that nobody polls would keep its place at the target.
    for (let polls = 0; !progress.done && polls < maxPolls; polls += 1)
      progress = await driver.poll(tx, held.target, progress.reference, signal)
    assert.ok(!progress.done || !(await stage.target.holds(held.input)), 'access reported as revoked is gone')
  })
  await attempt(async (signal) => {
    for await (const _page of driver.discover?.(tx, [], signal) ?? []) break
  })
  return failures
}

async function requireHealthSees(stage: Trial, broken: Break): Promise<void> {
  const checks = await inTime(20_000, () => stage.driver().health(stage.tx, AbortSignal.timeout(3_000)))
  requireSayable(stage, checks)
  const bad = checks.filter(({ ok }) => !ok)
  assert.equal(bad.length > 0, broken.healthSees, `${broken.name}: its health check fails`)
  for (const { message } of bad) assert.match(message ?? '', words, `${broken.name}: its message says how to fix it`)
}

const words = /\p{L}{2,}\W+\p{L}{2,}/u

function requireInWords(stage: Trial, error: unknown): void {
  if (error instanceof assert.AssertionError) throw error
  const shown = inspect(error)
  for (const secret of stage.secrets) assert.ok(!shown.includes(secret), 'an error contains no secret')
  if (error instanceof NotNow) {
    assert.ok(error.after_ms > 0 && error.after_ms <= 3_600_000, `${error.after_ms} ms`)
    return
  }
  assert.ok(error instanceof TargetError, `only TargetError and NotNow may be thrown, but got: ${shown}`)
  assert.match(error.message, words, 'an error has a message in words')
  assert.ok(error.message.length <= 1_000 && !error.message.includes('\n    at '), error.message)
}

function requireSayable(stage: Trial, checks: readonly Check[]): void {
  for (const { what, message } of checks) {
    assert.match(what, /\p{L}{2,}/u)
    assert.ok(`${message}`.length <= 2_000)
  }
  const shown = JSON.stringify(checks)
  for (const secret of stage.secrets) assert.ok(!shown.includes(secret), 'a health check shows no secret')
}
