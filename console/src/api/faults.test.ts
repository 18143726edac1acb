import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { faultOf, isOutdated, lacksFactor, needsSignIn } from './faults.ts'

const refusal = (parts: object) => Object.assign(new Error('refused'), parts)
const faulty = refusal({
  details: { fields: [{ pointer: '/new_password', why: 'has 3 characters: use at least 15' }, { pointer: '/odd' }] },
})

suite('the fault of a field', () => {
  const cases: [string, Error | undefined, string, string | undefined][] = [
    ['is a sentence', faulty, '/new_password', 'Has 3 characters: use at least 15.'],
    ['is not that of another field', faulty, '/current_password', undefined],
    ['is nothing where the service gives no reason', faulty, '/odd', undefined],
    ['is nothing where no field is named', refusal({ details: {} }), '/new_password', undefined],
    ['is nothing where fields are no list', refusal({ details: { fields: 'x' } }), '/new_password', undefined],
    ['is nothing for an error of the network', new Error('lost'), '/new_password', undefined],
    ['is nothing without an error', undefined, '/new_password', undefined],
  ]
  for (const [name, error, pointer, said] of cases) test(name, () => assert.equal(faultOf(error, pointer), said))
})

suite('a refusal', () => {
  const newer = refusal({ status: 403, code: 'sign_in_again', details: { acr: null } })
  const stronger = refusal({ status: 403, code: 'sign_in_again', details: { acr: 'mfa' } })
  const cases: [string, Error, { signIn: boolean; factor: boolean; outdated: boolean }][] = [
    ['that asks for a newer sign-in', newer, { signIn: true, factor: false, outdated: false }],
    ['that asks for a second factor', stronger, { signIn: true, factor: true, outdated: false }],
    [
      'for a missing right',
      refusal({ status: 403, code: 'forbidden', details: { acr: 'mfa' } }),
      { signIn: false, factor: false, outdated: false },
    ],
    ['of an old version', refusal({ status: 412 }), { signIn: false, factor: false, outdated: true }],
    ['of the network', new Error('lost'), { signIn: false, factor: false, outdated: false }],
  ]
  for (const [name, error, expected] of cases)
    test(`${name} is known as such`, () =>
      assert.deepEqual(
        { signIn: needsSignIn(error), factor: lacksFactor(error), outdated: isOutdated(error) },
        expected,
      ))
})
