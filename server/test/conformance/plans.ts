import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import { TargetError } from '../../src/provisioners/driver.ts'
import { type Checks, kept, patient, planned } from './stage.ts'

/** What a plan must be. */
export const plans: Checks = {
  async 'a plan changes nothing, and is the same on every call and in every process'(stage) {
    const input = await stage.makeInput()
    const before = await stage.target.sees()
    const driver = stage.driver()
    const first = await driver.plan(stage.tx, input, patient())
    const [second, third] = await Promise.all([planned(stage, input, driver), planned(stage, input)])
    assert.deepEqual(kept(first), first, 'a plan is entirely JSON')
    assert.deepEqual(second, first)
    assert.deepEqual(third, first)
    assert.equal(first.held, false)
    const { session_seconds } = first
    assert.ok(session_seconds === null || (Number.isInteger(session_seconds) && session_seconds >= 0))
    assert.deepEqual(await stage.target.sees(), before)
    for (const secret of stage.secrets) assert.ok(!JSON.stringify(first).includes(secret), 'a plan contains no secret')
  },

  async 'a plan names the entitlement: grants of the same access share its key, other access has another key'(stage) {
    const [input, otherUser] = [await stage.makeInput(), await stage.makeInput()]
    const { key } = await planned(stage, input)
    const again = await planned(stage, { ...input, grant_id: newId(), duration_seconds: input.duration_seconds * 2 })
    assert.equal(again.key, key)
    const keys = [key]
    for (const other of [otherUser, ...stage.others(input)]) keys.push((await planned(stage, other)).key)
    assert.equal(new Set(keys).size, keys.length, `each has its own key: ${keys.join(' ')}`)
  },

  async 'a plan reports access that existed before the grant'(stage) {
    const input = await stage.makeInput()
    const { key } = await planned(stage, input)
    await stage.target.give(input)
    const plan = await planned(stage, input)
    assert.deepEqual([plan.key, plan.held], [key, true])
    await stage.target.take(input)
    assert.equal((await planned(stage, input)).held, false)
  },

  async 'an unknown user or resource is refused permanently, with a message'(stage) {
    const { unknown } = stage
    if (unknown === undefined) return
    const before = await stage.target.sees()
    await assert.rejects(stage.driver().plan(stage.tx, unknown, patient()), (error) => {
      assert.ok(error instanceof TargetError, String(error))
      assert.equal(error.kind, 'permanent')
      return true
    })
    assert.deepEqual(await stage.target.sees(), before)
  },
}
