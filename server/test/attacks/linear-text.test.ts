import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { planImport } from '../../src/policies/files/policy-import.ts'
import { placeInFile, splitFile } from '../../src/policy-engine/cedar/file.ts'
import { statementFromInput } from '../../src/policy-engine/cedar/statement.ts'
import { countSteps } from '../support/steps.ts'

const rule = 'permit(principal, action, resource);'
const account = (n: number) => `permit(principal, action, resource == cloud_account::"${String(n).padStart(12, '0')}");`
const many = (count: number, make: (n: number) => string, between = '\n') =>
  Array.from({ length: count }, (_, n) => make(n)).join(between)

/** Files that grow in one respect, and the size at which they are first measured. */
const files: Record<string, [number, (size: number) => string]> = {
  'one annotation many times': [5_000, (size) => '@id("x")'.repeat(size) + rule],
  'one annotation many times, below the limit of a statement': [500, (size) => '@id("x")'.repeat(size) + rule],
  'many annotations': [500, (size) => many(size, (n) => `@a${n}("x")`, ' ') + rule],
  'many statements of many annotations': [20, (size) => many(size, () => '@id("x") '.repeat(500) + rule)],
  'many statements': [500, (size) => many(size, account)],
  'many statements with an id': [500, (size) => many(size, (n) => `@id("rule ${n}") ${account(n)}`)],
  'many comments': [2_000, (size) => `permit(${'// x\n'.repeat(size)}principal, action, resource);`],
  'many open strings': [2_000, (size) => many(size, () => '"')],
}

/** Twice the input takes at most 2.5 times the steps. */
async function requireLinear(size: number, work: (size: number) => unknown): Promise<void> {
  await work(size)
  const once = await countSteps(() => work(size))
  const twice = await countSteps(() => work(size * 2))
  assert.ok(twice <= once * 2.5 + 100, `${once} steps become ${twice}`)
}

suite('the work on policy text grows no faster than the text (J11)', () => {
  for (const [what, [size, make]] of Object.entries(files)) {
    test(`splitting a file of ${what}`, () => requireLinear(size, (now) => splitFile(make(now), 10_000)))
  }

  test('planning an import of many new statements', () =>
    requireLinear(60, (size) => planImport(many(size, account), [])))

  test('refusing a statement that is too long, before its annotations are read', async () => {
    const steps = (size: number) =>
      countSteps(() => {
        const policy_text = '@id("x")'.repeat(size) + rule
        assert.throws(() => statementFromInput({ policy_text }), /bytes, more than 10000/)
        return splitFile(policy_text, 10)
      })
    await steps(2_000)
    assert.ok((await steps(20_000)) <= (await steps(2_000)) + 10)
  })

  test('finding a place in a file', () =>
    requireLinear(2_000, (size) => {
      const file = `permit(${'// x\n'.repeat(size)}principal, action, resource);`
      const [statement] = splitFile(file, 1)
      return statement && placeInFile(file, statement, { line: 1, column: 10 })
    }))
})
