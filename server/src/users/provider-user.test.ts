import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type AccountDecision, type Candidate, decideAccount, type FirstSignIn } from './provider-user.ts'

const waiting: Candidate = {
  ...{ id: 'u1', is_account: false, auth_provider: 'oidc' },
  ...{ linked: false, active: true, deleted: false },
}
const known: Candidate = { ...waiting, is_account: true, linked: true }
const gone: Candidate = { ...known, active: false, deleted: true }
const anna = { email: 'anna@example.com', email_verified: true }
const all: FirstSignIn = { mayLink: true, mayCreate: true }

const decisions: [
  string,
  Candidate[],
  { email?: undefined; email_verified?: boolean },
  FirstSignIn,
  AccountDecision,
][] = [
  [
    'signs in as the user of the account, even if another user has its address now',
    [waiting, known],
    {},
    all,
    { user_id: 'u1' },
  ],
  ['signs in as the user of the account without an address', [known], { email: undefined }, all, { user_id: 'u1' }],
  ['is refused while its user is inactive', [{ ...known, active: false }], {}, all, { cause: 'inactive' }],
  ['is linked to the user without an account who has its address', [waiting], {}, all, { link: 'u1' }],
  ['is never linked to a local user', [{ ...waiting, auth_provider: 'local' }], {}, all, { cause: 'address_taken' }],
  [
    'is never linked to the user of another account',
    [{ ...waiting, linked: true }],
    {},
    all,
    { cause: 'address_taken' },
  ],
  [
    'is not linked by an address that is not verified',
    [waiting],
    { email_verified: false },
    all,
    { cause: 'address_not_verified' },
  ],
  ['is not linked if linking is not allowed', [waiting], {}, { ...all, mayLink: false }, { cause: 'other_provider' }],
  ['is not linked to an inactive user', [{ ...waiting, active: false }], {}, all, { cause: 'inactive' }],
  ['creates a user if no user has its address', [], {}, all, { create: { email: anna.email } }],
  ['creates no user if creation is not allowed', [], {}, { ...all, mayCreate: false }, { cause: 'unknown_user' }],
  ['creates no user without an address', [], { email: undefined }, all, { cause: 'no_address' }],
  ['does not bring a deleted user back', [gone], {}, all, { cause: 'unknown_user' }],
  ['is linked to the user who was created again for its address', [gone, waiting], {}, all, { link: 'u1' }],
]

suite('an account of a provider', () => {
  for (const [name, candidates, change, first, decision] of decisions) {
    test(name, () => assert.deepEqual(decideAccount(candidates, { ...anna, ...change }, first), decision))
  }
})
