import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trusted } from './evaluate.ts'
import type { PolicyRule } from './rule-set.ts'

const rule = (id: string, effect: 'permit' | 'forbid'): [string, PolicyRule] => [
  id,
  {
    id,
    policy_id: 'p',
    priority: 1,
    ordinal: 1,
    effect,
    policy_text: '',
    notice: null,
    audit_session: false,
    approval_mode: null,
    saved_by: null,
  },
]
const rules = new Map([rule('p', 'permit'), rule('f', 'forbid')])
const failure = (policyId: string) => ({ policyId, error: { message: 'overflow' } })

const answers: [
  name: string,
  decision: 'allow' | 'deny',
  reason: string[],
  failed: string[],
  allowed: boolean,
  fault: boolean,
][] = [
  ['an allow by a permit', 'allow', ['p'], [], true, false],
  ['a deny by a forbid', 'deny', ['f'], [], false, false],
  ['a deny by default', 'deny', [], [], false, false],
  ['an allow without a reason', 'allow', [], [], false, true],
  ['an allow by an unknown rule', 'allow', ['p', 'stranger'], [], false, true],
  ['an allow by a forbid', 'allow', ['f'], [], false, true],
  ['a deny by a permit', 'deny', ['p'], [], false, true],
  ['an allow with a failed forbid', 'allow', ['p'], ['f'], false, false],
  ['an allow with a failed permit', 'allow', ['p'], ['p'], true, false],
  ['an allow with a failure of an unknown rule', 'allow', ['p'], ['stranger'], false, true],
]

for (const [name, decision, reason, failed, allowed, fault] of answers)
  test(`${name} ${allowed ? 'allows' : 'denies'} (J5)`, () => {
    const answer = trusted({ decision, diagnostics: { reason, errors: failed.map(failure) } }, rules)
    assert.equal(answer.allowed, allowed)
    assert.equal(answer.fault !== undefined, fault)
    if (failed.length > 0) assert.equal(answer.errors.length, 1)
  })
