import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type Check, type GrantAsk, NotNow, type Target, TargetError } from '../../src/provisioners/driver.ts'
import { inTime } from '../../src/provisioners/in-time.ts'
import { anHourOn, type Break, type Checks, give, patient, planned, requireHeld, type Trial, take } from './stage.ts'

/** What must hold when calls come together, are cut off, or fail. */
export const troubles: Checks = {
  async 'a call that is cut off ends, and can be made again'(stage) {
    for (const turns of [0, 1, 5, 50]) {
      const ask = await stage.ask()
      const before = await stage.target.sees()
      const { target } = await planned(stage, ask)
      const driver = stage.driver()
      await cutOff(turns, (signal) => driver.grant(stage.tx, target, anHourOn(), signal))
      await give(stage, target)
      await requireHeld(stage, ask, target, true)
      await cutOff(turns, (signal) => driver.revoke(stage.tx, target, signal))
      await cutOff(turns, (signal) => driver.verify(stage.tx, target, null, signal))
      await take(stage, target)
      await requireHeld(stage, ask, target, false)
      assert.deepEqual(await stage.target.sees(), before)
    }
  },

  async 'grant ‖ grant is one, and one end takes it away'(stage) {
    const ask = await stage.ask()
    const before = await stage.target.sees()
    const { target } = await planned(stage, ask)
    await Promise.all([give(stage, target), give(stage, target), give(stage, target)])
    await requireHeld(stage, ask, target, true)
    await take(stage, target)
    await requireHeld(stage, ask, target, false)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'revoke ‖ revoke both succeed'(stage) {
    const ask = await stage.ask()
    const before = await stage.target.sees()
    const { target } = await planned(stage, ask)
    await give(stage, target)
    await Promise.all([take(stage, target), take(stage, target), take(stage, target)])
    await requireHeld(stage, ask, target, false)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'grant ‖ revoke: either may win, and the act that comes after decides'(stage) {
    for (const held of [false, true, false, true]) {
      const ask = await stage.ask()
      const { target } = await planned(stage, ask)
      await Promise.all([give(stage, target), take(stage, target)])
      await (held ? give(stage, target) : take(stage, target))
      await requireHeld(stage, ask, target, held)
      await take(stage, target)
    }
  },

  async 'many at once do not disturb one another'(stage) {
    const crowd = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const ask = await stage.ask()
        return { ask, target: (await planned(stage, ask)).target }
      }),
    )
    const driver = stage.driver()
    const [leaving, staying] = [crowd.slice(0, 4), crowd.slice(4)]
    await Promise.all(leaving.map(({ target }) => give(stage, target, anHourOn(), driver)))
    await Promise.all([
      ...leaving.map(({ target }) => take(stage, target, driver)),
      ...staying.map(({ target }) => give(stage, target, anHourOn(), driver)),
    ])
    for (const { ask, target } of leaving) await requireHeld(stage, ask, target, false)
    for (const { ask, target } of staying) await requireHeld(stage, ask, target, true)
    await Promise.all(staying.map(({ target }) => take(stage, target, driver)))
  },

  async 'a driver closes while calls are under way, and another goes on'(stage) {
    const ask = await stage.ask()
    const { target } = await planned(stage, ask)
    const driver = stage.openAnew()
    const looking = settled(stage, driver.verify(stage.tx, target, null, patient()))
    const giving = settled(stage, driver.grant(stage.tx, target, anHourOn(), patient()))
    await Promise.all([driver.close(), looking, giving])
    await driver.close()
    await give(stage, target)
    await requireHeld(stage, ask, target, true)
    await take(stage, target)
  },

  async 'a sound target is found sound, by a look that changes nothing'(stage) {
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

  async 'a target that fails is told of in words, without secrets, and nothing is said of it that is not so'(stage) {
    for (const broken of stage.breaks) await requireHonest(stage, broken)
  },
}

/** Ends the signal after so many turns of the loop; whatever comes of the call, it comes. */
async function cutOff(turns: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const controller = new AbortController()
  if (turns === 0) controller.abort()
  const answered = call(controller.signal).catch(() => undefined)
  for (let turned = 0; turned < turns; turned += 1) await turn()
  controller.abort()
  await inTime(20_000, () => answered)
}

/** What a call came to that may fail, as the contract has it. */
async function settled(stage: Trial, call: Promise<unknown>): Promise<void> {
  await inTime(20_000, () => call).catch((error: unknown) => requireInWords(stage, error))
}

async function requireHonest(stage: Trial, broken: Break): Promise<void> {
  const [held, absent] = [await stage.ask(), await stage.ask()]
  const before = await stage.target.sees()
  const [ours, next] = [await planned(stage, held), await planned(stage, absent)]
  await give(stage, ours.target)
  const mend = await broken.begin()
  try {
    const told = await callAll(stage, { ask: held, ...ours }, { ask: absent, ...next })
    assert.ok(told > 0 || broken.healthSees, `${broken.name}: no call tells of it`)
    await requireHealthSees(stage, broken)
  } finally {
    await mend()
  }
  await give(stage, next.target)
  await requireHeld(stage, absent, next.target, true)
  for (const { target } of [ours, next]) await take(stage, target)
  assert.deepEqual(await stage.target.sees(), before, `${broken.name}: nothing is left behind when it is over`)
}

type Planned = { ask: GrantAsk; target: Target }

/** Makes every call on a target that fails; answers how many of them failed as they should. */
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
  await attempt(async (signal) => driver.plan(tx, await stage.ask(), signal))
  await attempt(async (signal) => {
    const said = await driver.verify(tx, held.target, null, signal)
    assert.notEqual(said, 'absent', 'a look that fails does not say that nothing is held')
  })
  await attempt(async (signal) => {
    const said = await driver.verify(tx, absent.target, null, signal)
    assert.equal(said, 'absent', 'a look that fails does not say that something is held')
  })
  await attempt(async (signal) => {
    let said = await driver.grant(tx, absent.target, anHourOn(), signal)
    if (!said.done) said = await driver.poll(tx, absent.target, said.reference, signal)
    assert.ok(!said.done || (await stage.target.holds(absent.ask)), 'what is said to be given is held')
  })
  await attempt(async (signal) => {
    let said = await driver.revoke(tx, held.target, signal)
    if (!said.done) said = await driver.poll(tx, held.target, said.reference, signal)
    assert.ok(!said.done || !(await stage.target.holds(held.ask)), 'what is said to be taken away is gone')
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
  assert.equal(bad.length > 0, broken.healthSees, `${broken.name}: a look at its health says so`)
  for (const { message } of bad) assert.match(message ?? '', words, `${broken.name}: it says how to mend it`)
}

const words = /\p{L}{2,}\W+\p{L}{2,}/u

function requireInWords(stage: Trial, error: unknown): void {
  if (error instanceof assert.AssertionError) throw error
  const shown = inspect(error)
  for (const secret of stage.secrets) assert.ok(!shown.includes(secret), 'an error holds no secret')
  if (error instanceof NotNow) {
    assert.ok(error.after_ms > 0 && error.after_ms <= 3_600_000, `${error.after_ms} ms`)
    return
  }
  assert.ok(error instanceof TargetError, `only TargetError and NotNow may come, and this came: ${shown}`)
  assert.match(error.message, words, 'an error is told in words')
  assert.ok(error.message.length <= 1_000 && !error.message.includes('\n    at '), error.message)
}

function requireSayable(stage: Trial, checks: readonly Check[]): void {
  for (const { what, message } of checks) {
    assert.match(what, /\p{L}{2,}/u)
    assert.ok(`${message}`.length <= 2_000)
  }
  const shown = JSON.stringify(checks)
  for (const secret of stage.secrets) assert.ok(!shown.includes(secret), 'a look at its health shows no secret')
}
