import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../cedar/engine.ts'
import { parseStatement } from '../cedar/parse.ts'
import { maxGroupWeight, partsOfGroup, weightOf } from './rule-weight.ts'

const times = (count: number, part: string) => Array.from({ length: count }, () => part).join()
const when = (condition: string) => `permit(principal, action, resource) when { ${condition} };`
const forms = {
  short: when('context.minute < 1440'),
  numbers: when(`[${times(3_000, '1')}].contains(context.minute)`),
  records: when(`[${times(1_000, '{a:1}')}].contains(context.minute)`),
  sums: when(`[${times(30, Array.from({ length: 45 }, () => '1').join('+'))}].contains(context.minute)`),
  calls: when(`[${times(200, 'ip("1.1.1.1").isIpv4()')}].contains(true)`),
  text: when(`context.via == "${'x'.repeat(6_000)}"`),
}

for (const [name, text] of Object.entries(forms))
  test(`the weight of a rule is what it takes in the engine: ${name}`, () => {
    const engine = createEngine()
    const statement = parseStatement(text)
    const { fromText, fromJson } = weightOf(text, statement)
    for (const [rule, weight] of [[text, fromText] as const, [statement, fromJson] as const]) {
      const count = Math.ceil(6_000_000 / weight)
      const fill = (slot: string) =>
        engine.use((cedar) => {
          const rules = Array.from({ length: 10 }, (_, at) => [`0190f7f0-1111-7000-8000-${at}`, rule])
          assert.equal(cedar.preparsePolicySet(slot, { staticPolicies: Object.fromEntries(rules) }).type, 'success')
        })
      for (const slot of ['a', 'b']) fill(`${slot}${weight}`)
      const before = engine.memoryBytes()
      for (let at = 0; at < count; at += 10) fill(`${weight} ${at}`)
      const taken = (engine.memoryBytes() - before) / (Math.ceil(count / 10) * 10)
      assert.ok(taken < weight * 1.15, `it takes ${taken}, not ${weight}`)
    }
  })

test('a heavy group is evaluated in parts, which hold each rule once', () => {
  const weight = { fromText: maxGroupWeight / 3, fromJson: 1 }
  const rules = [1, 2, 3, 4, 5, 6, 7].map((serial) => ({ serial, weight }))
  const parts = partsOfGroup({ key: 'all', rules, twins: new Map() })
  assert.deepEqual(
    parts.map(({ key }) => key),
    ['1,2', '3,4', '5,6', '7'],
  )
  const light = { key: 'all', rules: rules.slice(0, 2), twins: new Map() }
  assert.deepEqual(partsOfGroup(light), [light])
})
