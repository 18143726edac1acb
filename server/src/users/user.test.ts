import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { allScopes } from '../permissions/permission.ts'
import { type NewUserInput, readNewUser, requireMayGrant } from './user.ts'

const anna: NewUserInput = { email: 'anna@example.com', name: 'Anna', password: 'a long password', roles: ['user'] }
const read = (input: Partial<NewUserInput>) => readNewUser({ ...anna, ...input }, () => undefined)

suite('a new user', () => {
  test('is local by default, and has each role once', () => {
    const user = read({ roles: ['admin', 'user', 'admin'] })
    assert.deepEqual([user.auth_provider, user.roles, user.avatar_base64], ['local', ['user', 'admin'], null])
  })

  const { password: _, ...withoutPassword } = anna
  const refused: [string, () => unknown, string, string][] = [
    ['local without a password', () => readNewUser(withoutPassword, () => undefined), 'invalid_input', '/password'],
    ['oidc with a password (P10)', () => read({ auth_provider: 'oidc' }), 'invalid_input', '/password'],
    ['saml with a password', () => read({ auth_provider: 'saml' }), 'invalid_input', '/password'],
    ['with a refused password', () => readNewUser(anna, () => 'is bad'), 'invalid_input', '/password'],
    [
      'with an empty password',
      () => readNewUser({ ...anna, password: '' }, () => 'is short'),
      'invalid_input',
      '/password',
    ],
    ['with a name of spaces', () => read({ name: '  ' }), 'invalid_input', '/name'],
    ['with a name that changes the text direction', () => read({ name: 'Anna \u202e' }), 'invalid_input', '/name'],
    ['with a name of two lines', () => read({ name: 'Anna\nO' }), 'invalid_input', '/name'],
    ['with two addresses', () => read({ email: 'a@b.co,c@d.co' }), 'invalid_input', '/email'],
    ['with an invalid avatar', () => read({ avatar_base64: 'x' }), 'invalid_input', '/avatar_base64'],
    ['with an unknown role', () => read({ roles: ['user', 'root'] }), 'unprocessable', 'root'],
    ['with the role of auditors', () => read({ roles: ['auditor'] }), 'unprocessable', 'auditor'],
  ]
  for (const [name, work, code, named] of refused) {
    test(`is refused ${name}`, () => {
      const problem = problemOf(work)
      assert.equal(problem.code, code)
      assert.ok(problem.message.includes(named), problem.message)
    })
  }

  test('of a provider has no password', () => {
    assert.equal(readNewUser({ ...withoutPassword, auth_provider: 'oidc' }, () => undefined).password, undefined)
  })
})

suite('a caller who grants a role must hold its scopes (P10)', () => {
  const admin = new Set<string>(allScopes.filter((scope) => scope !== 'scim:provision'))
  const cases: [string, ReadonlySet<string>, 'user' | 'approver' | 'admin', boolean][] = [
    ['an admin creates an admin', admin, 'admin', true],
    ['a user manager who can request access creates a user', new Set(['users:write', 'requests:create']), 'user', true],
    ['a user manager who cannot request access creates no user', new Set(['users:write']), 'user', false],
    ['a user manager creates no admin', new Set(['users:write', 'requests:create']), 'admin', false],
    ['a caller who lacks one scope creates no admin', new Set([...admin].slice(1)), 'admin', false],
  ]
  for (const [name, scopes, role, may] of cases) {
    test(name, () => {
      if (may) requireMayGrant(scopes, [role])
      else assert.equal(problemOf(() => requireMayGrant(scopes, [role])).code, 'forbidden')
    })
  }
})
