import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { badges, grantStates, requestStates, type State } from './badge.ts'
import type { GrantBody, RequestBody } from './bodies.ts'
import { english } from './words-en.ts'

type Grant = Pick<GrantBody, 'status' | 'provisioning_status' | 'drifted'>
const grant = (status: Grant['status'], provisioning_status = 'successful', drifted = false): Grant => ({
  ...{ status, provisioning_status, drifted },
})

suite('the badges of a grant', () => {
  const cases: [string, Grant, State[]][] = [
    ['waits for its target', grant('pending', 'attempting'), ['starting']],
    ['is there', grant('active'), ['active']],
    ['is there, and was removed by hand', grant('active', 'successful', true), ['active', 'drifted']],
    ['is over, and is being taken away', grant('revoked', 'deprovisioning'), ['ending']],
    ['is over, and could not be taken away', grant('expired', 'deprovisioning_failed'), ['stillHeld']],
    ['never began, and something of it is left', grant('failed', 'deprovisioning_failed'), ['stillHeld']],
    ['never began', grant('failed', 'failed'), ['failed']],
    ['ended on time', grant('expired', 'deprovisioned'), ['ended']],
    ['was ended', grant('revoked', 'deprovisioned'), ['endedEarly']],
  ]
  for (const [name, given, states] of cases) test(`that ${name}`, () => assert.deepEqual(grantStates(given), states))
})

suite('the badges of a request', () => {
  type Request = Pick<RequestBody, 'status' | 'break_glass' | 'risk'>
  const request = (status: Request['status'], more: Partial<Request> = {}): Request => ({
    ...{ status, break_glass: false, risk: 'normal' },
    ...more,
  })
  const cases: [string, Request, Grant[], State[]][] = [
    ['waits', request('pending'), [], ['waiting']],
    ['waits, of high risk', request('pending', { risk: 'high' }), [], ['waiting', 'highRisk']],
    ['was denied', request('denied'), [], ['denied']],
    ['found no answer', request('expired'), [], ['unanswered']],
    ['was cancelled', request('cancelled'), [], ['cancelled']],
    ['was approved, and has no access yet', request('approved'), [], ['approved']],
    ['gave access', request('approved'), [grant('active')], ['active']],
    [
      'is an emergency',
      request('approved', { break_glass: true, risk: 'high' }),
      [grant('active')],
      ['active', 'emergency'],
    ],
    [
      'gave access that is left at one of its targets',
      request('approved'),
      [grant('active'), grant('revoked', 'deprovisioning_failed')],
      ['stillHeld'],
    ],
    ['failed at one of its targets', request('approved'), [grant('active'), grant('failed', 'failed')], ['failed']],
  ]
  for (const [name, given, grants, states] of cases) {
    test(`that ${name}`, () => assert.deepEqual(requestStates(given, grants), states))
  }
})

test('the badge of a high risk has the tone of what waits, not that of a fault', () => {
  assert.match(badges(['highRisk'], english).text, /class="badge wait"/)
})
