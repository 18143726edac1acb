import assert from 'node:assert/strict'
import { Compile } from 'typebox/compile'
import { newId } from '../../src/kernel/id.ts'
import { isPlainLine } from '../../src/kernel/one-line-name.ts'
import { Connect, maxConnectBytes } from '../../src/provisioners/connect.ts'
import { TargetError } from '../../src/provisioners/driver.ts'
import { type Checks, kept, patient, planned } from './stage.ts'

const isConnect = Compile(Connect)

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

  async 'a plan says how the holder connects, or that it is not known: the same each time, bounded, and without a secret'(
    stage,
  ) {
    const input = await stage.makeInput()
    const { connect } = await planned(stage, input)
    for (const one of [input, ...stage.others(input)]) {
      const plan = await planned(stage, one)
      requireConnect(plan.connect, stage.secrets)
      if (one === input) assert.deepEqual(plan.connect, connect, 'it is the same each time')
    }
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

function requireConnect(connect: Connect | null, secrets: readonly string[]): void {
  if (connect === null) return
  assert.ok(isConnect.Check(connect), `it has the form of the schema: ${JSON.stringify(connect)}`)
  const text = JSON.stringify(connect)
  assert.ok(Buffer.byteLength(text) <= maxConnectBytes, 'it is bounded')
  for (const secret of secrets) assert.ok(!text.includes(secret), 'how to connect contains no secret')
  for (const { url } of connect.links) assert.match(url, /^https:/, 'a link is an https link')
  const { summary, fields, commands, files } = connect
  const lines = [summary, ...fields.map(({ value }) => value), ...commands.map((one) => one.text)]
  for (const line of [...lines, ...files.flatMap((file) => file.lines)])
    assert.ok(isPlainLine(line), 'it is plain text')
}
