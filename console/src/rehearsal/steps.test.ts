import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { choicesOf, doneOf, waitingOf } from './steps.ts'

const [production, staging, sandbox] = ['990000000001', '990000000002', '990000000003']
const accounts = [production, staging, sandbox].map((id) => ({ id, name: `Rehearsal: ${id}` }))
const request = (id: string, status: 'pending' | 'approved' | 'denied', decided_by: string | null) => ({
  ...{ id: `${status} ${id}`, status, decided_by },
  resource: { type: 'cloud_account' as const, id },
})

suite('the steps that are done', () => {
  const cases: [string, Parameters<typeof doneOf>[0], boolean, string[]][] = [
    ['at first', [], false, []],
    ['with a request that waits', [request(production, 'pending', null)], false, ['ask']],
    ['with a request that was denied', [request(production, 'denied', 'ada')], false, []],
    ['approved by a colleague', [request(production, 'approved', 'ben')], false, ['ask', 'approve']],
    ['approved by a rule', [request(sandbox, 'approved', null)], false, ['atOnce']],
    ['what is not allowed was opened', [], true, ['refusal']],
    ['on an account of one’s own', [request('123456789012', 'approved', 'ben')], false, []],
  ]
  for (const [name, requests, hasTried, done] of cases)
    test(name, () => assert.deepEqual([...doneOf(requests, accounts, hasTried)], done))
})

test('the newest request that waits is the one to approve', () => {
  const requests = [
    request('123456789012', 'pending', null),
    request(staging, 'approved', null),
    request(production, 'pending', null),
    request(sandbox, 'pending', null),
  ]
  assert.equal(waitingOf(requests, accounts), `pending ${production}`)
  assert.equal(waitingOf([], accounts), undefined)
})

test('without accounts there is nothing to request', () => {
  assert.equal(choicesOf([]), undefined)
  assert.equal(choicesOf(accounts)?.ask.id, production)
  assert.equal(choicesOf(accounts)?.atOnce.id, sandbox)
})
