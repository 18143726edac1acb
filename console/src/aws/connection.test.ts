import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { accountOf, doneSteps, nextStep } from './connection.ts'

type Facts = Parameters<typeof nextStep>[0]

const check = (what: string, ok = true) => ({ what, ok, message: null })
const tested = (ok: boolean, ...checks: ReturnType<typeof check>[]) => ({
  checked_at: '2026-11-26T13:30:07Z',
  ok,
  checks,
})
const made: Facts = { config: {}, enabled: false, serves: [], health: null }
const passed = tested(true, check('the role'), check('the instance'))
const accounts = [{ resource_type: 'cloud_account' as const }]

suite('the next step', () => {
  const cases: [what: string, facts: Facts, next: string | undefined, done: string[]][] = [
    ['of a new one is the role', made, 'role', ['answers']],
    [
      'after a refused role is the role',
      { ...made, health: tested(false, check('the role', false)) },
      'role',
      ['answers'],
    ],
    [
      'after another fault is the test',
      { ...made, health: tested(false, check('the role'), check('the instance', false)) },
      'test',
      ['answers', 'role'],
    ],
    ['after a passed test is to turn it on', { ...made, health: passed }, 'on', ['answers', 'role', 'test']],
    [
      'of one that is on but serves nothing is to turn it on',
      { ...made, health: passed, enabled: true },
      'on',
      ['answers', 'role', 'test'],
    ],
    [
      'of one that is on is none',
      { ...made, health: passed, enabled: true, serves: accounts },
      undefined,
      ['answers', 'role', 'test', 'on'],
    ],
  ]
  for (const [what, facts, next, done] of cases)
    test(what, () => assert.deepEqual([nextStep(facts), [...doneSteps(facts)]], [next, done]))
})

suite('the account', () => {
  const cases: [config: Record<string, unknown>, expected: string][] = [
    [{ account_id: '123456789012' }, '123456789012'],
    [{ role_arn: 'arn:aws:iam::210987654321:role/mine' }, '210987654321'],
    [{}, ''],
  ]
  for (const [config, expected] of cases)
    test(`of ${JSON.stringify(config)} is ${expected || 'unknown'}`, () =>
      assert.equal(accountOf({ config }), expected))
})
