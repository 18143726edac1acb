import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine, EngineFault, exactJson } from './engine.ts'

const deep = `permit(principal, action, resource) when { ${'('.repeat(400)}true${')'.repeat(400)} };`
const plain = 'permit(principal, action, resource);'

test('a trap drops the instance, and the next call has a new one', () => {
  const engine = createEngine()
  assert.throws(() => engine.use((cedar) => cedar.policyToJson(deep)), EngineFault)
  assert.equal(engine.faults(), 1)
  assert.equal(engine.use((cedar) => cedar.policyToJson(plain)).type, 'success')
})

test('a trap in one engine does not affect another', () => {
  const [one, other] = [createEngine(), createEngine()]
  other.use((cedar) => cedar.preparsePolicySet('kept', { staticPolicies: { a: plain } }))
  assert.throws(() => one.use((cedar) => cedar.policyToJson(deep)), EngineFault)
  assert.equal(other.faults(), 0)
  assert.equal(other.use((cedar) => cedar.policyToJson(plain)).type, 'success')
})

test('dropped instances are freed', () => {
  const engine = createEngine()
  for (let round = 0; round < 60; round += 1)
    assert.throws(() => engine.use((cedar) => cedar.policyToJson(deep)), EngineFault)
  assert.equal(engine.use((cedar) => cedar.policyToJson(plain)).type, 'success')
  assert.ok(engine.memoryBytes() > 0)
})

test('reusing a slot name frees its content', () => {
  const engine = createEngine()
  const rules = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [
      `r${index}`,
      `permit(principal == User::"${index}", action, resource);`,
    ]),
  )
  const fill = () => engine.use((cedar) => cedar.preparsePolicySet('slot', { staticPolicies: rules }))
  for (let round = 0; round < 3; round += 1) fill()
  const settled = engine.memoryBytes()
  for (let round = 0; round < 10; round += 1) fill()
  assert.equal(engine.memoryBytes(), settled)
})

test('integers past 2^53 are passed on unchanged (J4)', () => {
  for (const text of ['9223372036854775807', '{"a":[-9223372036854775808,1,0.5]}', '{"a":"9007199254740993"}'])
    assert.equal(exactJson.stringify(exactJson.parse(text)), text)
})
