import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { checkKinds, hasRole, linesOf } from './checks.ts'

const check = (what: string, ok = true, message: string | null = null) => ({ what, ok, message })
const identity = check('Sallyport’s own identity')
const refused = check('the role', false, 'AWS answered AccessDenied')
const states = (checks: Parameters<typeof linesOf>[0]) => linesOf(checks).map(({ state }) => state)

suite('the lines of a test', () => {
  test('are seven before there was one', () => {
    assert.deepEqual(
      linesOf([]).map(({ kind }) => kind),
      checkKinds,
    )
    assert.deepEqual(new Set(states([])), new Set(['pending']))
  })

  test('show what a test did not reach as pending', () => {
    assert.deepEqual(states([identity, refused]), ['ok', 'failed', ...Array.from({ length: 5 }, () => 'pending')])
    assert.equal(linesOf([identity, refused])[1]?.message, 'AWS answered AccessDenied')
  })

  test('end with the checks that depend on the config', () => {
    const line = linesOf([identity, check('the permission set `Admin`', false, 'there is none')])[7]
    const expected = { kind: undefined, what: 'the permission set `Admin`', state: 'failed', message: 'there is none' }
    assert.deepEqual(line, expected)
  })
})

suite('the role', () => {
  const cases: [what: string, checks: Parameters<typeof hasRole>[0], expected: boolean][] = [
    ['is not known before a test', [], false],
    ['is refused', [identity, refused], false],
    ['lets the service in', [identity, check('the role')], true],
  ]
  for (const [what, checks, expected] of cases) test(what, () => assert.equal(hasRole(checks), expected))
})
