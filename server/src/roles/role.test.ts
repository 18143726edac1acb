import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { allScopes } from '../permissions/permission.ts'
import {
  isCreationRole,
  planChange,
  planRoles,
  type RoleChange,
  type RoleRow,
  readRoleIds,
  requireCustomName,
  requireMayTake,
  requireScopes,
  scopesOfRoles,
  systemRoles,
} from './role.ts'

test('a user can request access and holds no other scope', () => {
  assert.deepEqual(systemRoles.user.scopes, ['requests:create'])
})

test('an approver holds the scope of a user, approves, and reads requests and grants', () => {
  assert.deepEqual([...systemRoles.approver.scopes].sort(), [
    'grants:read',
    'requests:approve',
    'requests:create',
    'requests:read',
  ])
})

test('an admin holds every scope except the one of directories', () => {
  assert.deepEqual(
    allScopes.filter((scope) => !systemRoles.admin.scopes.includes(scope)),
    ['scim:provision'],
  )
})

test('an auditor holds every read scope and no other', () => {
  assert.ok(systemRoles.auditor.scopes.includes('audit:read'))
  assert.deepEqual(
    allScopes.filter((scope) => systemRoles.auditor.scopes.includes(scope) !== scope.endsWith(':read')),
    [],
  )
})

test('a user can be created only with the roles user, approver and admin', () => {
  for (const role of ['user', 'approver', 'admin']) assert.ok(isCreationRole(role), role)
  for (const role of ['auditor', 'owner', 'Admin', 'admin ', '', 'constructor']) assert.ok(!isCreationRole(role), role)
})

test('scopes are sorted in the order of the table, each once; only unknown ones are named (P1)', () => {
  assert.deepEqual(requireScopes(['users:read', 'grants:read', 'users:read']), ['grants:read', 'users:read'])
  const problem = problemOf(() => requireScopes(['users:read', 'users:fly', 'Users:read', 'users:fly']))
  assert.equal(problem.code, 'unprocessable')
  assert.deepEqual(problem.details, { scopes: ['users:fly', 'Users:read'] })
  assert.ok(!problem.message.includes('users:read`,'), problem.message)
})

test('ids of roles are compared in lower case, each once', () => {
  assert.deepEqual(readRoleIds(['Admin', 'admin', 'ABCD']), ['admin', 'abcd'])
})

suite('the name of a custom role', () => {
  const refused: [name: string, spelling: string, role: string][] = [
    ['in the same spelling', 'Admin', 'Admin'],
    ['in lower case', 'auditor', 'Auditor'],
    ['in upper case', 'APPROVER', 'Approver'],
    ['with spaces around it', '  User\u00a0\u3000', 'User'],
    ['in full width', 'ＡＤＭＩＮ', 'Admin'],
    ['in mathematical letters', '𝓐𝓭𝓶𝓲𝓷', 'Admin'],
    ['in circled letters', 'Ⓤⓢⓔⓡ', 'User'],
    ['with a long s', 'U\u017fer', 'User'],
    ['with a dotless i', 'Adm\u0131n', 'Admin'],
    ['with a dotted capital I', 'AUD\u0130TOR', 'Auditor'],
    ['with a space of no width inside', 'Ad\u200bmin', 'Admin'],
    ['with a joiner before a space at its end', 'Admin \u200d', 'Admin'],
    ['with a byte order mark before it', '\ufeffAdmin', 'Admin'],
    ['with a soft hyphen', 'Audi\u00adtor', 'Auditor'],
    ['with a variation selector', 'User\ufe0f', 'User'],
    ['with a tag', 'User\u{e0041}', 'User'],
    ['with an invisible letter', 'Approver\u3164', 'Approver'],
    ['with a mark of the direction', 'Admin\u200f', 'Admin'],
    ['with an interlinear annotation', 'Admin\ufffb', 'Admin'],
    ['with a blank of Braille', 'Ad\u2800min\u2800', 'Admin'],
    ['with Hangul fillers', '\u115fUs\u1160er\uffa0', 'User'],
    ['with a combining mark', 'Admi\u0323n', 'Admin'],
    ['with accents', 'Ådmìn', 'Admin'],
    ['with a mark around each letter', [...'User'].map((letter) => `${letter}\u20dd`).join(''), 'User'],
  ]
  for (const [name, spelling, role] of refused) {
    test(`is not a system role’s name ${name} (P2)`, () => {
      const { code, message } = problemOf(() => requireCustomName(spelling))
      assert.deepEqual([code, message], ['forbidden', `the system role \`${role}\` has this name; choose another name`])
    })
  }

  const taken = ['Desk', 'Admins', 'Administrator', 'Ad min', 'Super Admin', 'Users', 'Auditor (custom)', '管理者']
  for (const name of taken) test(`can be ${name}`, () => requireCustomName(name))
})

suite('a change of a role', () => {
  const role: RoleRow = {
    id: '0190',
    name: 'Desk',
    description: '',
    scopes: ['users:read', 'users:write', 'roles:write'],
    system: false,
    version: 1,
    created_at: '',
    updated_at: '',
  }
  const editor = (scopes: string[], holds = false) => ({ scopes: new Set(['roles:write', ...scopes]), holds })

  const taken: [string, RoleChange, ReturnType<typeof editor>, string[], string[], string[]][] = [
    ['without fields changes nothing', {}, editor([]), [], [], []],
    ['to the same values changes nothing', { name: 'Desk', scopes: role.scopes }, editor([]), [], [], []],
    ['of its name leaves its scopes', { name: 'Front' }, editor([]), ['name'], [], []],
    ['removes scopes that the editor has', { scopes: [] }, editor(role.scopes), ['scopes'], [], role.scopes],
    [
      'leaves a scope that the editor lacks',
      { scopes: ['users:write'] },
      editor(['users:read']),
      ['scopes'],
      [],
      ['users:read', 'roles:write'],
    ],
    [
      'adds a scope that the editor has',
      { scopes: [...role.scopes, 'audit:read'] },
      editor(['audit:read']),
      ['scopes'],
      ['audit:read'],
      [],
    ],
    [
      'by a holder can remove scopes',
      { scopes: ['users:read'] },
      editor(['users:read', 'users:write'], true),
      ['scopes'],
      [],
      ['users:write', 'roles:write'],
    ],
    ['by a holder can set the description', { description: 'x' }, editor([], true), ['description'], [], []],
  ]
  for (const [name, change, by, fields, added, removed] of taken) {
    test(name, () => {
      const planned = planChange(role, change, by)
      assert.deepEqual([planned.fields, planned.added, planned.removed], [fields, added, removed])
    })
  }

  test('can send the present name, even that of a system role (P2)', () => {
    const before = { ...role, name: 'Admin\u200b' }
    assert.deepEqual(planChange(before, { description: 'x' }, editor([])).fields, ['description'])
    assert.deepEqual(planChange(before, { name: before.name, scopes: [] }, editor([...role.scopes])).fields, ['scopes'])
    assert.equal(problemOf(() => planChange(before, { name: 'Admin' }, editor([]))).code, 'forbidden')
  })

  const refused: [string, RoleRow, RoleChange, ReturnType<typeof editor>, unknown][] = [
    ['of the system', { ...role, id: 'admin', system: true }, { name: 'x' }, editor([...allScopes]), undefined],
    ['to the name of a system role (P2)', role, { name: 'admin\u200b' }, editor([...allScopes]), undefined],
    ['of the system, even without fields', { ...role, system: true }, {}, editor([...allScopes]), undefined],
    [
      'that adds a scope which the editor lacks (P1)',
      role,
      { scopes: [...role.scopes, 'audit:read', 'settings:write'] },
      editor(['audit:read']),
      { scopes: ['settings:write'] },
    ],
    [
      'that removes a scope which the editor lacks (P34)',
      role,
      { scopes: ['roles:write'] },
      editor(['users:read']),
      { scopes: ['users:write'] },
    ],
    [
      'that removes a scope, by a key of a holder that lacks it (P34)',
      role,
      { scopes: [] },
      editor([], true),
      { scopes: ['users:read', 'users:write'] },
    ],
    [
      'that swaps scopes, by a holder of the role (P1)',
      role,
      { scopes: ['users:read', 'audit:read'] },
      editor(['audit:read', 'users:write'], true),
      { scopes: ['audit:read'] },
    ],
  ]
  for (const [name, of, change, by, details] of refused) {
    test(`${name} is refused`, () => {
      const problem = problemOf(() => planChange(of, change, by))
      assert.deepEqual([problem.code, problem.details], ['forbidden', details])
    })
  }
})

suite('taking scopes away', () => {
  const cases: [string, string[], string[], string[]][] = [
    ['of which there are none needs none', [], [], []],
    ['needs each of them', ['users:read', 'audit:read'], ['audit:read', 'users:read'], []],
    ['needs no others', ['users:read'], ['users:read', 'audit:read'], []],
    ['names those that the taker lacks, each once (P34)', ['a:x', 'b:y', 'a:x'], ['b:y'], ['a:x']],
    ['compares scopes exactly (P34)', ['users:write'], ['Users:write', 'users:*', 'users'], ['users:write']],
    [
      'needs the scope of directories, which no user holds (P34)',
      ['scim:provision'],
      [...allScopes.slice(0, 5)],
      ['scim:provision'],
    ],
  ]
  for (const [name, taken, held, lacking] of cases) {
    test(name, () => {
      if (lacking.length === 0) return requireMayTake(new Set(held), taken)
      const problem = problemOf(() => requireMayTake(new Set(held), taken))
      assert.deepEqual([problem.code, problem.details], ['forbidden', { scopes: lacking }])
      assert.match(problem.message, /ask a user who holds it$/)
    })
  }

  test('by removing roles counts the scopes of the removed ones alone', () => {
    const known = [
      { id: 'a', scopes: ['x', 'y'] },
      { id: 'b', scopes: ['z'] },
    ]
    assert.deepEqual(scopesOfRoles(known, ['a', 'gone']), ['x', 'y'])
    assert.deepEqual(scopesOfRoles(known, []), [])
  })
})

suite('the plan of given and removed roles', () => {
  const known = [
    { id: 'admin', scopes: ['users:write', 'roles:write'] },
    { id: 'desk', scopes: ['users:read'] },
    { id: 'empty', scopes: [] },
  ]
  const plan = (held: string[], wanted: string[], scopes: string[]) =>
    planRoles(
      held,
      wanted,
      known.filter((role) => wanted.includes(role.id)),
      new Set(scopes),
    )

  const taken: [string, string[], string[], string[], string[], string[]][] = [
    ['is empty for the same roles', ['admin'], ['admin'], [], [], []],
    ['adds one role', ['empty'], ['desk', 'empty'], ['users:read'], ['desk'], []],
    ['removes one role, whose scopes the caller of the plan checks', ['admin', 'desk'], ['desk'], [], [], ['admin']],
    ['needs no scopes for a role that stays', ['admin'], ['admin', 'empty'], [], ['empty'], []],
    ['removes all roles', ['admin', 'desk'], [], [], [], ['admin', 'desk']],
  ]
  for (const [name, held, wanted, scopes, added, removed] of taken) {
    test(name, () => assert.deepEqual(plan(held, wanted, scopes), { added, removed }))
  }

  test('is refused if the caller lacks a scope of an added role', () => {
    const problem = problemOf(() => plan([], ['admin', 'desk'], ['users:read', 'users:write']))
    assert.deepEqual([problem.code, problem.details], ['forbidden', { scopes: ['roles:write'] }])
  })

  test('names roles that do not exist', () => {
    const problem = problemOf(() => plan(['gone'], ['desk', 'owner', 'gone'], []))
    assert.deepEqual([problem.code, problem.details], ['unprocessable', { roles: ['owner', 'gone'] }])
  })
})
