import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { englishSetUp as english } from '../words/english-set-up.ts'
import { faultsOf, refusedFaults } from './entry.ts'

const { people } = english
const { emailNeeded, nameNeeded, emailTaken } = people

suite('an entry to invite somebody', () => {
  const cases: [what: string, email: string, name: string, email_: string | undefined, name_: string | undefined][] = [
    ['is whole with an address and a name', ' ada@example.com ', 'Ada', undefined, undefined],
    ['lacks an address', '', 'Ada', emailNeeded, undefined],
    ['has a name for an address', 'Ada', 'Ada', emailNeeded, undefined],
    ['has two addresses', 'ada@example.com, ben@example.com', 'Ada', emailNeeded, undefined],
    ['lacks both', ' ', ' ', emailNeeded, nameNeeded],
  ]
  for (const [what, email, name, ofEmail, ofName] of cases)
    test(what, () =>
      assert.deepEqual(faultsOf({ email, name, role: 'user' }, people), { email: ofEmail, name: ofName }),
    )
})

suite('a refusal to invite', () => {
  const refusal = (parts: object) => Object.assign(new Error('refused'), parts)
  const faulty = (pointer: string) =>
    refusal({ code: 'invalid_input', details: { fields: [{ pointer, why: 'is odd' }] } })
  const cases: [what: string, error: Error | undefined, email: string | undefined, name: string | undefined][] = [
    ['of nothing is none', undefined, undefined, undefined],
    ['of a taken address is of the address', refusal({ code: 'user_exists' }), emailTaken, undefined],
    ['of a faulty address is of the address', faulty('/email'), 'Is odd.', undefined],
    ['of a faulty name is of the name', faulty('/name'), undefined, 'Is odd.'],
    ['of the roles is of no field', faulty('/roles'), undefined, undefined],
    ['by the network is of no field', new Error('lost'), undefined, undefined],
  ]
  for (const [what, error, email, name] of cases)
    test(what, () => assert.deepEqual(refusedFaults(error, people), { email, name }))
})
