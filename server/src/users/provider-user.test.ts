import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type AccountDecision, type Candidate, decideAccount, type FirstSignIn } from './provider-user.ts'

const waiting: Candidate = {
  ...{ id: 'u1', is_account: false, auth_provider: 'oidc' },
  ...{ email: 'anna@example.com', linked: false, active: true, suspended: false, deleted: false },
  ...{ in_directory: false, is_known_there: false },
}
const known: Candidate = { ...waiting, is_account: true, linked: true }
const gone: Candidate = { ...known, active: false, deleted: true }
const anna = { email: 'anna@example.com', email_verified: true }
const all: FirstSignIn = { mayBegin: true, create: 'verified', by_directory: false }
const byDirectory: FirstSignIn = { ...all, by_directory: true }
const synced: Candidate = { ...waiting, in_directory: true, is_known_there: true }
const like = { ...waiting, id: 'u2', email: 'ANNA@ｅxample.com' }
const similar: Candidate = { ...waiting, id: 'u3', email: 'ａnna@example.com' }

const decisions: [
  string,
  Candidate[],
  { email?: string | undefined; email_verified?: boolean },
  FirstSignIn,
  AccountDecision,
][] = [
  [
    'signs in as the user of the account, even if another user has its address now',
    [waiting, known],
    {},
    all,
    { user_id: 'u1', verifies: true },
  ],
  [
    'signs in as the user of the account without an address',
    [known],
    { email: undefined },
    all,
    { user_id: 'u1', verifies: false },
  ],
  [
    'verifies no address of a known user that differs from the account’s, or that the provider does not vouch for',
    [{ ...known, email: 'ａnna@example.com' }],
    {},
    all,
    { user_id: 'u1', verifies: false },
  ],
  [
    'verifies no address without the provider’s word',
    [known],
    { email_verified: false },
    all,
    { user_id: 'u1', verifies: false },
  ],
  ['is refused while its user is inactive', [{ ...known, active: false }], {}, all, { cause: 'inactive' }],
  ['is refused while its user is suspended (P35)', [{ ...known, suspended: true }], {}, all, { cause: 'suspended' }],
  [
    'is linked to the user without an account who has its address',
    [waiting],
    {},
    all,
    { link: 'u1', verifies: true, by_directory: false },
  ],
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
  ['is not linked if linking is not allowed', [waiting], {}, { ...all, mayBegin: false }, { cause: 'other_provider' }],
  ['is not linked to an inactive user', [{ ...waiting, active: false }], {}, all, { cause: 'inactive' }],
  ['is not linked to a suspended user (P35)', [{ ...waiting, suspended: true }], {}, all, { cause: 'suspended' }],
  [
    'creates no user while the tenant has another provider',
    [],
    {},
    { ...all, mayBegin: false },
    { cause: 'other_provider' },
  ],
  ['creates a user if no user has its address', [], {}, all, { create: { email: anna.email } }],
  ['creates no user if creation is not allowed', [], {}, { ...all, create: 'never' }, { cause: 'unknown_user' }],
  [
    'creates no user of an unverified address (O21)',
    [],
    { email_verified: false },
    all,
    { cause: 'address_not_verified' },
  ],
  [
    'creates a user of an unverified address where the tenant allows it (O21)',
    [],
    { email_verified: false },
    { ...all, create: 'any' },
    { create: { email: anna.email } },
  ],
  ['is not linked by an address that is only similar (O20)', [similar], {}, all, { cause: 'address_similar' }],
  [
    'is linked by the same address beside a similar one (O20)',
    [similar, like],
    {},
    all,
    { link: 'u2', verifies: true, by_directory: false },
  ],
  ['is not linked if two users have the same address (O20)', [waiting, like], {}, all, { cause: 'address_taken' }],
  [
    'is not linked by an unverified address where unverified ones are allowed',
    [waiting],
    { email_verified: false },
    { ...all, create: 'any' },
    { cause: 'address_not_verified' },
  ],
  ['creates no user without an address', [], { email: undefined }, all, { cause: 'no_address' }],
  ['does not bring a deleted user back', [gone], {}, all, { cause: 'unknown_user' }],
  [
    'is linked to the user who was created again for its address',
    [gone, waiting],
    {},
    all,
    { link: 'u1', verifies: true, by_directory: false },
  ],
  [
    'is not linked by address to a user of a directory',
    [{ ...synced, is_known_there: false }],
    {},
    all,
    { cause: 'directory_user' },
  ],
  [
    'is linked to the user whom the directory knows by its subject, whatever the address',
    [{ ...synced, email: 'other@example.com' }],
    {},
    byDirectory,
    { link: 'u1', verifies: false, by_directory: true },
  ],
  [
    'verifies the address of that user where the provider vouches for it',
    [synced],
    {},
    byDirectory,
    { link: 'u1', verifies: true, by_directory: true },
  ],
  [
    'is linked to that user without an address',
    [synced],
    { email: undefined },
    byDirectory,
    { link: 'u1', verifies: false, by_directory: true },
  ],
  [
    'is refused for a user who has an account already',
    [{ ...synced, linked: true }],
    {},
    byDirectory,
    { cause: 'directory_user_linked' },
  ],
  [
    'is refused for a local user of the directory',
    [{ ...synced, auth_provider: 'local' }],
    {},
    byDirectory,
    { cause: 'directory_user_linked' },
  ],
  [
    'is refused for a user whom the directory stopped',
    [{ ...synced, active: false }],
    {},
    byDirectory,
    { cause: 'inactive' },
  ],
  ['begins nobody whom the directory does not have', [], {}, byDirectory, { cause: 'not_in_directory' }],
  ['begins nobody by address where there is a directory', [waiting], {}, byDirectory, { cause: 'not_in_directory' }],
  [
    'signs in as the user of the account where there is a directory',
    [known],
    {},
    byDirectory,
    { user_id: 'u1', verifies: true },
  ],
]

suite('an account of a provider', () => {
  for (const [name, candidates, change, first, decision] of decisions) {
    test(name, () => assert.deepEqual(decideAccount(candidates, { ...anna, ...change }, first), decision))
  }
})
