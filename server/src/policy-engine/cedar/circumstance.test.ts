import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { rounds } from '../../../test/support/race.ts'
import { type Circumstance, numberIn, otherValues, valuesOf } from './circumstance.ts'
import { conjunctsOf } from './conjunct.ts'
import { type Clause, textEngine } from './engine.ts'
import { parseConditions } from './parse.ts'
import { type AskQuestion, askOf } from './question.ts'
import { complement, holds, intersection, nearest, type Ranges, union } from './range.ts'
import { sampleAccount, sampleQuestion } from './samples.ts'

const numRuns = rounds(50).length

/** Whether the engine finds that the clauses hold. */
function engineHolds(clauses: Clause[], question: AskQuestion): boolean {
  const all = { op: 'All' } as const
  const rule = { effect: 'permit', principal: all, action: all, resource: all, conditions: clauses } as const
  const call = { ...askOf(question, sampleAccount, 'ReadOnlyAccess'), policies: { staticPolicies: { rule } } }
  const answer = textEngine.use((cedar) => cedar.isAuthorized(call))
  assert.ok(answer.type === 'success')
  return answer.response.decision === 'allow'
}

/** Formulas over these atoms. */
const formulas = (atoms: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.letrec<{ formula: string }>((tie) => ({
    formula: fc.oneof(
      { maxDepth: 4, depthSize: 'medium' },
      atoms,
      tie('formula').map((one) => `!(${one})`),
      fc
        .tuple(tie('formula'), fc.constantFrom('&&', '||'), tie('formula'))
        .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    ),
  })).formula

const clause = (body: string, unless: boolean) => `${unless ? 'unless' : 'when'} { ${body} }`

const operators = fc.constantFrom('==', '!=', '<', '<=', '>', '>=')
const numbers = (name: string, numbersOf: fc.Arbitrary<number>) =>
  fc.oneof(
    fc.tuple(operators, numbersOf).map(([operator, number]) => `context.${name} ${operator} ${number}`),
    fc.tuple(operators, numbersOf).map(([operator, number]) => `${number} ${operator} context.${name}`),
    fc.array(numbersOf, { minLength: 1, maxLength: 3 }).map((some) => `[${some.join(', ')}].contains(context.${name})`),
  )
const instants = [
  '2023-12-31',
  '2024-01-01T12:00:00Z',
  '2024-01-01T12:00:00.001Z',
  '2024-01-01T10:00:00-0200',
  '2024-01-01T14:00:00.000+0159',
]
const atoms: Record<Circumstance, fc.Arbitrary<string>> = {
  duration_seconds: numbers('duration_seconds', fc.constantFrom(-1, 0, 3599, 3600, 3601, 7200)),
  weekday: numbers('weekday', fc.integer({ min: 0, max: 8 })),
  minute: numbers('minute', fc.constantFrom(-1, 0, 719, 720, 721, 1439, 1440)),
  has_reason: fc.constantFrom('context.has_reason', 'context.has_reason == false', 'true != context.has_reason'),
  break_glass: fc.constantFrom('context.break_glass', 'context.break_glass == true'),
  via: fc.constantFrom(
    'context.via == "token"',
    '"api_key" != context.via',
    '["api_key"].contains(context.via)',
    'context.via == "mail"',
  ),
  now: fc
    .tuple(operators, fc.constantFrom(...instants))
    .map(([operator, at]) => `context.now ${operator} datetime("${at}")`),
}

const anyQuestion: fc.Arbitrary<AskQuestion> = fc
  .record({
    duration_seconds: fc.constantFrom(0, 3599, 3600, 3601, 10_000),
    has_reason: fc.boolean(),
    break_glass: fc.boolean(),
    via: fc.constantFrom('token' as const, 'api_key' as const),
    offset: fc.constantFrom(-1, 0, 1, 60_000, 86_400_000, 5 * 86_400_000, -43_200_000),
  })
  .map(({ offset, ...context }) => ({
    ...sampleQuestion,
    context: { ...sampleQuestion.context, ...context, now: new Date(sampleQuestion.context.now.getTime() + offset) },
  }))

for (const [name, atom] of Object.entries(atoms) as [Circumstance, fc.Arbitrary<string>][]) {
  test(`the values that a condition on \`${name}\` holds for are those that the engine finds`, () => {
    const property = fc.property(formulas(atom), fc.boolean(), anyQuestion, (body, unless, question) => {
      const [parsed] = parseConditions(clause(body, unless)) as [Clause]
      const read = valuesOf(parsed)
      assert.equal(read?.circumstance, name)
      const given = numberIn(question.context, name)
      const held = engineHolds([parsed], question)
      assert.equal(holds(read?.values ?? [], given), held)
      assert.equal(holds(read === undefined ? [] : otherValues(read).values, given), !held)
    })
    fc.assert(property, { numRuns })
  })
}

test('a condition on two circumstances, or with a calculation, has no known values', () => {
  for (const body of [
    'context.has_reason || context.duration_seconds < 60',
    'context.duration_seconds * 2 < 60',
    'context.duration_seconds < 9223372036854775807',
    'context.now.offset(duration("1d")) < datetime("2024-01-01")',
    'if context.has_reason then true else false',
    'resource.name == "context.via"',
  ])
    assert.equal(valuesOf(parseConditions(`when { ${body} }`)[0] as Clause), undefined, body)
})

const tags = [
  'resource.hasTag("env")',
  'resource.getTag("env") == "dev"',
  'resource.hasTag("no")',
  'resource.getTag("no") == ""',
]

test('all conjuncts hold exactly if the clauses hold, even if some fail at evaluation', () => {
  const atom = fc.oneof(fc.constantFrom(...tags), atoms.has_reason, atoms.duration_seconds)
  const clauses = fc.array(fc.tuple(formulas(atom), fc.boolean()), { minLength: 1, maxLength: 3 })
  const property = fc.property(clauses, anyQuestion, (drawn, question) => {
    const parsed = parseConditions(drawn.map(([body, unless]) => clause(body, unless)).join(' '))
    const alone = conjunctsOf(parsed).map((one) => engineHolds([one], question))
    assert.equal(alone.every(Boolean), engineHolds(parsed, question))
  })
  fc.assert(property, { numRuns })
})

const split = (text: string) => conjunctsOf(parseConditions(text)).length
test('conjuncts are as small as possible, but the test for a tag stays with its use', () => {
  assert.equal(split('when { context.has_reason && context.weekday < 6 } unless { context.break_glass }'), 3)
  assert.equal(split('unless { context.has_reason || !(context.weekday < 6 && context.minute < 9) }'), 3)
  assert.equal(split('when { context.has_reason || context.weekday < 6 }'), 1)
  assert.equal(split('when { resource.hasTag("a") && resource.getTag("a") == "b" }'), 1)
  assert.equal(split('when { resource.hasTag("a") && resource.getTag("a") != "b" && resource.getTag("a") != "c" }'), 2)
  assert.equal(split('when { resource.hasTag("a") && resource.getTag("b") == "b" }'), 2)
  assert.equal(split('when { resource.hasTag("a") && resource.hasTag("a") }'), 2)
})

const anyRanges: fc.Arbitrary<Ranges> = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.nat(5)))
  .map((some) => some.map(([from, more]): Ranges => [[from, from + more]]).reduce(union, []))
const sampleNumbers = Array.from({ length: 32 }, (_, index) => index - 3)

test('ranges are sets of whole numbers', () => {
  const property = fc.property(anyRanges, anyRanges, (one, other) => {
    for (const n of sampleNumbers) {
      assert.equal(holds(union(one, other), n), holds(one, n) || holds(other, n))
      assert.equal(holds(intersection(one, other), n), holds(one, n) && holds(other, n))
      assert.equal(holds(complement(one), n), !holds(one, n))
      const within = sampleNumbers.filter((each) => holds(one, each))
      const distance = Math.min(...within.map((each) => Math.abs(each - n)))
      const found = nearest(one, n)
      assert.equal(found === undefined ? Number.POSITIVE_INFINITY : Math.abs(found - n), distance)
    }
  })
  fc.assert(property, { numRuns })
})
