import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStatement } from '../cedar/parse.ts'
import { askOf } from '../cedar/question.ts'
import { sampleAccount, sampleQuestion } from '../cedar/samples.ts'
import { factValuesOf, hasFacts, narrowingOf } from './narrowing.ts'

const narrowing = (conditions: string) =>
  narrowingOf(parseStatement(`permit(principal, action, resource) ${conditions};`).conditions)

/** The facts that the conditions want, as `path=value,value`. */
const wanted = (conditions: string) =>
  narrowing(conditions).facts.map(({ path, values }) => `${path}=${values.map((one) => one.split(' ')[1])}`)

const table: [conditions: string, facts: string[]][] = [
  ['', []],
  ['when { context.via == "token" }', ['context.via=token']],
  ['when { "token" == context.via && context.weekday == 3 }', ['context.via=token', 'context.weekday=3']],
  [
    'when { context.has_reason } unless { context.break_glass }',
    ['context.has_reason=true', 'context.break_glass=false'],
  ],
  ['unless { context.break_glass || context.via != "token" }', ['context.break_glass=false', 'context.via=token']],
  ['when { ["a", "b"].contains(principal.name) }', ['principal.name=a,b']],
  ['when { context.minute < 600 && principal.name == "a" }', ['principal.name=a']],
  ['when { resource.hasTag("env") && resource.getTag("env") == "prod" }', ['resource#env=prod']],
  ['when { principal has title } when { principal.title == "CTO" }', ['principal.title=CTO']],
  ['when { context.via != "token" && principal.name == "a" }', ['principal.name=a']],
  // A part that can fail ends the reading: its error must be reported.
  ['when { principal.title == "CTO" && principal.name == "a" }', []],
  ['when { resource.getTag("env") == "prod" }', []],
  ['unless { resource.hasTag("env") } when { resource.getTag("env") == "prod" }', []],
  ['when { context.duration_seconds * 2 > 60 && principal.name == "a" }', []],
  ['when { principal.name like "a*" && context.via == "token" }', []],
  ['when { context.has_reason || context.via == "token" }', []],
  ['when { context.weekday == 9223372036854775807 }', []],
]
for (const [conditions, facts] of table)
  test(`\`${conditions}\` wants ${facts.length === 0 ? 'no fact' : facts.join(' and ')}`, () => {
    assert.deepEqual(wanted(conditions), facts)
  })

test('a test of the principal, the action or the resource is one more scope', () => {
  const { scopes } = narrowing(
    'when { principal in Group::"a" && resource == cloud_account::"1" && action == Action::"x" }',
  )
  const any = { principal: {}, actions: undefined, resource: {} }
  assert.deepEqual(scopes, [
    { ...any, principal: { within: 'Group a' } },
    { ...any, resource: { is: 'cloud_account 1' } },
    { ...any, actions: ['x'] },
  ])
  assert.deepEqual(narrowing('unless { principal in Group::"a" }').scopes, [])
})

test('a value is the same only with the same type', () => {
  const values = factValuesOf(askOf(sampleQuestion, { ...sampleAccount, tags: { env: '3', reason: 'true' } }, 'a'))
  const has = (conditions: string) => hasFacts(narrowing(conditions).facts, values)
  assert.equal(has('when { resource.hasTag("env") && resource.getTag("env") == "3" }'), true)
  assert.equal(has('when { resource.hasTag("env") && resource.getTag("env") == 3 }'), false)
  assert.equal(has('when { resource.hasTag("reason") && resource.getTag("reason") == true }'), false)
})

test('a question without what every question has gets no answer', () => {
  const question = askOf(sampleQuestion, sampleAccount, 'a')
  assert.throws(() => factValuesOf({ ...question, entities: [] }), /the question lacks `principal.email`/)
})

test('the facts of a long condition take a bounded size: later ones are left to the engine', () => {
  const set = (first: number) => `[${Array.from({ length: 16 }, (_, n) => `"${first + n}"`)}].contains(principal.name)`
  const conditions = `when { ${Array.from({ length: 50 }, (_, n) => set(n)).join(' && ')} && context.via == "token" }`
  const { facts } = narrowing(conditions)
  assert.ok(facts.length > 1 && facts.length < 10, `${facts.length} facts`)
  const numbers = Array.from({ length: 2_000 }, (_, n) => n)
  assert.deepEqual(narrowing(`when { [${numbers}].contains(context.minute) }`).facts, [])
})
