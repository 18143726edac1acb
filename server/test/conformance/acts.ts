import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import { NotNow, TargetError } from '../../src/provisioners/driver.ts'
import {
  anHourOn,
  type Checks,
  give,
  patient,
  planned,
  requireHeld,
  type Trial,
  take,
  toItsEnd,
  verified,
} from './stage.ts'

/** The required results of grant and revoke. */
export const acts: Checks = {
  async 'access is held after a grant, and after a revoke it is gone with everything that it was made of'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const { target } = await planned(stage, input)
    await requireHeld(stage, input, target, false)
    await give(stage, target)
    await requireHeld(stage, input, target, true)
    assert.notDeepEqual(await stage.target.sees(), before)
    await take(stage, target)
    await requireHeld(stage, input, target, false)
    assert.equal(await verified(stage, target, null), 'absent')
    assert.deepEqual(await stage.target.sees(), before, 'nothing is left behind')
  },

  async 'a second grant changes nothing: one revoke ends both'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const { target } = await planned(stage, input)
    await give(stage, target)
    const once = await stage.target.sees()
    await give(stage, target)
    assert.deepEqual(await stage.target.sees(), once)
    await take(stage, target)
    await requireHeld(stage, input, target, false)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'a revoke succeeds twice, and also without a grant'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const { target } = await planned(stage, input)
    await take(stage, target)
    await give(stage, target)
    await take(stage, target)
    await take(stage, target)
    await requireHeld(stage, input, target, false)
    assert.deepEqual(await stage.target.sees(), before)
  },

  async 'a revoke leaves all other access: of other users, of the same user, and given by hand'(stage) {
    const [input, otherUser, stranger] = [await stage.makeInput(), await stage.makeInput(), await stage.makeInput()]
    await stage.target.give(stranger)
    const others = [otherUser, ...stage.others(input)]
    const plan = await planned(stage, input)
    await give(stage, plan.target)
    for (const other of others) await give(stage, (await planned(stage, other)).target)
    await take(stage, plan.target)
    await requireHeld(stage, input, plan.target, false)
    for (const other of others) await requireHeld(stage, other, (await planned(stage, other)).target, true)
    for (const other of others) await take(stage, (await planned(stage, other)).target)
    assert.ok(await stage.target.holds(stranger), 'access given by hand is not touched')
    await stage.target.take(stranger)
  },

  async 'another process can finish an act by its reference'(stage) {
    const input = await stage.makeInput()
    const { target } = await planned(stage, input)
    for (const held of [true, false]) {
      const first = stage.reopen()
      const progress = held
        ? await first.grant(stage.tx, target, anHourOn(), patient())
        : await first.revoke(stage.tx, target, patient())
      await first.close()
      await toItsEnd(stage, stage.reopen(), target, () => Promise.resolve(progress))
      await requireHeld(stage, input, target, held)
    }
  },

  async 'the pause before a poll is positive and at most a minute'(stage) {
    const driver = stage.driver()
    for (const polls of [0, 1, 2, 10, 100, 10_000]) {
      const ms = driver.pollAfterMs(polls)
      assert.ok(ms > 0 && ms <= 60_000, `${ms} ms after ${polls} polls`)
    }
  },

  async 'a late poll repeats nothing, and neither does a poll of an unknown act'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const { target } = await planned(stage, input)
    const given = await give(stage, target)
    const taken = await take(stage, target)
    for (const reference of [...given, newId()]) await pollLate(stage, target, reference)
    assert.deepEqual(await stage.target.sees(), before)
    await give(stage, target)
    for (const reference of [...taken, newId()]) await pollLate(stage, target, reference)
    await requireHeld(stage, input, target, true)
    await take(stage, target)
  },

  async 'verify reports the current access, also after changes by hand, and acts correct it'(stage) {
    const input = await stage.makeInput()
    const { target } = await planned(stage, input)
    await give(stage, target)
    await stage.target.take(input)
    await requireHeld(stage, input, target, false)
    await give(stage, target)
    await requireHeld(stage, input, target, true)
    await stage.target.take(input)
    await take(stage, target)
    await stage.target.give(input)
    await requireHeld(stage, input, target, true)
    await take(stage, target)
    await requireHeld(stage, input, target, stage.tellsWhose === true)
    if (stage.tellsWhose) await stage.target.take(input)
  },

  async 'access that must last longer is reported as held, or as ending early, and a further grant extends it'(stage) {
    const input = await stage.makeInput()
    const { target } = await planned(stage, input)
    await give(stage, target, anHourOn(1))
    const end = anHourOn(3)
    assert.equal(await verified(stage, target, end), stage.endsByItself ? 'ends_early' : 'held')
    await give(stage, target, end)
    assert.equal(await verified(stage, target, end), 'held')
    assert.equal(await verified(stage, target, anHourOn(1)), 'held')
    await take(stage, target)
    await requireHeld(stage, input, target, false)
  },

  async 'discover lists all access that is held, and nothing else'(stage) {
    const [held, gone, stranger] = [await stage.makeInput(), await stage.makeInput(), await stage.makeInput()]
    const [ours, past] = [await planned(stage, held), await planned(stage, gone)]
    await stage.target.give(stranger)
    await give(stage, ours.target)
    await give(stage, past.target)
    await take(stage, past.target)
    if (stage.driver().discover !== null) {
      const before = await stage.target.sees()
      const known = [ours, past].map(({ key, target }) => ({ key, target }))
      const keys = await listed(stage, known)
      assert.ok(keys.includes(ours.key), 'held access is listed')
      assert.ok(!keys.includes(past.key), 'revoked access is not listed')
      await listed(stage, [])
      assert.deepEqual(await stage.target.sees(), before)
    }
    await take(stage, ours.target)
    assert.ok(await stage.target.holds(stranger))
    await stage.target.take(stranger)
  },
}

async function pollLate(stage: Trial, target: Record<string, unknown>, reference: string): Promise<void> {
  try {
    await stage.driver().poll(stage.tx, target, reference, patient())
  } catch (error) {
    assert.ok(error instanceof TargetError || error instanceof NotNow, `it threw ${String(error)}`)
  }
}

/** The keys of a list, each of which a check finds at the target. */
async function listed(stage: Trial, known: readonly { key: string; target: Record<string, unknown> }[]) {
  const driver = stage.driver()
  const keys: string[] = []
  for await (const page of driver.discover?.(stage.tx, known, patient()) ?? []) {
    assert.ok(page.length <= 5_000, 'a page has at most 5,000 entries')
    for (const { key, target } of page) {
      assert.notEqual(await verified(stage, target), 'absent', `\`${key}\` is listed, and verify does not find it`)
      keys.push(key)
    }
  }
  return keys
}
